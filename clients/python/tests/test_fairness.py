"""Draws against the published vectors, and forged draws, without a service."""

import copy
import hmac
import struct
from typing import Any

import pytest

from jackpot_client import SeedNotPublished, VerificationError
from jackpot_client.fairness import check_draw, rank_of, ticket
from jackpot_client.models import DefinitionOfVersion, Entry, EpochBody, OddsTable

SEED = "4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3"
COMMITMENT = "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258"
EPOCH = {
    "epoch": 1,
    "nonce": "00112233445566778899aabbccddeeff",
    "secret_id": "abc44bcf0634a438",
    "commitment": COMMITMENT,
    "opened_at": "2026-11-21T06:00:00.123Z",
    "seed": SEED,
}
POOL = {"pool": {"tier": "grand", "take": "all"}}
# entry-1 draws 716135, 277424 and 702353: rank 2, rank 1, rank 2.
DEFINITION = {
    "id": "spring",
    "version": 3,
    "name": "Spring wheel",
    "currency": "KRW",
    "contribution": {"fixed": 1},
    "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100}],
    "odds": {
        "total": 1_000_000,
        "ranks": [{"rank": 2, "weight": 450_000, "prize": POOL}, {"rank": 1, "weight": 300_000, "prize": POOL}],
    },
    "max_redraws": 2,
    "min_stake": 0,
    "public_meter": True,
    "origins": [],
    "winners": "masked",
    "settlement": "none",
    "reverse_within_s": 300,
}


def entry(*attempts: tuple[int, str], rank: int) -> dict[str, Any]:
    return {
        "entry_id": "entry-1",
        "jackpot_id": "spring",
        "player_id": "p7",
        "sequence": 1,
        "contributions": [],
        "outcome": {"rank": rank, "prize": "pool" if rank else "none"},
        "draw": {
            "epoch": 1,
            "commitment": COMMITMENT,
            "definition_version": 3,
            "by": "service",
            "attempts": [
                {"attempt": number, "rank": drawn, "result": result} for number, (drawn, result) in enumerate(attempts)
            ],
        },
    }


def check(
    document: dict[str, Any],
    definition: dict[str, Any] = DEFINITION,
    epoch: dict[str, Any] = EPOCH,
    client_seed: str | None = None,
    stake: int | None = None,
) -> None:
    check_draw(
        Entry.from_dict(document),
        DefinitionOfVersion.from_dict(definition),
        EpochBody.from_dict(epoch),
        client_seed=client_seed,
        stake=stake,
    )


@pytest.mark.parametrize(
    ("entry_id", "expected"),
    [
        ("entry-1", [716135, 277424, 702353]),
        ("round-8812-p7", [243771, 232156, 657822]),
        ("b1:17", [34818, 668171, 638355]),
    ],
)
def test_tickets_are_the_published_vectors(entry_id: str, expected: list[int]) -> None:
    seed = bytes.fromhex(SEED)
    assert [ticket(seed, "spring", entry_id, attempt, 1_000_000) for attempt in range(3)] == expected


def test_every_total_is_drawn_below() -> None:
    seed = bytes.fromhex(SEED)
    for total in (1, 2, 3, 2**32 - 1, 2**32):
        assert all(ticket(seed, "spring", f"e{n}", 0, total) < total for n in range(200))


def test_words_beyond_the_last_whole_run_are_rejected() -> None:
    # Such a total is beyond what the service allows. It rejects every second word, and so some whole blocks of four.
    seed, total = bytes.fromhex(SEED), 2**63 + 1
    rejected = []
    for n in range(200):
        blocks = [hmac.digest(seed, f"draw\nspring\ne{n}\n0\n{block}".encode(), "sha256") for block in range(9)]
        words = [word for block in blocks for word in struct.unpack(">4Q", block)]
        first = next(place for place, word in enumerate(words) if word < total)
        assert ticket(seed, "spring", f"e{n}", 0, total) == words[first]
        rejected.append(first)
    assert min(rejected) == 0 and max(rejected) >= 4


def test_ranks_are_walked_in_ascending_order() -> None:
    ranks = [{"rank": rank, "weight": weight, "prize": POOL} for rank, weight in [(5, 2), (1, 3), (2, 0)]]
    odds = OddsTable.from_dict({"total": 10, "ranks": ranks})
    assert [rank_of(number, odds) for number in range(10)] == [1, 1, 1, 5, 5, 0, 0, 0, 0, 0]


def test_odds_by_stake_count_as_often_as_the_stake_holds_them() -> None:
    ranks = [{"rank": rank, "weight": weight, "prize": POOL} for rank, weight in [(2, 3), (1, 1)]]
    odds = OddsTable.from_dict({"total": 10, "per_stake": 50, "ranks": ranks})
    assert [rank_of(number, odds, 49) for number in range(10)] == [0] * 10
    assert [rank_of(number, odds, 99) for number in range(10)] == [1, 2, 2, 2, 0, 0, 0, 0, 0, 0]
    assert [rank_of(number, odds, 100) for number in range(10)] == [1, 1, 2, 2, 2, 2, 2, 2, 0, 0]
    with pytest.raises(VerificationError, match="give the stake"):
        rank_of(0, odds)


def test_the_stake_takes_part_where_the_odds_are_by_stake() -> None:
    # Half the weights count twice from a stake of 20 on: the draws of the table above.
    ranks = [{"rank": 2, "weight": 225_000, "prize": POOL}, {"rank": 1, "weight": 150_000, "prize": POOL}]
    by_stake = {**DEFINITION, "odds": {"total": 1_000_000, "per_stake": 10, "ranks": ranks}}
    right = entry((2, "retry"), (1, "paid"), rank=1)
    check(right, by_stake, stake=29)
    for stake in (9, 10, 19):
        with pytest.raises(VerificationError, match="draws rank"):
            check(right, by_stake, stake=stake)


def test_right_draws_are_right() -> None:
    check(entry((2, "paid"), rank=2))
    check(entry((2, "retry"), (1, "paid"), rank=1))
    check(entry((2, "retry"), (1, "out-of-stock"), (2, "retry"), rank=0))


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (entry((1, "paid"), rank=1), "draws rank 2"),
        (entry((0, "none"), rank=0), "draws rank 2"),
        (entry((2, "paid"), rank=1), "not the outcome"),
        (entry((2, "none"), rank=0), "can't end as none"),
        (entry((2, "retry"), rank=0), "before its last redraw"),
        (entry((2, "retry"), (1, "retry"), (2, "retry"), rank=1), "before its last redraw"),
        (entry((2, "retry"), (1, "retry"), (2, "paid"), rank=2), "can't end as paid"),
        (entry((2, "retry"), (1, "retry"), (2, "not-open"), rank=0), "for another reason"),
        (entry((2, "retry"), (1, "retry"), (2, "retry"), (1, "paid"), rank=1), "one too many"),
        (entry((2, "paid"), (1, "paid"), rank=2), "not the outcome"),
        (entry(rank=2), "before its last redraw"),
    ],
)
def test_a_forged_draw_is_named(document: dict[str, Any], reason: str) -> None:
    with pytest.raises(VerificationError, match=reason):
        check(document)


def test_a_draw_belongs_to_its_seed_definition_and_entry() -> None:
    right = entry((2, "paid"), rank=2)
    other_entry = {**copy.deepcopy(right), "entry_id": "round-8812-p7"}
    for document, definition, epoch, client_seed, reason in [
        (other_entry, DEFINITION, EPOCH, None, "draws rank 1"),
        (right, {**DEFINITION, "version": 4}, EPOCH, None, "another definition"),
        (right, {**DEFINITION, "id": "autumn"}, EPOCH, None, "another definition"),
        (right, DEFINITION, {**EPOCH, "epoch": 2}, None, "another epoch"),
        (right, DEFINITION, {**EPOCH, "commitment": "00" * 32}, None, "another epoch"),
        (right, DEFINITION, {**EPOCH, "seed": "00" * 32}, None, "not the one of the commitment"),
        (right, DEFINITION, EPOCH, "mine", "draws rank"),
    ]:
        with pytest.raises(VerificationError, match=reason):
            check(document, definition, epoch, client_seed)


def test_a_draw_that_no_odds_made_is_no_draw_of_the_service() -> None:
    hit = entry(rank=0)
    hit["draw"]["must_hit"] = {"tier": "grand", "cycle": 4, "by": "amount", "trigger": 7071}
    external = entry((2, "paid"), rank=2)
    external["draw"]["by"] = "external"
    for document, reason in [(hit, "hit cycle 4"), (external, "made by external")]:
        with pytest.raises(VerificationError, match=reason):
            check(document)


def test_an_open_epoch_can_be_checked_later() -> None:
    with pytest.raises(SeedNotPublished):
        check(entry((2, "paid"), rank=2), epoch={**EPOCH, "seed": None})

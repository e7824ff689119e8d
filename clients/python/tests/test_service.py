"""The client against a real service: each call, and each family of errors that a service can be brought to answer."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
from support import Redis, always_wins, eventually, fresh, never_wins, setting, wheel

from jackpot_client import (
    AsyncJackpot,
    Conflict,
    CouponRefused,
    Forbidden,
    IdReused,
    InvalidRequest,
    Jackpot,
    NotFound,
    PassRefused,
    RateLimited,
    Retry,
    SubjectStopped,
    SubjectSuspended,
    Unauthorized,
    Unavailable,
    VerificationError,
)
from jackpot_client.generated.types import Unset
from jackpot_client.models import (
    BatchEntry,
    CouponDefinition,
    DailySource,
    DailyTier,
    JackpotDefinition,
    PlayAnswer,
    RoomDefinition,
    TransferRow,
)


@pytest.fixture(scope="module")
def game(url: str) -> Iterator[Jackpot]:
    with Jackpot(url, key=setting("JACKPOT_TEST_PLAY_KEY")) as client:
        yield client


@pytest.fixture(scope="module")
def auditor(url: str) -> Iterator[Jackpot]:
    with Jackpot(url, key=setting("JACKPOT_TEST_READ_KEY")) as client:
        yield client


def pool(client: Jackpot, jackpot_id: str) -> int:
    return client.get_meter(jackpot_id).meters[0].pool


def test_an_entry_is_made_once_and_read(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("spring")
    jackpot = operator.define_jackpot(JackpotDefinition.from_dict(never_wins(name)))
    assert (jackpot.id, jackpot.status, jackpot.version) == (name, "open", 1)
    entry = game.enter(name, entry_id="round-1", player_id="p7", stake=100)
    assert (entry.entry_id, entry.sequence, entry.outcome.prize) == ("round-1", 1, "none")
    assert game.enter(name, entry_id="round-1", player_id="p7", stake=100) == entry == game.get_entry(name, "round-1")
    assert pool(game, name) == 1
    without_id = game.enter(name, player_id="p7", stake=100)
    assert game.get_entry(name, without_id.entry_id) == without_id and pool(game, name) == 2


def test_a_cancelled_round_is_taken_back_once(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("cancelled")
    operator.define_jackpot(never_wins(name))
    game.enter(name, entry_id="round-1", player_id="p7", stake=100)
    game.enter(name, entry_id="round-2", player_id="p7", stake=100)
    done = game.reverse_entry(name, "round-1", "round cancelled", reversal_id="cancel-1")
    assert (done.reversal_id, done.entry_id) == ("cancel-1", "round-1")
    assert [(part.tier, part.amount, part.uncovered) for part in done.reversed_] == [("grand", 1, 0)]
    assert game.reverse_entry(name, "round-1", "round cancelled", reversal_id="cancel-1") == done
    assert pool(game, name) == 1
    with pytest.raises(Conflict) as refused:
        game.reverse_entry(name, "round-1", "round cancelled")
    assert refused.value.code == "entry-reversed"
    with pytest.raises(NotFound):
        game.reverse_entry(name, "round-3", "round cancelled")


def test_all_money_of_a_tier_is_transferred_once(operator: Jackpot, game: Jackpot) -> None:
    old, new = fresh("old"), fresh("new")
    for name in (old, new):
        operator.define_jackpot(never_wins(name))
    for number in range(3):
        game.enter(old, entry_id=f"round-{number}", player_id="p7", stake=100)

    def transfer(transfer_id: str, reason: str = "end of season") -> TransferRow:
        return operator.transfer_jackpot(old, to=new, tiers={"grand": "grand"}, reason=reason, transfer_id=transfer_id)

    with pytest.raises(Conflict) as refused:
        transfer("t-1")
    assert refused.value.code == "jackpot-open"
    operator.pause_jackpot(old, reason="end of season")
    done = transfer("t-1")
    assert (done.transfer_id, done.jackpot_id, done.to) == ("t-1", old, new)
    assert [(part.tier, part.to_tier, part.pool) for part in done.tiers] == [("grand", "grand", 3)]
    eventually("the money is received", lambda: pool(game, new) == 3)
    assert pool(game, old) == 0
    assert eventually("it is listed", lambda: [row.state for row in operator.list_transfers(old).items] == ["done"])
    assert transfer("t-1").tiers == done.tiers and pool(game, new) == 3
    with pytest.raises(IdReused) as reused:
        transfer("t-1", reason="another")
    assert reused.value.code == "transfer-id-reused"
    transfer("t-2")

    def both() -> bool:
        first = operator.list_transfers(old, limit=1)
        rest = operator.list_transfers(old, limit=1, cursor=first.next_cursor)
        return [row.transfer_id for row in first.items + rest.items] == ["t-1", "t-2"] and rest.next_cursor is None

    assert eventually("both are listed, page by page", both)
    with pytest.raises(Forbidden):
        game.transfer_jackpot(old, to=new, tiers={"grand": "grand"}, reason="forged")


def test_a_play_feeds_several_jackpots(operator: Jackpot, game: Jackpot) -> None:
    names = [fresh("mini"), fresh("network")]
    for name in names:
        operator.define_jackpot(never_wins(name))
    operator.pause_jackpot(names[1], reason="prices change")

    def play(jackpots: list[str], entry_id: str, currency: str = "EUR") -> PlayAnswer:
        return game.enter_several(
            jackpots, entry_id=entry_id, player_id="p7", stake=100, currency=currency, client_seed="mine"
        )

    first = play(names, "round-1")
    assert [(item.jackpot_id, item.status) for item in first.items] == [(names[0], 201), (names[1], 409)]
    paused = first.items[1].problem
    assert not isinstance(paused, Unset) and paused.code == "jackpot-paused" and isinstance(first.items[1].entry, Unset)
    operator.resume_jackpot(names[1], reason="done")
    again = play(names, "round-1")
    assert [item.status for item in again.items] == [200, 201]
    assert [item.entry for item in again.items] == [game.get_entry(name, "round-1") for name in names]
    other = play(names[:1], "round-2", "KRW")
    assert not isinstance(other.items[0].problem, Unset) and other.items[0].problem.code == "currency-mismatch"
    assert [pool(game, name) for name in names] == [1, 1]
    with pytest.raises(InvalidRequest):
        play([names[0], names[0]], "round-3")


def test_a_player_reads_the_rules(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("told")
    operator.define_jackpot(never_wins(name, min_stake=50, max_stake=50))
    rules = game.get_rules(name)
    assert (rules.jackpot_id, rules.version, rules.tiers[0].tier) == (name, 1, "grand")
    assert (rules.expected_return_ppm.pool, rules.expected_return_ppm.fixed) == (20_000, 0)
    assert name in rules.fairness and "drawn again" in rules.redraws


def test_a_batch_is_its_entries(operator: Jackpot, game: Jackpot, auditor: Jackpot) -> None:
    name = fresh("batch")
    operator.define_jackpot(always_wins(name))
    batch = game.enter_batch(name, [BatchEntry(player_id=f"p{n}", stake=1) for n in range(3)], batch_id="b-1")
    assert batch.accepted == 3 and [winner.entry_id for winner in batch.winners] == ["b-1:1", "b-1:2", "b-1:3"]
    assert game.get_entry(name, "b-1:2").outcome == batch.winners[1].outcome
    rows = eventually("the index has the entry", lambda: auditor.list_entries("p2", jackpot_id=name).items)
    assert [row.entry_id for row in rows] == ["b-1:3"]


def test_a_definition_changes_only_from_the_version_that_was_read(operator: Jackpot) -> None:
    name = fresh("change")
    operator.define_jackpot(never_wins(name))
    read = operator.get_jackpot(name)
    changed = operator.define_jackpot(never_wins(name, name="Other"), if_version=read.version)
    assert (changed.name, changed.version) == ("Other", 2)
    assert operator.get_definition(name, 1).name == "Wheel"
    with pytest.raises(Conflict) as caught:
        operator.define_jackpot(never_wins(name), if_version=read.version)
    assert (caught.value.code, caught.value.status) == ("precondition-failed", 412)


def test_a_receipt_is_verified_and_a_forged_one_is_not(operator: Jackpot, game: Jackpot, auditor: Jackpot) -> None:
    name = fresh("receipts")
    operator.define_jackpot(always_wins(name))
    outcome = game.enter(name, entry_id="round-1", player_id="p7", stake=100).outcome
    assert isinstance(outcome.payout_id, str)
    receipt = auditor.get_receipt(outcome.payout_id, wait_s=20)
    assert (receipt.amount, receipt.entry_id, receipt.player_id) == (1, "round-1", "p7")
    assert auditor.list_payouts(jackpot_id=name).items == [receipt]
    assert auditor.verify_receipt(receipt.document) == receipt
    with pytest.raises(VerificationError):
        auditor.verify_receipt({**receipt.document, "amount": 1_000_000})
    with pytest.raises(VerificationError):
        auditor.verify_receipt({**receipt.document, "player_id": "p8"})
    assert auditor.get_ledger_head(name).jackpot_id == name
    with pytest.raises(NotFound) as missing:
        auditor.get_receipt("00" * 16, wait_s=0.2)
    assert missing.value.code == "payout-not-found"


def test_kept_keys_are_the_only_ones_that_count(url: str, operator: Jackpot, game: Jackpot) -> None:
    name = fresh("kept")
    operator.define_jackpot(always_wins(name))
    payout_id = game.enter(name, player_id="p7", stake=1).outcome.payout_id
    assert isinstance(payout_id, str)
    key = setting("JACKPOT_TEST_READ_KEY")
    with Jackpot(url, key=key, trusted_keys=operator.get_keys()) as auditor:
        assert auditor.get_receipt(payout_id, wait_s=20).payout_id == payout_id
    with Jackpot(url, key=key, trusted_keys={"keys": []}) as auditor, pytest.raises(VerificationError):
        auditor.get_receipt(payout_id, wait_s=20)


def test_lists_come_in_pages(operator: Jackpot, game: Jackpot, auditor: Jackpot) -> None:
    name = fresh("pages")
    operator.define_jackpot(always_wins(name))
    game.enter_batch(name, [BatchEntry(player_id="p", stake=1)] * 5)
    eventually("the ledger has all payouts", lambda: len(auditor.list_payouts(jackpot_id=name).items) == 5)
    orders, cursor = [], None
    while True:
        page = auditor.list_payouts(jackpot_id=name, limit=2, cursor=cursor)
        orders += [receipt.claim_order for receipt in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert orders == [5, 4, 3, 2, 1]


def test_a_day_is_reported(operator: Jackpot, game: Jackpot, auditor: Jackpot) -> None:
    jackpot_id = fresh("reported")
    operator.define_jackpot(JackpotDefinition.from_dict(never_wins(jackpot_id)))
    day = datetime.now(timezone.utc).date()
    for number in range(3):
        game.enter(jackpot_id, player_id="p7", stake=100, entry_id=f"round-{number}")
    report = auditor.get_daily_report(day, jackpot_id=jackpot_id)
    if datetime.now(timezone.utc).date() != day:
        return  # the entries may be of two days
    tier, source = report.rows
    assert isinstance(tier, DailyTier) and isinstance(source, DailySource)
    assert (tier.tier, tier.opening, tier.contributed, tier.closing) == ("grand", 0, 3, 3)
    assert (source.source_id, source.entries, source.stakes) == (None, 3, 300)
    assert report.date == day and not report.complete
    before = auditor.get_daily_report(day - timedelta(days=7), jackpot_id=jackpot_id)
    assert before.complete and before.rows == []
    with pytest.raises(Forbidden):
        game.get_daily_report(day)


def test_coupons_are_issued_once_refused_and_voided(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("coffee")
    coupon = operator.define_coupon(name, CouponDefinition(name="A free coffee", stock=1))
    assert coupon.remaining == 1
    issued = game.issue_coupon(name, user_id="u-1", request_id="r-1")
    assert issued.result == "issued" and game.issue_coupon(name, user_id="u-1", request_id="r-1") == issued
    with pytest.raises(CouponRefused) as twice:
        game.issue_coupon(name, user_id="u-1", request_id="r-2")
    assert twice.value.code == "already-issued" and twice.value.document["issue"]["request_id"] == "r-1"
    with pytest.raises(CouponRefused) as sold_out:
        game.issue_coupon(name, user_id="u-3", request_id="r-3")
    assert sold_out.value.code == "out-of-stock"
    assert game.get_issue(name, "r-3").result == "out-of-stock"
    assert operator.void_issue(name, "r-1").result == "voided"
    queued = game.issue_coupon(name, user_id="u-4", request_id="r-4", queue=True)
    assert queued.result in ("queued", "issued")
    eventually("the queue serves the request", lambda: game.get_issue(name, "r-4").result == "issued")
    assert operator.get_coupon(name).issued == 2


def test_a_room_gives_passes_that_can_be_checked(operator: Jackpot, game: Jackpot) -> None:
    room, name = fresh("lobby"), fresh("vip")
    operator.define_room(room, RoomDefinition(capacity=1, session_s=60, waiting_timeout_s=60))
    operator.define_jackpot(never_wins(name, room=room))
    ann, bob = game.join_room(room, "ann"), game.join_room(room, "bob")
    assert (ann.status, bob.status, bob.position) == ("admitted", "waiting", 1)
    assert isinstance(ann.pass_, str)
    assert game.check_pass(room, "ann", ann.pass_).ticket == ann.ticket
    with pytest.raises(VerificationError, match="another room or user"):
        game.check_pass(room, "bob", ann.pass_)
    assert game.enter(name, player_id="ann", stake=1, room_pass=ann.pass_).sequence == 1
    for room_pass in (None, ann.pass_):
        with pytest.raises(PassRefused) as refused:
            game.enter(name, player_id="bob", stake=1, room_pass=room_pass)
        assert refused.value.code == "pass-required"
    with pytest.raises(Conflict) as waiting:
        game.renew_ticket(room, bob.ticket)
    assert waiting.value.code == "not-admitted"
    assert game.renew_ticket(room, ann.ticket).status == "admitted"
    assert game.leave_room(room, ann.ticket).status == "left"
    eventually("the next user is admitted", lambda: game.get_ticket(room, bob.ticket).status == "admitted")
    assert operator.get_room(room).admitted == 2
    assert game.get_room_status(room).capacity == 1


def test_a_join_token_opens_the_waiting_page(operator: Jackpot, game: Jackpot) -> None:
    room = fresh("page")
    origins = ["https://shop.example"]
    operator.define_room(room, {"capacity": 1, "session_s": 60, "waiting_timeout_s": 60, "return_origins": origins})
    token = game.create_join_token(room, "ann", "https://shop.example/play")
    assert token.url == f"/rooms/{room}/wait?token={token.token}"


def test_a_stopped_jackpot_says_so(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("stop")
    operator.define_jackpot(never_wins(name))
    assert operator.pause_jackpot(name, "prices change").status == "paused"
    with pytest.raises(SubjectStopped) as paused:
        game.enter(name, player_id="p7", stake=1)
    assert paused.value.code == "jackpot-paused" and "prices change" in paused.value.detail
    assert operator.resume_jackpot(name, "done").status == "open"
    adjusted = operator.adjust_jackpot(name, tier="grand", meter="pool", amount=500, reason="opening")
    assert adjusted.amount == 500 and pool(game, name) == 500
    operator.adjust_jackpot(name, tier="grand", from_="pool", to="reserve", amount=100, reason="next seed")
    assert pool(game, name) == 400
    assert operator.close_jackpot(name, "season over").status == "closed"
    with pytest.raises(SubjectStopped) as closed:
        game.enter(name, player_id="p7", stake=1)
    assert closed.value.code == "jackpot-closed"


def test_a_jackpot_whose_pool_was_changed_by_hand_is_suspended(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("hand")
    operator.define_jackpot(never_wins(name))
    entry = game.enter(name, entry_id="round-1", player_id="p7", stake=1)
    Redis().set(f"jp:{{{name}}}:pool:grand", 1_000_000)
    with pytest.raises(SubjectSuspended) as suspended:
        game.enter(name, entry_id="round-2", player_id="p7", stake=1)
    assert suspended.value.code == "jackpot-suspended" and suspended.value.tries == 1
    assert game.enter(name, entry_id="round-1", player_id="p7", stake=1) == entry


def test_each_refusal_has_its_class(url: str, operator: Jackpot, game: Jackpot) -> None:
    name = fresh("refusals")
    operator.define_jackpot(never_wins(name))
    with pytest.raises(InvalidRequest) as wrong:
        game.enter(name, entry_id="*", player_id="*", stake=-1)
    assert {field.field for field in wrong.value.fields} == {"entry_id", "player_id", "stake"}
    assert wrong.value.request_id and wrong.value.tries == 1
    with pytest.raises(InvalidRequest) as unknown:
        operator.define_jackpot({**never_wins(name), "min_payuot": 1})
    assert unknown.value.fields[0].field == "min_payuot"
    game.enter(name, entry_id="round-1", player_id="p7", stake=1)
    with pytest.raises(IdReused) as reused:
        game.enter(name, entry_id="round-1", player_id="p8", stake=1)
    assert reused.value.code == "entry-id-reused"
    with pytest.raises(NotFound) as missing:
        game.enter(fresh("none"), player_id="p7", stake=1)
    assert missing.value.code == "jackpot-not-found"
    with pytest.raises(Forbidden) as role:
        game.define_jackpot(never_wins(name))
    assert role.value.code == "forbidden"
    for key in (None, "no-key-of-ours"):
        with Jackpot(url, key=key) as stranger, pytest.raises(Unauthorized):
            stranger.enter(name, player_id="p7", stake=1)


def test_a_user_who_comes_and_goes_is_limited(url: str, operator: Jackpot) -> None:
    room = fresh("busy")
    operator.define_room(room, RoomDefinition(capacity=1, session_s=60, waiting_timeout_s=60))
    with Jackpot(url, key=setting("JACKPOT_TEST_PLAY_KEY"), retry=None) as game, pytest.raises(RateLimited) as limited:
        for _ in range(20):
            game.leave_room(room, game.join_room(room, "ann").ticket)
    assert limited.value.status == 429 and limited.value.retry_after and 1 <= limited.value.retry_after <= 10


def test_a_frozen_store_is_unavailable_and_the_entry_counts_once_when_it_is_back(
    url: str, operator: Jackpot, game: Jackpot
) -> None:
    name, key = fresh("frozen"), setting("JACKPOT_TEST_PLAY_KEY")
    operator.define_jackpot(never_wins(name))
    game.enter(name, entry_id="round-0", player_id="p7", stake=1)
    patient = Jackpot(url, key=key, timeout=20, retry=Retry(deadline_s=40, longest_wait_s=0.5))
    with patient, ThreadPoolExecutor() as threads:
        with Redis().frozen(), Jackpot(url, key=key, timeout=20, retry=None) as hasty:
            waiting = threads.submit(patient.enter, name, entry_id="round-1", player_id="p7", stake=1)
            with pytest.raises(Unavailable) as caught:
                hasty.enter(name, entry_id="round-2", player_id="p7", stake=1)
            assert caught.value.code == "store-unavailable" and caught.value.retry_after == 1
        assert waiting.result(timeout=40).entry_id == "round-1"
    game.enter(name, entry_id="round-2", player_id="p7", stake=1)
    assert pool(game, name) == 3


def test_threads_share_a_client(operator: Jackpot, game: Jackpot) -> None:
    name = fresh("threads")
    operator.define_jackpot(never_wins(name))
    start = threading.Barrier(8)

    def play(thread: int) -> None:
        start.wait()
        for round in range(20):
            game.enter(name, entry_id=f"{thread}-{round}", player_id="p7", stake=1)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(play, range(8)))
    assert pool(game, name) == 160


def test_both_clients_have_the_same_calls(url: str) -> None:
    def names(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_") and name != "close"}

    assert names(Jackpot) == names(AsyncJackpot) and "enter" in names(Jackpot)


def test_no_key_is_needed_for_what_is_public(url: str, operator: Jackpot) -> None:
    name = fresh("public")
    operator.define_jackpot(wheel(name))
    with Jackpot(url) as player:
        assert pool(player, name) == 0
        assert player.get_fairness(name).epochs[0].seed is None
        assert player.get_definition(name, 1).odds.total == 100
        assert player.get_keys().keys

"""Draws, recomputed from a published seed. Normative description: `docs/explanation/fairness.md`."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator

from .errors import SeedNotPublished, VerificationError
from .generated.models import DefinitionOfVersion, Entry, EpochBody, MustHit, OddsTable

# What a refused prize answers. The same rank refuses the entry again, and the next attempt is drawn.
_REFUSALS = ("retry", "out-of-stock", "already-issued", "not-open")
_WORD_BYTES = 8


def ticket(
    seed: bytes, jackpot_id: str, entry_id: str, attempt: int, total: int, client_seed: str | None = None
) -> int:
    """The number, below `total`, that an attempt of an entry draws."""
    # Words from here on are rejected: they would favour small numbers.
    first_rejected = 2**64 // total * total
    accepted = (word for word in _words(seed, jackpot_id, entry_id, attempt, client_seed) if word < first_rejected)
    return next(accepted) % total


def _words(seed: bytes, jackpot_id: str, entry_id: str, attempt: int, client_seed: str | None) -> Iterator[int]:
    block = 0
    while True:
        message = f"draw\n{jackpot_id}\n{entry_id}\n{attempt}\n{block}"
        if client_seed is not None:
            message += f"\n{client_seed}"
        digest = hmac.digest(seed, message.encode(), "sha256")
        for start in range(0, len(digest), _WORD_BYTES):
            yield int.from_bytes(digest[start : start + _WORD_BYTES], "big")
        block += 1


def rank_of(number: int, odds: OddsTable, stake: int | None = None) -> int:
    """The rank that a ticket draws; 0 for nothing. The stake counts where the odds are by stake."""
    times = 1
    if isinstance(odds.per_stake, int):
        if stake is None:
            raise VerificationError("the odds are by stake: give the stake of the entry")
        times = stake // odds.per_stake
    end = 0
    for row in sorted(odds.ranks, key=lambda row: row.rank):
        end += row.weight * times
        if number < end:
            return row.rank
    return 0


def seed_of(epoch: EpochBody) -> bytes:
    """The seed of a closed epoch, if it is the one to which the service committed itself."""
    if not isinstance(epoch.seed, str):
        raise SeedNotPublished(f"the seed of epoch {epoch.epoch} is not published yet")
    seed = bytes.fromhex(epoch.seed)
    if hashlib.sha256(seed).hexdigest() != epoch.commitment:
        raise VerificationError(f"epoch {epoch.epoch}: the seed is not the one of the commitment")
    return seed


def check_draw(
    entry: Entry,
    definition: DefinitionOfVersion,
    epoch: EpochBody,
    *,
    client_seed: str | None = None,
    stake: int | None = None,
) -> None:
    """Recomputes every attempt of an entry. Raises `VerificationError` if one is not what the seed and the odds say.

    `client_seed` and `stake` are those that the entry was made with; the stake counts where the odds are by stake.
    """
    draw = entry.draw
    if draw.by != "service":
        raise VerificationError(f"the draw was made by {draw.by}, not by the service")
    if isinstance(draw.must_hit, MustHit):
        raise VerificationError(f"{entry.entry_id} hit cycle {draw.must_hit.cycle}, which no odds draw")
    if (draw.epoch, draw.commitment) != (epoch.epoch, epoch.commitment):
        raise VerificationError("the entry names another epoch or commitment")
    if (entry.jackpot_id, draw.definition_version) != (definition.id, definition.version):
        raise VerificationError("the entry was drawn under another definition")
    seed = seed_of(epoch)
    refused: dict[int, str] = {}
    for number, attempt in enumerate(draw.attempts):
        place = f"attempt {number} of {entry.entry_id}"
        if attempt.attempt != number or number > definition.max_redraws:
            raise VerificationError(f"{place} has another number, or is one too many")
        drawn = ticket(seed, entry.jackpot_id, entry.entry_id, number, definition.odds.total, client_seed)
        rank = rank_of(drawn, definition.odds, stake)
        if attempt.rank != rank:
            raise VerificationError(f"{place} draws rank {rank}, the service says {attempt.rank}")
        if attempt.result in _REFUSALS and rank > 0:
            if refused.setdefault(rank, attempt.result) != attempt.result:
                raise VerificationError(f"{place} refuses rank {rank} for another reason than before")
            continue
        _check_end(entry, place, number, refused)
        return
    # All attempts were refused: the outcome is none, after the last redraw.
    if len(draw.attempts) != definition.max_redraws + 1 or entry.outcome.rank != 0:
        raise VerificationError(f"{entry.entry_id} ends before its last redraw, or with a prize that was refused")


def _check_end(entry: Entry, place: str, number: int, refused: dict[int, str]) -> None:
    """The attempt that decided is the last one, and the outcome is its prize."""
    last = entry.draw.attempts[number]
    allowed = ("none",) if last.rank == 0 else ("paid", "issued")
    if last.result not in allowed or last.rank in refused:
        raise VerificationError(f"{place}: rank {last.rank} can't end as {last.result}")
    if len(entry.draw.attempts) != number + 1 or entry.outcome.rank != last.rank:
        raise VerificationError(f"{place} decides, but it is not the outcome")

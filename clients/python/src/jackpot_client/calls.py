"""Every call of the client, once. `Jackpot` and `AsyncJackpot` have them as methods.

Ids: each call that does something takes the id of what it does. Where the caller gives none, the call makes a UUID
before its first try. An id that must survive a crash of the caller has to be stored by the caller before the call.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, TypeVar, cast

from . import fairness, receipts
from .errors import NotFound, VerificationError
from .generated.api.coupons import close_coupon as _close_coupon
from .generated.api.coupons import get_coupon as _get_coupon
from .generated.api.coupons import get_issue as _get_issue
from .generated.api.coupons import issue_coupon as _issue_coupon
from .generated.api.coupons import pause_coupon as _pause_coupon
from .generated.api.coupons import put_coupon as _put_coupon
from .generated.api.coupons import redeem_issue as _redeem_issue
from .generated.api.coupons import resume_coupon as _resume_coupon
from .generated.api.coupons import void_issue as _void_issue
from .generated.api.entries import get_entry as _get_entry
from .generated.api.entries import make_entry, make_entry_batch, make_play
from .generated.api.entries import reverse_entry as _reverse_entry
from .generated.api.jackpots import adjust_jackpot as _adjust_jackpot
from .generated.api.jackpots import close_jackpot as _close_jackpot
from .generated.api.jackpots import get_definition as _get_definition
from .generated.api.jackpots import get_fairness as _get_fairness
from .generated.api.jackpots import get_jackpot as _get_jackpot
from .generated.api.jackpots import get_meter as _get_meter
from .generated.api.jackpots import get_rules as _get_rules
from .generated.api.jackpots import pause_jackpot as _pause_jackpot
from .generated.api.jackpots import put_jackpot as _put_jackpot
from .generated.api.jackpots import resume_jackpot as _resume_jackpot
from .generated.api.jackpots import rotate_epoch as _rotate_epoch
from .generated.api.jackpots import transfer_jackpot as _transfer_jackpot
from .generated.api.ledger import get_daily_report as _get_daily_report
from .generated.api.ledger import get_keys as _get_keys
from .generated.api.ledger import get_ledger_head as _get_ledger_head
from .generated.api.ledger import get_receipt as _get_receipt
from .generated.api.ledger import list_entries as _list_entries
from .generated.api.ledger import list_payouts as _list_payouts
from .generated.api.ledger import list_transfers as _list_transfers
from .generated.api.rooms import create_join_token as _create_join_token
from .generated.api.rooms import get_room as _get_room
from .generated.api.rooms import get_room_status as _get_room_status
from .generated.api.rooms import get_ticket as _get_ticket
from .generated.api.rooms import join_room as _join_room
from .generated.api.rooms import leave_room as _leave_room
from .generated.api.rooms import put_room as _put_room
from .generated.api.rooms import renew_ticket as _renew_ticket
from .generated.models import (
    Adjustment,
    AdjustmentBody,
    BatchAnswer,
    BatchBody,
    BatchEntry,
    Coupon,
    CouponDefinition,
    CouponReason,
    DailyReport,
    DefinitionOfVersion,
    Entry,
    EntryBody,
    EntryRow,
    Fairness,
    Head,
    IssueBody,
    IssueWish,
    IssueWishMetadataType0,
    Jackpot,
    JackpotDefinition,
    JoinToken,
    JoinTokenWish,
    JoinWish,
    JwkSet,
    MeterName,
    MeterNow,
    PauseBody,
    PlayAnswer,
    PlayBody,
    ReasonBody,
    RedeemWish,
    Reversal,
    ReversalBody,
    Room,
    RoomDefinition,
    RoomStatus,
    RotateBody,
    RulesBody,
    TicketBody,
    TransferBody,
    TransferBodyTiers,
    TransferRow,
)
from .generated.types import UNSET, Unset
from .receipts import Keys, Pass, Receipt
from .steps import Session, Steps, Wait, ask

T = TypeVar("T")

_UNAVAILABLE = 503

# How often a receipt is asked for that the ledger does not have yet.
_LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. Send `next_cursor` as `cursor` for the next one; None at the end."""

    items: list[T]
    next_cursor: str | None


# --- entries ---


def enter(
    session: Session,
    jackpot_id: str,
    *,
    player_id: str,
    stake: int,
    entry_id: str | None = None,
    client_seed: str | None = None,
    source_id: str | None = None,
    ranks: Sequence[int] | None = None,
    room_pass: str | None = None,
) -> Steps[Entry]:
    """One play of one player: contributes once, is drawn once and has one outcome. `stake` is in minor units.

    `ranks` are what the game of an external source drew.
    """
    body = EntryBody(
        entry_id=_id(entry_id),
        player_id=player_id,
        stake=stake,
        client_seed=client_seed,
        source_id=_set(source_id),
        ranks=_set(None if ranks is None else list(ranks)),
    )
    request = make_entry._get_kwargs(jackpot_id, body=body, x_room_pass=_set(room_pass))
    return (yield from ask(session, request, Entry.from_dict))


def enter_several(
    session: Session,
    jackpot_ids: Sequence[str],
    *,
    player_id: str,
    stake: int,
    currency: str,
    entry_id: str | None = None,
    client_seed: str | None = None,
    source_id: str | None = None,
    room_passes: Sequence[str] = (),
) -> Steps[PlayAnswer]:
    """One play that feeds 1 to 16 jackpots: exactly an entry of each, with this id.

    `items` are in the order of the jackpots. An item has `entry`, or `problem` if its jackpot refused; that is not
    raised. The call is repeated until no item is 503, or its time is over: look at the items.
    """
    body = PlayBody(
        entry_id=_id(entry_id),
        player_id=player_id,
        stake=stake,
        currency=currency,
        jackpots=list(jackpot_ids),
        client_seed=client_seed,
        source_id=_set(source_id),
    )
    request = make_play._get_kwargs(body=body, x_room_pass=_set(", ".join(room_passes) or None))
    return (yield from ask(session, request, PlayAnswer.from_dict, is_whole=_is_answered))


def _is_answered(play: PlayAnswer) -> bool:
    return all(item.status != _UNAVAILABLE for item in play.items)


def enter_batch(
    session: Session,
    jackpot_id: str,
    entries: Sequence[BatchEntry],
    *,
    batch_id: str | None = None,
) -> Steps[BatchAnswer]:
    """1 to 10,000 entries, all or none. The entry at index i, from 1, has the id `{batch_id}:{i}`."""
    body = BatchBody(batch_id=_id(batch_id), entries=list(entries))
    return (yield from ask(session, make_entry_batch._get_kwargs(jackpot_id, body=body), BatchAnswer.from_dict))


def get_entry(session: Session, jackpot_id: str, entry_id: str) -> Steps[Entry]:
    """An entry with the body of its first answer."""
    return (yield from ask(session, _get_entry._get_kwargs(jackpot_id, entry_id), Entry.from_dict))


def reverse_entry(
    session: Session, jackpot_id: str, entry_id: str, reason: str, *, reversal_id: str | None = None
) -> Steps[Reversal]:
    """Takes the contribution of an entry back, because its round was cancelled. Once for each entry."""
    body = ReversalBody(reversal_id=_id(reversal_id), reason=reason)
    return (yield from ask(session, _reverse_entry._get_kwargs(jackpot_id, entry_id, body=body), Reversal.from_dict))


def list_entries(
    session: Session,
    player_id: str,
    *,
    jackpot_id: str | None = None,
    from_: datetime | None = None,
    to: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Steps[Page[EntryRow]]:
    """Entries of a player, the newest first."""
    request = _list_entries._get_kwargs(
        player_id=player_id,
        jackpot_id=_set(jackpot_id),
        from_=_set(from_),
        to=_set(to),
        limit=_set(limit),
        cursor=_set(cursor),
    )
    items, next_cursor = yield from ask(session, request, _page)
    return Page([EntryRow.from_dict(item) for item in items], next_cursor)


# --- jackpots ---


def define_jackpot(
    session: Session, definition: JackpotDefinition | Mapping[str, Any], *, if_version: int | None = None
) -> Steps[Jackpot]:
    """Creates or changes a jackpot. With `if_version` only if its definition has this version (else `Conflict`).

    If the answer to a change with `if_version` is lost, the repeat may be a `Conflict` with the caller's own change:
    read the jackpot.
    """
    body = _verbatim(definition)
    jackpot_id = str(body.to_dict().get("id", ""))
    request = _put_jackpot._get_kwargs(jackpot_id, body=body, if_match=_tag(if_version))
    return (yield from ask(session, request, Jackpot.from_dict))


def get_jackpot(session: Session, jackpot_id: str) -> Steps[Jackpot]:
    """A jackpot with its definition, status and meters."""
    return (yield from ask(session, _get_jackpot._get_kwargs(jackpot_id), Jackpot.from_dict))


def get_meter(session: Session, jackpot_id: str) -> Steps[MeterNow]:
    """The pool of each tier."""
    return (yield from ask(session, _get_meter._get_kwargs(jackpot_id), MeterNow.from_dict))


def get_rules(session: Session, jackpot_id: str) -> Steps[RulesBody]:
    """What a player must be told, by the definition in force: numbers, and English sentences beside them."""
    return (yield from ask(session, _get_rules._get_kwargs(jackpot_id), RulesBody.from_dict))


def get_definition(session: Session, jackpot_id: str, version: int) -> Steps[DefinitionOfVersion]:
    """The odds and rules of a version of the definition."""
    request = _get_definition._get_kwargs(jackpot_id, version)
    return (yield from ask(session, request, DefinitionOfVersion.from_dict))


def pause_jackpot(session: Session, jackpot_id: str, reason: str, *, keep_waiting: bool = False) -> Steps[Jackpot]:
    """Stops entries. Puts a waiting definition in force, unless it is to go on waiting."""
    body = PauseBody(reason=reason, keep_waiting=keep_waiting)
    request = _pause_jackpot._get_kwargs(jackpot_id, body=body)
    return (yield from ask(session, request, Jackpot.from_dict))


def resume_jackpot(session: Session, jackpot_id: str, reason: str) -> Steps[Jackpot]:
    """Takes entries again."""
    request = _resume_jackpot._get_kwargs(jackpot_id, body=ReasonBody(reason=reason))
    return (yield from ask(session, request, Jackpot.from_dict))


def close_jackpot(session: Session, jackpot_id: str, reason: str) -> Steps[Jackpot]:
    """Stops entries for good."""
    request = _close_jackpot._get_kwargs(jackpot_id, body=ReasonBody(reason=reason))
    return (yield from ask(session, request, Jackpot.from_dict))


def adjust_jackpot(
    session: Session,
    jackpot_id: str,
    *,
    tier: str,
    amount: int,
    reason: str,
    meter: MeterName | None = None,
    from_: MeterName | None = None,
    to: MeterName | None = None,
    adjustment_id: str | None = None,
) -> Steps[Adjustment]:
    """Adds to a `meter` of a tier, takes from it with a negative amount, or moves money `from_` one `to` another."""
    body = AdjustmentBody(
        adjustment_id=_id(adjustment_id),
        tier=tier,
        amount=amount,
        reason=reason,
        meter=_set(meter),
        from_=_set(from_),
        to=_set(to),
    )
    return (yield from ask(session, _adjust_jackpot._get_kwargs(jackpot_id, body=body), Adjustment.from_dict))


def transfer_jackpot(
    session: Session,
    jackpot_id: str,
    *,
    to: str,
    tiers: Mapping[str, str],
    reason: str,
    transfer_id: str | None = None,
) -> Steps[TransferRow]:
    """Moves all money of tiers of a paused or closed jackpot to another one, once for each id.

    `tiers` names, for each tier that gives, the tier of `to` that receives. The answer may say `in-transit`: then the
    service ends the transfer, and `list_transfers` shows when.
    """
    body = TransferBody(transfer_id=_id(transfer_id), to=to, tiers=TransferBodyTiers.from_dict(tiers), reason=reason)
    return (yield from ask(session, _transfer_jackpot._get_kwargs(jackpot_id, body=body), TransferRow.from_dict))


def list_transfers(
    session: Session, jackpot_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Steps[Page[TransferRow]]:
    """The transfers that a jackpot gave, the oldest first."""
    request = _list_transfers._get_kwargs(jackpot_id, limit=_set(limit), cursor=_set(cursor))
    items, next_cursor = yield from ask(session, request, _page)
    return Page([TransferRow.from_dict(item) for item in items], next_cursor)


# --- payouts and signatures ---


def get_receipt(session: Session, payout_id: str, *, wait_s: float = 0.0) -> Steps[Receipt]:
    """The receipt of a payout, its signature verified.

    The ledger has a payout moments after its claim: `wait_s` is how long to ask for one that is not there yet.
    """
    until = session.clock() + wait_s
    while True:
        try:
            document: dict[str, Any] = yield from ask(session, _get_receipt._get_kwargs(payout_id), dict)
            break
        except NotFound as error:
            if error.code != "payout-not-found" or session.clock() >= until:
                raise
        yield Wait(_LOOK_EVERY_S)
    keys = yield from _keys_with(session, document.get("key_id"))
    return receipts.verify_receipt(document, keys)


def list_payouts(
    session: Session,
    *,
    jackpot_id: str | None = None,
    payout_id: str | None = None,
    entry_id: str | None = None,
    player_id: str | None = None,
    tier: str | None = None,
    source_id: str | None = None,
    from_: datetime | None = None,
    to: datetime | None = None,
    min_amount: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Steps[Page[Receipt]]:
    """Payouts, the newest first, each signature verified."""
    request = _list_payouts._get_kwargs(
        jackpot_id=_set(jackpot_id),
        payout_id=_set(payout_id),
        entry_id=_set(entry_id),
        player_id=_set(player_id),
        tier=_set(tier),
        source_id=_set(source_id),
        from_=_set(from_),
        to=_set(to),
        min_amount=_set(min_amount),
        limit=_set(limit),
        cursor=_set(cursor),
    )
    items, next_cursor = yield from ask(session, request, _page)
    found = []
    for item in items:
        keys = yield from _keys_with(session, item.get("key_id"))
        found.append(receipts.verify_receipt(item, keys))
    return Page(found, next_cursor)


def get_daily_report(session: Session, day: date, *, jackpot_id: str | None = None) -> Steps[DailyReport]:
    """The figures of a day of each tier and source, of one jackpot or of all that the key may see."""
    request = _get_daily_report._get_kwargs(date=day, jackpot_id=_set(jackpot_id))
    return (yield from ask(session, request, DailyReport.from_dict))


def get_ledger_head(session: Session, jackpot_id: str) -> Steps[Head]:
    """The signed end of a jackpot's chain of events, its signature verified."""
    document: dict[str, Any] = yield from ask(session, _get_ledger_head._get_kwargs(jackpot_id), dict)
    keys = yield from _keys_with(session, document.get("key_id"))
    return receipts.verify_head(document, keys)


def get_keys(session: Session) -> Steps[JwkSet]:
    """The public keys of receipts, heads and passes. Keep them from a time when they were trusted."""
    return (yield from ask(session, _get_keys._get_kwargs(), JwkSet.from_dict))


def verify_receipt(session: Session, document: Mapping[str, Any]) -> Steps[Receipt]:
    """A stored receipt, its signature verified."""
    keys = yield from _keys_with(session, document.get("key_id"))
    return receipts.verify_receipt(document, keys)


# --- fairness ---


def get_fairness(session: Session, jackpot_id: str) -> Steps[Fairness]:
    """All epochs, oldest first: nonces, commitments, and the seeds of those that are closed."""
    whole = yield from ask(session, _get_fairness._get_kwargs(jackpot_id), Fairness.from_dict)
    cursor = whole.next_cursor
    while isinstance(cursor, str):
        request = _get_fairness._get_kwargs(jackpot_id, cursor=cursor)
        page = yield from ask(session, request, Fairness.from_dict)
        whole.epochs.extend(page.epochs)
        whole.cycles.extend(page.cycles)
        cursor = page.next_cursor
    whole.next_cursor = None
    return whole


def check_draw(
    session: Session, jackpot_id: str, entry_id: str, *, client_seed: str | None = None, stake: int | None = None
) -> Steps[Entry]:
    """An entry whose draw was recomputed from the published seed of its epoch and the odds of its definition."""
    entry = yield from get_entry(session, jackpot_id, entry_id)
    known = yield from get_fairness(session, jackpot_id)
    definition = yield from get_definition(session, jackpot_id, entry.draw.definition_version)
    epoch = next((epoch for epoch in known.epochs if epoch.epoch == entry.draw.epoch), None)
    if epoch is None:
        raise VerificationError(f"the service does not list epoch {entry.draw.epoch}")
    fairness.check_draw(entry, definition, epoch, client_seed=client_seed, stake=stake)
    return entry


def rotate_epoch(session: Session, jackpot_id: str, reason: str, *, cycles: bool = False) -> Steps[Fairness]:
    """Closes the open epoch, so that its seed is published. Sent once: a repeat would close the next epoch too.

    With `cycles` it also ends open must-hit cycles without a take.
    """
    body = RotateBody(reason=reason, cycles=cycles or UNSET)
    request = _rotate_epoch._get_kwargs(jackpot_id, body=body)
    return (yield from ask(session, request, Fairness.from_dict, repeatable=False))


# --- coupons ---


def define_coupon(
    session: Session,
    coupon_id: str,
    definition: CouponDefinition | Mapping[str, Any],
    *,
    if_version: int | None = None,
) -> Steps[Coupon]:
    """Creates or changes a coupon. `if_version` as in `define_jackpot`."""
    body = _verbatim(definition)
    request = _put_coupon._get_kwargs(coupon_id, body=body, if_match=_tag(if_version))
    return (yield from ask(session, request, Coupon.from_dict))


def get_coupon(session: Session, coupon_id: str) -> Steps[Coupon]:
    """A coupon with its counts."""
    return (yield from ask(session, _get_coupon._get_kwargs(coupon_id), Coupon.from_dict))


def pause_coupon(session: Session, coupon_id: str, *, reason: str) -> Steps[Coupon]:
    """Takes no new requests; those in the queue wait."""
    request = _pause_coupon._get_kwargs(coupon_id, body=CouponReason(reason=reason))
    return (yield from ask(session, request, Coupon.from_dict))


def resume_coupon(session: Session, coupon_id: str, *, reason: str) -> Steps[Coupon]:
    """Takes requests again."""
    request = _resume_coupon._get_kwargs(coupon_id, body=CouponReason(reason=reason))
    return (yield from ask(session, request, Coupon.from_dict))


def close_coupon(session: Session, coupon_id: str, *, reason: str) -> Steps[Coupon]:
    """Ends the coupon for good."""
    request = _close_coupon._get_kwargs(coupon_id, body=CouponReason(reason=reason))
    return (yield from ask(session, request, Coupon.from_dict))


def issue_coupon(
    session: Session,
    coupon_id: str,
    *,
    user_id: str,
    request_id: str | None = None,
    metadata: Mapping[str, str] | None = None,
    queue: bool = False,
) -> Steps[IssueBody]:
    """Asks for a unit. A refusal (`CouponRefused`) is final for its request.

    With `queue` the request takes its place in the strictly ordered queue; `get_issue` says what became of it. The
    service keeps the texts of `metadata` with the request; a repeat must bring the same.
    """
    texts = IssueWishMetadataType0.from_dict(dict(metadata)) if metadata else UNSET
    body = IssueWish(request_id=_id(request_id), user_id=user_id, metadata=texts)
    request = _issue_coupon._get_kwargs(coupon_id, body=body, prefer="respond-async" if queue else UNSET)
    return (yield from ask(session, request, IssueBody.from_dict))


def get_issue(session: Session, coupon_id: str, request_id: str) -> Steps[IssueBody]:
    """A request and its result."""
    return (yield from ask(session, _get_issue._get_kwargs(coupon_id, request_id), IssueBody.from_dict))


def redeem_issue(
    session: Session, coupon_id: str, request_id: str, *, redemption_id: str, reference: str
) -> Steps[IssueBody]:
    """Redeems an issued unit: its user has used it, once.

    Send the same `redemption_id` and `reference` again when an answer was lost.
    """
    wish = RedeemWish(redemption_id=redemption_id, reference=reference)
    request = _redeem_issue._get_kwargs(coupon_id, request_id, body=wish)
    return (yield from ask(session, request, IssueBody.from_dict))


def void_issue(session: Session, coupon_id: str, request_id: str) -> Steps[IssueBody]:
    """Takes an issued unit back: it returns to the stock."""
    return (yield from ask(session, _void_issue._get_kwargs(coupon_id, request_id), IssueBody.from_dict))


# --- rooms ---


def define_room(
    session: Session,
    room_id: str,
    definition: RoomDefinition | Mapping[str, Any],
    *,
    if_version: int | None = None,
) -> Steps[Room]:
    """Creates or changes a waiting room. `if_version` as in `define_jackpot`."""
    body = _verbatim(definition)
    request = _put_room._get_kwargs(room_id, body=body, if_match=_tag(if_version))
    return (yield from ask(session, request, Room.from_dict))


def get_room(session: Session, room_id: str) -> Steps[Room]:
    """A room with its counts."""
    return (yield from ask(session, _get_room._get_kwargs(room_id), Room.from_dict))


def get_room_status(session: Session, room_id: str) -> Steps[RoomStatus]:
    """The public state of a room. Needs no key."""
    return (yield from ask(session, _get_room_status._get_kwargs(room_id), RoomStatus.from_dict))


def join_room(session: Session, room_id: str, user_id: str) -> Steps[TicketBody]:
    """A user's ticket: admitted at once, or waiting. A user has one place; joining again returns it."""
    request = _join_room._get_kwargs(room_id, body=JoinWish(user_id=user_id))
    return (yield from ask(session, request, TicketBody.from_dict))


def get_ticket(session: Session, room_id: str, ticket: str) -> Steps[TicketBody]:
    """A ticket as it is now. Ask again after `poll_after_s`: it keeps the place alive."""
    return (yield from ask(session, _get_ticket._get_kwargs(room_id, ticket), TicketBody.from_dict))


def renew_ticket(session: Session, room_id: str, ticket: str) -> Steps[TicketBody]:
    """Another whole session from now on, with a new pass."""
    return (yield from ask(session, _renew_ticket._get_kwargs(room_id, ticket), TicketBody.from_dict))


def leave_room(session: Session, room_id: str, ticket: str) -> Steps[TicketBody]:
    """Gives the place up."""
    return (yield from ask(session, _leave_room._get_kwargs(room_id, ticket), TicketBody.from_dict))


def create_join_token(session: Session, room_id: str, user_id: str, return_to: str) -> Steps[JoinToken]:
    """A token that opens the waiting page for a user."""
    body = JoinTokenWish(user_id=user_id, return_to=return_to)
    return (yield from ask(session, _create_join_token._get_kwargs(room_id, body=body), JoinToken.from_dict))


def check_pass(session: Session, room_id: str, user_id: str, room_pass: str) -> Steps[Pass]:
    """The claims of a user's pass, its signature verified. The service alone knows whether its user has left."""
    keys = yield from _keys_with(session, receipts.key_of(room_pass))
    return receipts.verify_pass(room_pass, keys, room_id=room_id, user_id=user_id)


# --- helpers ---


def _keys_with(session: Session, kid: object) -> Steps[Keys]:
    """The keys with which to verify. The service's own are asked for again when they lack the one that signed."""
    if session.trusted is not None:
        return session.trusted
    if kid not in session.published:
        session.published = receipts.read_keys((yield from get_keys(session)))
    return session.published


def _id(given: str | None) -> str:
    # An empty id is a mistake for the service to refuse, not a wish for a new one.
    return str(uuid.uuid4()) if given is None else given


def _set(value: T | None) -> T | Unset:
    return UNSET if value is None else value


def _tag(version: int | None) -> str | Unset:
    return UNSET if version is None else f'"{version}"'


def _page(document: dict[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    return document["items"], document.get("next_cursor")


class _Verbatim:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)

    def to_dict(self) -> dict[str, Any]:
        return self._document


Definition = TypeVar("Definition", JackpotDefinition, CouponDefinition, RoomDefinition)


def _verbatim(definition: Definition | Mapping[str, Any]) -> Definition:
    """A definition as JSON is sent as it is, so that the service names a field that it does not know."""
    if isinstance(definition, Mapping):
        return cast(Definition, _Verbatim(definition))
    return definition

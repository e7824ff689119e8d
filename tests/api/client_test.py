"""Plays with the client that openapi-python-client made of the description: all that comes back has its type."""

import sys
import uuid

from jackpot_client import AuthenticatedClient, Client
from jackpot_client.api.coupons import get_issue, issue_coupon, issue_in_bulk, put_coupon, void_issue
from jackpot_client.api.entries import get_entry, make_entry, make_entry_batch, make_play
from jackpot_client.api.jackpots import get_fairness, get_meter, pause_jackpot, put_jackpot, resume_jackpot
from jackpot_client.api.ledger import get_keys, get_payout, get_receipt, list_audit, list_entries, list_payouts
from jackpot_client.api.rooms import get_ticket, join_room, leave_room, put_room
from jackpot_client.models import (
    AlreadyIssuedIssueBody,
    AuditRow,
    BatchAnswer,
    BatchBody,
    BatchEntry,
    ContributionFixed,
    CouponDefinition,
    CouponPrize,
    Entry,
    EntryBody,
    Fairness,
    IssueBody,
    IssueWish,
    Jackpot,
    JackpotDefinition,
    JoinWish,
    JwkSet,
    ListedPayout,
    MeterNow,
    OddsTable,
    Payout,
    Receipt,
    PlayAnswer,
    PlayBody,
    PoolPrize,
    PrizeCoupon,
    PrizePool,
    Problem,
    ProblemCode,
    Rank,
    ReasonBody,
    RoomDefinition,
    TakeAll,
    TicketBody,
    Tier,
)
from jackpot_client.types import UNSET, File
from waiting import eventually


def expect(value, kind, what):
    """The answer has this type: not None, not a problem, not a dict."""
    assert isinstance(value, kind), f"{what}: {kind.__name__} expected, {value!r} came"
    return value


def refused(value, code, what):
    assert getattr(value, "code", None) == code, f"{what}: {code} expected, {value!r} came"
    assert value.status >= 400 and value.detail, what
    return value


def define(client, name):
    coupon = CouponDefinition(name="A free coffee", stock=1)
    assert put_coupon.sync_detailed(f"{name}-coffee", client=client, body=coupon).status_code == 201
    ranks = [Rank(rank=1, weight=10, prize=PrizePool(pool=PoolPrize(tier="grand", take=TakeAll.ALL)))]
    definition = JackpotDefinition(
        id=name,
        name="Spring wheel",
        currency="KRW",
        contribution=ContributionFixed(fixed=1),
        tiers=[Tier(tier="grand", share_ppm=1_000_000, min_payout=1)],
        odds=OddsTable(total=10, ranks=ranks),
        public_meter=True,
    )
    jackpot = expect(put_jackpot.sync(name, client=client, body=definition), Jackpot, "put_jackpot")
    assert jackpot.status.value == "open" and jackpot.contribution.fixed == 1 and jackpot.tiers[0].cap is None
    prize = jackpot.odds.ranks[0].prize
    assert isinstance(prize, PrizePool) and prize.pool.tier == "grand", prize


def play(client, name):
    body = EntryBody(entry_id="e-1", player_id="p-1", stake=100)
    first = make_entry.sync_detailed(name, client=client, body=body)
    again = make_entry.sync_detailed(name, client=client, body=body)
    assert (first.status_code, again.status_code) == (201, 200), (first, again)
    assert again.headers["Idempotency-Replayed"] == "true"
    entry = expect(first.parsed, Entry, "make_entry")
    assert entry.outcome.prize.value == "pool" and entry.outcome.amount == 1, entry.outcome
    assert entry.draw.attempts[0].result.value == "paid"
    assert expect(get_entry.sync(name, "e-1", client=client), Entry, "get_entry").sequence == entry.sequence
    other = EntryBody(entry_id="e-1", player_id="p-2", stake=100)
    refused(make_entry.sync(name, client=client, body=other), ProblemCode.ENTRY_ID_REUSED, "another player")
    wrong = refused(
        make_entry.sync(name, client=client, body=EntryBody(entry_id="*", player_id="*", stake=-1)),
        ProblemCode.INVALID_REQUEST,
        "wrong fields",
    )
    assert {error.field for error in wrong.errors} == {"entry_id", "player_id", "stake"}, wrong.errors

    several = PlayBody(entry_id="e-1", player_id="p-1", stake=100, currency="KRW", jackpots=[name, f"{name}-none"])
    items = expect(make_play.sync(client=client, body=several), PlayAnswer, "make_play").items
    assert [item.status for item in items] == [200, 404] and items[0].entry == entry, items
    assert items[1].problem.code == ProblemCode.JACKPOT_NOT_FOUND, items[1]

    entries = [BatchEntry(player_id=f"p-{i}", stake=100) for i in range(3)]
    batch = make_entry_batch.sync(name, client=client, body=BatchBody(batch_id="b-1", entries=entries))
    batch = expect(batch, BatchAnswer, "make_entry_batch")
    assert batch.accepted == 3 and [won.index for won in batch.winners] == [1, 2, 3], batch
    return entry


def stop_and_go(client, name):
    expect(pause_jackpot.sync(name, client=client, body=ReasonBody(reason="prices change")), Jackpot, "pause")
    late = EntryBody(entry_id="late", player_id="p-1", stake=1)
    problem = refused(make_entry.sync(name, client=client, body=late), ProblemCode.JACKPOT_PAUSED, "a late entry")
    assert problem.detail.endswith("prices change"), problem.detail
    expect(resume_jackpot.sync(name, client=client, body=ReasonBody(reason="done")), Jackpot, "resume")


def read(client, stranger, name, entry):
    page = eventually(
        "all payouts are in the ledger",
        lambda: (found := list_payouts.sync(client=client, jackpot_id=name)) and len(found.items) == 4 and found,
    )
    listed = expect(page.items[-1], ListedPayout, "list_payouts")
    payout = expect(get_receipt.sync(listed.payout_id, client=client), Receipt, "get_receipt")
    whole = expect(get_payout.sync(listed.payout_id, client=client), Payout, "get_payout").to_dict()
    assert [step["state"] for step in whole.pop("steps")] == ["paid"]
    assert whole == listed.to_dict()
    beside = {"source_id": None, "state": "paid", "approved_by": None, "settlement": None, "void_receipt": None}
    assert listed.to_dict() == payout.to_dict() | beside
    assert (payout.payout_id, payout.amount, page.next_cursor) == (entry.outcome.payout_id, 1, None)
    assert payout.paid_at.tzinfo is not None
    keys = expect(get_keys.sync(client=stranger), JwkSet, "get_keys")
    assert payout.key_id in [key.kid for key in keys.keys]
    rows = eventually(
        "what operators did is in the ledger",
        lambda: (found := list_audit.sync(client=client, jackpot_id=name)) and len(found.items) == 3 and found,
    ).items
    assert all(isinstance(row, AuditRow) for row in rows), rows
    assert [row.action.value for row in rows] == ["resume", "pause", "define"], rows
    assert (rows[1].before, rows[1].after, rows[2].before) == ("open", "paused", None), rows
    assert rows[2].after["version"] == 1
    assert list_entries.sync(client=client, player_id="p-1").items
    assert expect(get_meter.sync(name, client=stranger), MeterNow, "get_meter").meters[0].tier == "grand"
    fairness = expect(get_fairness.sync(name, client=stranger), Fairness, "get_fairness")
    assert fairness.epochs[0].commitment == entry.draw.commitment and fairness.epochs[0].seed is None


def wait(client, name):
    room = RoomDefinition(capacity=1, session_s=60, waiting_timeout_s=60)
    assert put_room.sync_detailed(name, client=client, body=room).status_code == 201
    admitted = expect(join_room.sync(name, client=client, body=JoinWish(user_id="u-1")), TicketBody, "join_room")
    assert admitted.status.value == "admitted" and admitted.pass_.count(".") == 2 and admitted.expires_at, admitted
    waiting = expect(join_room.sync(name, client=client, body=JoinWish(user_id="u-2")), TicketBody, "join_room")
    assert (waiting.status.value, waiting.position, waiting.ahead) == ("waiting", 1, 0), waiting
    assert waiting.pass_ is UNSET and waiting.poll_after_s > 0
    left = expect(leave_room.sync(name, admitted.ticket, client=client), TicketBody, "leave_room")
    assert left.status.value == "left" and left.ended_at is not None
    eventually(
        "the next one is let in",
        lambda: get_ticket.sync(name, waiting.ticket, client=client).status.value == "admitted",
    )


def ask(client, name):
    coupon = f"{name}-coffee"

    def wish(request, user):
        return issue_coupon.sync(coupon, client=client, body=IssueWish(request_id=request, user_id=user))

    issued = expect(wish("r-1", "u-1"), IssueBody, "issue_coupon")
    assert issued.result.value == "issued" and issued.sequence == 1 and issued.code, issued
    twice = expect(wish("r-2", "u-1"), AlreadyIssuedIssueBody, "already-issued")
    refused(twice, ProblemCode.ALREADY_ISSUED, "already-issued")
    assert isinstance(twice.issue, IssueBody) and twice.issue.request_id == "r-1", twice
    sold_out = expect(wish("r-3", "u-3"), AlreadyIssuedIssueBody, "out-of-stock")
    refused(sold_out, ProblemCode.OUT_OF_STOCK, "out-of-stock")
    assert sold_out.issue is UNSET
    found = expect(get_issue.sync(coupon, "r-3", client=client), IssueBody, "get_issue")
    assert found.result.value == "out-of-stock" and found.code is UNSET
    lines = b'{"request_id":"r-4","user_id":"u-4"}\n{"request_id":5}\n'
    answers = issue_in_bulk.sync_detailed(coupon, client=client, body=File(payload=lines)).content.splitlines()
    assert len(answers) == 2 and b'"refused"' in answers[1], answers
    voided = expect(void_issue.sync(coupon, "r-1", client=client), IssueBody, "void_issue")
    assert voided.result.value == "voided" and voided.voided_at is not None
    missing = issue_coupon.sync(f"{coupon}-2", client=client, body=IssueWish(request_id="r", user_id="u"))
    refused(expect(missing, Problem, "no coupon"), ProblemCode.COUPON_NOT_FOUND, "no coupon")


def main(url, key):
    client = AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)
    stranger = Client(base_url=url, raise_on_unexpected_status=True)
    name = f"client-{uuid.uuid4().hex[:8]}"
    define(client, name)
    entry = play(client, name)
    stop_and_go(client, name)
    read(client, stranger, name, entry)
    wait(client, name)
    ask(client, name)
    prize = PrizeCoupon(coupon=CouponPrize(coupon_id=f"{name}-coffee"))
    assert PrizeCoupon.from_dict(prize.to_dict()) == prize
    refused(list_payouts.sync(client=stranger_with_header(url)), ProblemCode.UNAUTHORIZED, "a wrong key")


def stranger_with_header(url):
    return AuthenticatedClient(base_url=url, token="no-key-of-ours", raise_on_unexpected_status=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

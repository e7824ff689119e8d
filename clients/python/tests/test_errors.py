"""Errors and repeats, without a service: the steps of a call get answers that the test makes."""

import json

import httpx
import pytest
from support import DESCRIPTION

from jackpot_client import (
    Conflict,
    InvalidRequest,
    JackpotError,
    NoAnswer,
    ProblemError,
    RateLimited,
    Retry,
    ServiceFault,
    Unavailable,
    UnexpectedAnswer,
    calls,
)
from jackpot_client.errors import FAMILIES, problem
from jackpot_client.models import Entry
from jackpot_client.steps import Reply, Send, Session, Steps, Wait

ENTRY = DESCRIPTION["paths"]["/v1/jackpots/{id}/entries"]["post"]["responses"]["201"]["content"]["application/json"][
    "examples"
]["none"]["value"]


DEFAULT = Retry()


class Clock:
    """Time as the steps see it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def session(clock: Clock, chance: float = 1.0, retry: Retry | None = DEFAULT) -> Session:
    return Session(timeout_s=10, retry=retry, trusted=None, clock=clock, chance=lambda: chance)


def run(
    steps: Steps[Entry], replies: list[Reply], clock: Clock, try_s: float = 0.0
) -> tuple[Entry, list[Send], list[float]]:
    """Runs a call. Each try takes `try_s`; the last reply is repeated for ever."""
    sent: list[Send] = []
    waits: list[float] = []
    reply: Reply = None
    try:
        while True:
            step = steps.send(reply)
            if isinstance(step, Wait):
                waits.append(step.seconds)
                clock.now += step.seconds
                reply = None
            else:
                sent.append(step)
                clock.now += try_s
                reply = replies[min(len(sent), len(replies)) - 1]
    except StopIteration as end:
        return end.value, sent, waits


def answer(status: int, document: object = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, headers=named, content=json.dumps(document))


def refusal(status: int, code: str, **headers: str) -> httpx.Response:
    return answer(status, {"code": code, "title": "", "status": status, "detail": "d", "errors": []}, **headers)


def play(session: Session) -> Steps[Entry]:
    return calls.enter(session, "spring", player_id="p7", stake=100)


def test_each_code_of_the_description_has_one_family() -> None:
    described = DESCRIPTION["components"]["schemas"]["ProblemCode"]["enum"]
    known = [code for codes in FAMILIES.values() for code in codes]
    assert sorted(known) == sorted(described)


def test_a_problem_says_what_the_service_said() -> None:
    document = {
        "code": "invalid-request",
        "title": "The request has wrong content",
        "detail": "stake: must be 0 to 5",
        "errors": [{"field": "stake", "message": "must be 0 to 5"}],
    }
    error = problem(422, document, request_id="r-1")
    assert isinstance(error, InvalidRequest)
    assert (error.code, error.status, error.detail) == ("invalid-request", 422, "stake: must be 0 to 5")
    assert [(wrong.field, wrong.message) for wrong in error.fields] == [("stake", "must be 0 to 5")]
    assert (error.request_id, error.retry_after) == ("r-1", None)


@pytest.mark.parametrize(
    ("status", "family"),
    [
        (409, Conflict),
        (412, Conflict),
        (418, InvalidRequest),
        (429, RateLimited),
        (500, ServiceFault),
        (503, Unavailable),
    ],
)
def test_a_code_of_a_later_service_has_the_family_of_its_status(status: int, family: type[ProblemError]) -> None:
    assert type(problem(status, {"code": "of-tomorrow"})) is family


def test_a_repeat_has_the_same_id_which_is_made_before_the_first_try() -> None:
    clock = Clock()
    unanswered: list[Reply] = [
        NoAnswer("lost"),
        refusal(503, "store-unavailable"),
        refusal(429, "rate-limited", retry_after="1"),
    ]
    entry, sent, _ = run(play(session(clock)), [*unanswered, answer(201, ENTRY)], clock)
    assert entry.entry_id == ENTRY["entry_id"] and len(sent) == 4
    assert all(step.request == sent[0].request for step in sent)
    _, other, _ = run(play(session(clock)), [answer(201, ENTRY)], clock)
    assert other[0].request["json"]["entry_id"] != sent[0].request["json"]["entry_id"]


def test_waits_double_up_to_the_longest_and_are_cut_by_chance() -> None:
    retry = Retry(deadline_s=1000, first_wait_s=0.1, longest_wait_s=1.0)
    for chance in (1.0, 0.25, 0.0):
        clock = Clock()
        replies: list[Reply] = [NoAnswer("lost")] * 6
        _, _, waits = run(play(session(clock, chance, retry)), [*replies, answer(201, ENTRY)], clock)
        assert waits == pytest.approx([chance * most for most in (0.1, 0.2, 0.4, 0.8, 1.0, 1.0)])
    assert retry.wait_s(10_000, None, 1.0) == 1.0


def test_retry_after_is_the_least_wait() -> None:
    clock = Clock()
    replies: list[Reply] = [refusal(503, "store-unavailable", retry_after="3"), answer(201, ENTRY)]
    _, _, waits = run(play(session(clock, 0.5)), replies, clock)
    assert waits == [pytest.approx(3.05)]


def test_a_date_in_retry_after_is_read() -> None:
    clock = Clock()
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    _, sent, waits = run(play(session(clock, 0.0)), [answer(429, None, retry_after=past), answer(201, ENTRY)], clock)
    assert len(sent) == 2 and waits == [0.0]


def test_the_last_error_comes_when_the_deadline_leaves_no_time() -> None:
    clock = Clock()
    with pytest.raises(Unavailable) as caught:
        run(play(session(clock, 1.0)), [refusal(503, "store-unavailable", retry_after="4")], clock, try_s=1.0)
    assert clock.now <= 30 and caught.value.tries == 6 and caught.value.retry_after == 4
    # A wait beyond the deadline is not begun.
    clock = Clock()
    with pytest.raises(RateLimited) as limited:
        run(play(session(clock)), [refusal(429, "rate-limited", retry_after="60")], clock)
    assert clock.now == 0 and limited.value.tries == 1


def test_no_try_lasts_beyond_the_deadline() -> None:
    clock = Clock()
    retry = Retry(deadline_s=12, first_wait_s=1, longest_wait_s=1)
    with pytest.raises(NoAnswer):
        run(play(session(clock, 1.0, retry)), [NoAnswer("lost")], clock, try_s=10)
    clock = Clock()
    steps = play(session(clock, 1.0, retry))
    first = next(steps)
    clock.now = 10
    wait = steps.send(NoAnswer("lost"))
    clock.now = 11
    second = steps.send(None)
    assert isinstance(first, Send) and first.timeout_s == 10
    assert isinstance(wait, Wait) and isinstance(second, Send) and second.timeout_s == pytest.approx(1)


@pytest.mark.parametrize(
    "reply",
    [
        refusal(400, "invalid-json"),
        refusal(401, "unauthorized"),
        refusal(408, "request-timeout"),
        refusal(409, "jackpot-paused"),
        refusal(422, "entry-id-reused"),
        refusal(429, "rate-limited"),
        refusal(500, "internal", retry_after="1"),
        refusal(503, "stopped", retry_after="10"),
        answer(502, "bad gateway", retry_after="1"),
        answer(504, None),
        answer(302, None),
        answer(200, {"entry_id": "and nothing else"}),
        httpx.Response(200, content=b"<html>"),
    ],
)
def test_no_other_answer_is_repeated(reply: httpx.Response) -> None:
    clock = Clock()
    with pytest.raises((ProblemError, UnexpectedAnswer)) as caught:
        run(play(session(clock)), [reply, answer(201, ENTRY)], clock)
    assert isinstance(caught.value, ProblemError | UnexpectedAnswer)
    assert caught.value.status == reply.status_code


def test_a_page_of_a_load_balancer_is_repeated_by_its_status() -> None:
    clock = Clock()
    entry, sent, _ = run(play(session(clock)), [httpx.Response(503, content=b"<html>"), answer(201, ENTRY)], clock)
    assert entry.sequence == ENTRY["sequence"] and len(sent) == 2


def test_a_call_without_an_id_is_sent_once() -> None:
    clock = Clock()
    steps = calls.rotate_epoch(session(clock), "spring", "check")
    assert isinstance(next(steps), Send)
    with pytest.raises(NoAnswer):
        steps.send(NoAnswer("lost"))


def test_without_a_policy_everything_is_sent_once() -> None:
    clock = Clock()
    with pytest.raises(Unavailable):
        run(play(session(clock, retry=None)), [refusal(503, "store-unavailable"), answer(201, ENTRY)], clock)


@pytest.mark.parametrize("wrong", ["", ".", ".."])
def test_an_id_that_would_change_the_path_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="an id in"):
        next(calls.get_entry(session(Clock()), "spring", wrong))


def test_an_empty_id_is_not_replaced() -> None:
    step = next(calls.enter(session(Clock()), "spring", player_id="p7", stake=1, entry_id=""))
    assert isinstance(step, Send) and step.request["json"]["entry_id"] == ""


def test_every_error_is_a_jackpot_error() -> None:
    assert all(issubclass(family, JackpotError) for family in [*FAMILIES, NoAnswer, UnexpectedAnswer])

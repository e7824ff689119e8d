"""Calls as steps: what to send, how long to wait, what to make of the answer. Without any input or output.

A call is a generator. It yields `Send` and `Wait`, gets an answer or an error for each `Send`, and returns the result.
`Jackpot` runs the steps with blocking calls and `AsyncJackpot` with awaits, so both follow the same rules.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any, TypeVar

import httpx

from . import errors
from .errors import JackpotError, NoAnswer, UnexpectedAnswer
from .receipts import Keys
from .retry import Retry, may_repeat

T = TypeVar("T")

# How much of an answer that nobody expected the error shows.
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Send:
    """Send this request once. The reply is the answer, or why none came."""

    # Arguments of `httpx.Client.request`.
    request: Mapping[str, Any]
    timeout_s: float


@dataclass(frozen=True)
class Wait:
    seconds: float


Step = Send | Wait
Reply = httpx.Response | NoAnswer | None
Steps = Generator[Step, Reply, T]


@dataclass
class Session:
    """What the calls of one client share."""

    timeout_s: float
    # None: every request is sent once.
    retry: Retry | None
    # Keys that the caller trusts; None: those that the service publishes.
    trusted: Keys | None
    published: dict[str, bytes] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random


def ask(
    session: Session,
    request: Mapping[str, Any],
    parse: Callable[[Any], T],
    *,
    repeatable: bool = True,
    is_whole: Callable[[T], bool] = lambda _: True,
) -> Steps[T]:
    """Sends a request until it is answered, and returns what `parse` makes of the JSON of a 2xx.

    Each try has the same id and the same body. `repeatable` is false for a call without an id, where a second try
    would do a second thing. An answer that is not whole is asked for again like a 503, until the deadline.
    """
    _check_path(request["url"])
    retry = session.retry if repeatable else None
    deadline = session.clock() + (retry.deadline_s if retry else session.timeout_s)
    for tries in count(1):
        timeout_s = min(session.timeout_s, max(deadline - session.clock(), 0.001))
        reply = yield Send(request, timeout_s)
        if isinstance(reply, httpx.Response) and reply.is_success:
            found = _parsed(reply, parse)
            if retry is None or is_whole(found):
                return found
            wait_s = retry.wait_s(tries, None, session.chance())
            if session.clock() + wait_s >= deadline:
                return found
            yield Wait(wait_s)
            continue
        error = _error_of(reply)
        error.tries = tries
        if retry is None or not may_repeat(error):
            raise error
        wait_s = retry.wait_s(tries, getattr(error, "retry_after", None), session.chance())
        if session.clock() + wait_s >= deadline:
            raise error
        yield Wait(wait_s)
    raise AssertionError("the count has no end")


def _check_path(path: str) -> None:
    """An id that is empty, `.` or `..` would make it the path of another call."""
    if {"", ".", ".."} & set(path.split("/")[1:]):
        raise ValueError(f"an id in {path} is empty or consists of dots")


def _parsed(answer: httpx.Response, parse: Callable[[Any], T]) -> T:
    try:
        return parse(answer.json())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnexpectedAnswer(answer.status_code, f"this version can't read it: {error!r}") from error


def _error_of(reply: Reply) -> JackpotError:
    if not isinstance(reply, httpx.Response):
        return reply or NoAnswer("nothing was sent")
    retry_after = _seconds(reply.headers.get("retry-after"))
    try:
        document = reply.json()
    except ValueError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("code"), str):
        request_id = reply.headers.get("x-request-id")
        return errors.problem(reply.status_code, document, retry_after, request_id)
    return UnexpectedAnswer(reply.status_code, reply.text[:_SHOWN_CHARACTERS], retry_after)


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which proxies may send."""
    if retry_after is None:
        return None
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max((at - datetime.now(UTC)).total_seconds(), 0.0)

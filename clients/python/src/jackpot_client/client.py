"""The client: `Jackpot` with blocking calls, `AsyncJackpot` with the same calls to await."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from . import calls
from .errors import NoAnswer
from .generated.models import JwkSet
from .receipts import read_keys
from .retry import Retry
from .steps import Reply, Send, Session, Step, Steps
from .version import __version__

P = ParamSpec("P")
T = TypeVar("T")

# What happens between the client and the service. Other errors of httpx are mistakes of the caller.
_BROKEN = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)


class _Client:
    """What both clients have in common."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 10.0,
        retry: Retry | None = Retry(),  # noqa: B008 (it is frozen)
        trusted_keys: JwkSet | Mapping[str, Any] | None = None,
    ) -> None:
        """`key` is an API key of the service. `timeout` is for one try: seconds to connect, and for each read.

        `retry` is None for a client that sends everything once. `trusted_keys` is a JWK Set that the caller has kept;
        without it, receipts are verified with the keys that the service publishes.
        """
        trusted = None if trusted_keys is None else read_keys(trusted_keys)
        self._session = Session(timeout_s=timeout, retry=retry, trusted=trusted)
        headers = {"User-Agent": f"jackpot-client-python/{__version__}", "Accept": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._open({"base_url": url, "headers": headers})

    def _open(self, options: dict[str, Any]) -> None:
        """Makes the client of httpx."""
        raise NotImplementedError


def _arguments(step: Send) -> dict[str, Any]:
    return {**step.request, "timeout": step.timeout_s}


def _no_answer(error: httpx.TransportError) -> NoAnswer:
    found = NoAnswer(f"{type(error).__name__}: {error}")
    found.__cause__ = error
    return found


def _blocking(call: Callable[Concatenate[Session, P], Steps[T]]) -> Callable[Concatenate[Jackpot, P], T]:
    @wraps(call)
    def method(client: Jackpot, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._run(call(client._session, *args, **kwargs))

    return method


def _awaited(
    call: Callable[Concatenate[Session, P], Steps[T]],
) -> Callable[Concatenate[AsyncJackpot, P], Coroutine[Any, Any, T]]:
    @wraps(call)
    async def method(client: AsyncJackpot, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client._run(call(client._session, *args, **kwargs))

    return method


class Jackpot(_Client):
    """A client with blocking calls. Threads may share it."""

    def _open(self, options: dict[str, Any]) -> None:
        self._http = httpx.Client(**options)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        reply: Reply = None
        try:
            while True:
                reply = self._do(steps.send(reply))
        except StopIteration as end:
            result: T = end.value
            return result

    def _do(self, step: Step) -> Reply:
        if not isinstance(step, Send):
            time.sleep(step.seconds)
            return None
        try:
            return self._http.request(**_arguments(step))
        except _BROKEN as error:
            return _no_answer(error)

    enter = _blocking(calls.enter)
    enter_several = _blocking(calls.enter_several)
    enter_batch = _blocking(calls.enter_batch)
    get_entry = _blocking(calls.get_entry)
    reverse_entry = _blocking(calls.reverse_entry)
    list_entries = _blocking(calls.list_entries)
    define_jackpot = _blocking(calls.define_jackpot)
    get_jackpot = _blocking(calls.get_jackpot)
    get_meter = _blocking(calls.get_meter)
    get_definition = _blocking(calls.get_definition)
    get_rules = _blocking(calls.get_rules)
    pause_jackpot = _blocking(calls.pause_jackpot)
    resume_jackpot = _blocking(calls.resume_jackpot)
    close_jackpot = _blocking(calls.close_jackpot)
    adjust_jackpot = _blocking(calls.adjust_jackpot)
    transfer_jackpot = _blocking(calls.transfer_jackpot)
    list_transfers = _blocking(calls.list_transfers)
    get_receipt = _blocking(calls.get_receipt)
    list_payouts = _blocking(calls.list_payouts)
    get_daily_report = _blocking(calls.get_daily_report)
    get_ledger_head = _blocking(calls.get_ledger_head)
    get_keys = _blocking(calls.get_keys)
    verify_receipt = _blocking(calls.verify_receipt)
    get_fairness = _blocking(calls.get_fairness)
    check_draw = _blocking(calls.check_draw)
    rotate_epoch = _blocking(calls.rotate_epoch)
    define_coupon = _blocking(calls.define_coupon)
    get_coupon = _blocking(calls.get_coupon)
    pause_coupon = _blocking(calls.pause_coupon)
    resume_coupon = _blocking(calls.resume_coupon)
    close_coupon = _blocking(calls.close_coupon)
    issue_coupon = _blocking(calls.issue_coupon)
    get_issue = _blocking(calls.get_issue)
    redeem_issue = _blocking(calls.redeem_issue)
    void_issue = _blocking(calls.void_issue)
    define_room = _blocking(calls.define_room)
    get_room = _blocking(calls.get_room)
    get_room_status = _blocking(calls.get_room_status)
    join_room = _blocking(calls.join_room)
    get_ticket = _blocking(calls.get_ticket)
    renew_ticket = _blocking(calls.renew_ticket)
    leave_room = _blocking(calls.leave_room)
    create_join_token = _blocking(calls.create_join_token)
    check_pass = _blocking(calls.check_pass)


class AsyncJackpot(_Client):
    """The same client with calls to await."""

    def _open(self, options: dict[str, Any]) -> None:
        self._http = httpx.AsyncClient(**options)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, steps: Steps[T]) -> T:
        reply: Reply = None
        try:
            while True:
                reply = await self._do(steps.send(reply))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _do(self, step: Step) -> Reply:
        if not isinstance(step, Send):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._http.request(**_arguments(step))
        except _BROKEN as error:
            return _no_answer(error)

    enter = _awaited(calls.enter)
    enter_several = _awaited(calls.enter_several)
    enter_batch = _awaited(calls.enter_batch)
    get_entry = _awaited(calls.get_entry)
    reverse_entry = _awaited(calls.reverse_entry)
    list_entries = _awaited(calls.list_entries)
    define_jackpot = _awaited(calls.define_jackpot)
    get_jackpot = _awaited(calls.get_jackpot)
    get_meter = _awaited(calls.get_meter)
    get_definition = _awaited(calls.get_definition)
    get_rules = _awaited(calls.get_rules)
    pause_jackpot = _awaited(calls.pause_jackpot)
    resume_jackpot = _awaited(calls.resume_jackpot)
    close_jackpot = _awaited(calls.close_jackpot)
    adjust_jackpot = _awaited(calls.adjust_jackpot)
    transfer_jackpot = _awaited(calls.transfer_jackpot)
    list_transfers = _awaited(calls.list_transfers)
    get_receipt = _awaited(calls.get_receipt)
    list_payouts = _awaited(calls.list_payouts)
    get_daily_report = _awaited(calls.get_daily_report)
    get_ledger_head = _awaited(calls.get_ledger_head)
    get_keys = _awaited(calls.get_keys)
    verify_receipt = _awaited(calls.verify_receipt)
    get_fairness = _awaited(calls.get_fairness)
    check_draw = _awaited(calls.check_draw)
    rotate_epoch = _awaited(calls.rotate_epoch)
    define_coupon = _awaited(calls.define_coupon)
    get_coupon = _awaited(calls.get_coupon)
    pause_coupon = _awaited(calls.pause_coupon)
    resume_coupon = _awaited(calls.resume_coupon)
    close_coupon = _awaited(calls.close_coupon)
    issue_coupon = _awaited(calls.issue_coupon)
    get_issue = _awaited(calls.get_issue)
    redeem_issue = _awaited(calls.redeem_issue)
    void_issue = _awaited(calls.void_issue)
    define_room = _awaited(calls.define_room)
    get_room = _awaited(calls.get_room)
    get_room_status = _awaited(calls.get_room_status)
    join_room = _awaited(calls.join_room)
    get_ticket = _awaited(calls.get_ticket)
    renew_ticket = _awaited(calls.renew_ticket)
    leave_room = _awaited(calls.leave_room)
    create_join_token = _awaited(calls.create_join_token)
    check_pass = _awaited(calls.check_pass)

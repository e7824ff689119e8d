"""What the tests share: the service that scripts/clients.sh started, and a proxy that breaks calls to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

PATIENCE_S = 20.0
LOOK_EVERY_S = 0.02
# Longest that the proxy holds an answer back; the clients of the tests give up long before.
LONGEST_HOLD_S = 30.0

TOP = Path(__file__).resolve().parents[3]
DESCRIPTION = json.loads((TOP / "docs/reference/openapi.json").read_text())


def setting(name: str) -> str:
    """A variable that scripts/clients.sh sets."""
    value = os.environ.get(name)
    assert value, f"{name} is not set: run the tests with scripts/clients.sh test"
    return value


def fresh(prefix: str) -> str:
    """An id that no other test has."""
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def eventually(what: str, look: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := look():
            return found
        threading.Event().wait(LOOK_EVERY_S)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def wheel(jackpot_id: str, **changes: Any) -> dict[str, Any]:
    """A definition under which every fourth entry or so takes the pool, which has at least 3."""
    return {
        "id": jackpot_id,
        "name": "Wheel",
        "currency": "EUR",
        "public_meter": True,
        "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 3}],
        "odds": {"total": 100, "ranks": [{"rank": 1, "weight": 25, "prize": pool()}]},
        **changes,
    }


def never_wins(jackpot_id: str, **changes: Any) -> dict[str, Any]:
    """A definition whose pool counts its entries, because nobody takes it."""
    return wheel(jackpot_id, odds={"total": 1, "ranks": [{"rank": 1, "weight": 0, "prize": pool()}]}, **changes)


def always_wins(jackpot_id: str, **changes: Any) -> dict[str, Any]:
    """A definition under which each entry takes the pool of 1."""
    tiers = [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}]
    odds = {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": pool()}]}
    return wheel(jackpot_id, tiers=tiers, odds=odds, **changes)


def pool() -> dict[str, Any]:
    return {"pool": {"tier": "grand", "take": "all"}}


class Redis:
    """The Redis of the service, to freeze it, and to change it by hand."""

    def __init__(self) -> None:
        service = setting("JACKPOT_TEST_PID")
        tasks = Path(f"/proc/{service}/task").glob("*/children")
        children = [int(child) for task in tasks for child in task.read_text().split()]
        lines = {child: Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in children}
        servers = [child for child, line in lines.items() if "--unixsocket" in line]
        assert servers, f"the service has no Redis of its own: {lines}"
        self.pid = servers[0]
        line = lines[self.pid]
        self._socket = line[line.index("--unixsocket") + 1]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def set(self, key: str, value: int) -> None:
        parts = [part.encode() for part in ("SET", key, str(value))]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._socket)
            sent = b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)
            connection.sendall(b"*%d\r\n%b" % (len(parts), sent))
            assert connection.recv(100) == b"+OK\r\n"


@dataclass(frozen=True)
class Answer:
    """The proxy answers this itself, and the service does not see the request."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def problem(status: int, code: str, **headers: str) -> Answer:
    document = {"type": f"/problems/{code}", "title": code, "status": status, "detail": "", "code": code, "errors": []}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return Answer(status, {"Content-Type": "application/problem+json", **named}, body)


# The connection ends before the service sees the request.
CUT = "cut"
# The service answers, and the connection ends before the client sees it.
DROP_REPLY = "drop-reply"
# The service answers, and the proxy holds the answer until the client has given up.
HOLD_REPLY = "hold-reply"
Fault = str | Answer


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    body: bytes
    at_s: float


class Proxy:
    """Forwards requests to the service. Each fault of `faults` breaks one request, in order; then all pass."""

    def __init__(self, target: str) -> None:
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        # What the client would have got, of requests whose reply it did not get.
        self.lost: list[int] = []
        self._target = urlsplit(target).netloc
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(LOOK_EVERY_S,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                proxy.seen.append(Seen(self.command, self.path, body, time.monotonic()))
                fault = proxy.faults.popleft() if proxy.faults else None
                if isinstance(fault, Answer):
                    self.reply(fault.status, fault.headers, fault.body)
                    return
                if fault == CUT:
                    self.close_connection = True
                    return
                status, headers, answer = self.forward(body)
                if fault is None:
                    self.reply(status, headers, answer)
                    return
                proxy.lost.append(status)
                if fault == HOLD_REPLY:
                    proxy.closing.wait(LONGEST_HOLD_S)
                self.close_connection = True

            do_GET = do_PUT = do_DELETE = do_POST

            def forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
                connection = http.client.HTTPConnection(proxy._target, timeout=PATIENCE_S)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                try:
                    connection.request(self.command, self.path, body or None, headers)
                    answer = connection.getresponse()
                    kept = ("content-type", "retry-after", "x-request-id")
                    found = {name: value for name, value in answer.getheaders() if name.lower() in kept}
                    return answer.status, found, answer.read()
                finally:
                    connection.close()

            def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler

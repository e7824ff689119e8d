"""A small game back end: every spin feeds a jackpot, and every win is credited once.

    JACKPOT_URL=http://127.0.0.1:8080 JACKPOT_KEY=... python game_backend.py --jackpot spring --data ./game

    POST /spin {"player_id": "p7", "stake": 100}   plays a round
    GET /rounds/{round_id}                         the round as it is now
    GET /players/{player_id}                       what the player has won
    GET /credits/{payout_id}                       the credit with its verified receipt (needs JACKPOT_READ_KEY)

It shows three things. A round is on disk before it is sent, so a crash loses none and repeats none. A win is credited
under its payout id, so it is credited once, however often the answer comes. And each error has one of three ends: the
round stays open and is sent again with its id, the round ends without the jackpot, or somebody has to look.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sqlite3
import threading
import uuid
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from jackpot_client import (
    InvalidRequest,
    Jackpot,
    JackpotError,
    NoAnswer,
    NotFound,
    RateLimited,
    Retry,
    ServiceFault,
    SubjectStopped,
    SubjectSuspended,
    Unavailable,
    UnexpectedAnswer,
    VerificationError,
)
from jackpot_client.models import CouponBody, Entry

# A player waits for the answer. What is not known by then is settled in the background.
PATIENCE = Retry(deadline_s=3.0)
TRY_S = 1.0
SETTLE_EVERY_S = 2.0
# The ledger has a payout moments after the claim.
RECEIPT_WAIT_S = 5.0

LOG = logging.getLogger("game")


@dataclass
class Round:
    round_id: str
    player_id: str
    stake: int
    # open: it may have been sent. done: the outcome is known. refused: the jackpot took no entry.
    state: str = "open"
    prize: str | None = None
    amount: int | None = None
    payout_id: str | None = None
    coupon_code: str | None = None
    reason: str | None = None


class Books:
    """Rounds and credits, in a database that survives a crash."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._db = sqlite3.connect(folder / "game.sqlite", check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(
            """
            PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS rounds (round_id TEXT PRIMARY KEY, player_id TEXT NOT NULL,
                stake INTEGER NOT NULL, state TEXT NOT NULL, prize TEXT, amount INTEGER, payout_id TEXT,
                coupon_code TEXT, reason TEXT);
            CREATE TABLE IF NOT EXISTS credits (payout_id TEXT PRIMARY KEY, player_id TEXT NOT NULL,
                round_id TEXT NOT NULL, amount INTEGER NOT NULL);
            """
        )

    def begin(self, player_id: str, stake: int) -> Round:
        round = Round(f"round-{uuid.uuid4()}", player_id, stake)
        with self._lock, self._db:
            self._db.execute(
                "INSERT INTO rounds (round_id, player_id, stake, state) VALUES (?, ?, ?, ?)",
                (round.round_id, player_id, stake, round.state),
            )
        return round

    def end(self, round: Round) -> None:
        """Stores the outcome and the credit in one transaction. The payout id makes a second credit impossible."""
        with self._lock, self._db:
            self._db.execute(
                "UPDATE rounds SET state = ?, prize = ?, amount = ?, payout_id = ?, coupon_code = ?, reason = ?"
                " WHERE round_id = ?",
                (
                    round.state,
                    round.prize,
                    round.amount,
                    round.payout_id,
                    round.coupon_code,
                    round.reason,
                    round.round_id,
                ),
            )
            if round.payout_id is not None:
                self._db.execute(
                    "INSERT OR IGNORE INTO credits VALUES (?, ?, ?, ?)",
                    (round.payout_id, round.player_id, round.round_id, round.amount),
                )

    def round(self, round_id: str) -> Round | None:
        rows = self._rows("SELECT * FROM rounds WHERE round_id = ?", round_id)
        return Round(**rows[0]) if rows else None

    def open_rounds(self) -> list[Round]:
        return [Round(**row) for row in self._rows("SELECT * FROM rounds WHERE state = 'open' ORDER BY rowid")]

    def credit(self, payout_id: str) -> dict[str, Any] | None:
        rows = self._rows("SELECT * FROM credits WHERE payout_id = ?", payout_id)
        return rows[0] if rows else None

    def won(self, player_id: str) -> dict[str, Any]:
        return self._rows(
            "SELECT count(*) AS credits, coalesce(sum(amount), 0) AS won FROM credits WHERE player_id = ?", player_id
        )[0]

    def _rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(row) for row in self._db.execute(query, values).fetchall()]


class Game:
    def __init__(self, jackpot: Jackpot, jackpot_id: str, books: Books, auditor: Jackpot | None) -> None:
        self._jackpot = jackpot
        self._jackpot_id = jackpot_id
        self._books = books
        self._auditor = auditor

    def spin(self, player_id: str, stake: int) -> Round:
        return self.settle(self._books.begin(player_id, stake))

    def settle(self, round: Round) -> Round:
        """Sends a round, for the first time or again: the id is the same, so it counts once."""
        try:
            entry = self._jackpot.enter(
                self._jackpot_id, entry_id=round.round_id, player_id=round.player_id, stake=round.stake
            )
        except (NoAnswer, UnexpectedAnswer, Unavailable, RateLimited, ServiceFault, SubjectSuspended) as error:
            # Nothing is known, or not now. The round stays open and is sent again later.
            LOG.warning("%s stays open: %s", round.round_id, error)
            return round
        except SubjectStopped as error:
            # Not taken, now or before: the repeat of a taken entry is answered also while the jackpot is paused.
            # The game goes on without it.
            round.state, round.reason = "refused", error.code
        except InvalidRequest as error:
            # Such as a stake beyond the jackpot's bounds: the same request fails again.
            round.state, round.reason = "refused", error.detail
        except JackpotError as error:
            # A wrong key, no such jackpot, an id used twice: a mistake of this back end or of its set-up. An earlier
            # try may have been taken, so the round stays open until somebody has repaired it.
            LOG.error("%s needs an operator: %s", round.round_id, error)
            return round
        else:
            take_outcome(round, entry)
        self._books.end(round)
        return round

    def settle_open_rounds(self) -> None:
        for round in self._books.open_rounds():
            self.settle(round)

    def credit(self, payout_id: str) -> tuple[int, dict[str, Any]]:
        """A credit beside the receipt that proves it, for the support desk."""
        credit = self._books.credit(payout_id)
        if credit is None or self._auditor is None:
            return 404, {"error": "no such credit, or no JACKPOT_READ_KEY"}
        try:
            receipt = self._auditor.get_receipt(payout_id, wait_s=RECEIPT_WAIT_S)
        except VerificationError as error:
            LOG.error("the receipt of %s is forged: %s", payout_id, error)
            return 500, {"error": "the receipt is forged"}
        except NotFound:
            return 503, {"error": "the receipt is not in the ledger yet"}
        except JackpotError as error:
            LOG.warning("no receipt for %s: %s", payout_id, error)
            return 503, {"error": "the receipt can't be read now"}
        agrees = (receipt.entry_id, receipt.player_id, receipt.amount) == (
            credit["round_id"],
            credit["player_id"],
            credit["amount"],
        )
        return 200, {**credit, "receipt": receipt.document, "agrees": agrees}

    def handle(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        match method, path.strip("/").split("/"):
            case "POST", ["spin"]:
                player_id, stake = (body.get(name) for name in ("player_id", "stake")) if type(body) is dict else (0, 0)
                if not isinstance(player_id, str) or type(stake) is not int:
                    return 400, {"error": 'send {"player_id": "p7", "stake": 100}'}
                round = self.spin(player_id, stake)
                # 202: the round counts, and its outcome can be asked for with GET /rounds/{round_id}.
                return (202 if round.state == "open" else 200), asdict(round)
            case "GET", ["rounds", round_id] if found := self._books.round(round_id):
                return 200, asdict(found)
            case "GET", ["players", player_id]:
                return 200, self._books.won(player_id)
            case "GET", ["credits", payout_id]:
                return self.credit(payout_id)
        return 404, {"error": "nothing is here"}


def take_outcome(round: Round, entry: Entry) -> None:
    outcome = entry.outcome
    round.state, round.prize = "done", outcome.prize
    if outcome.prize in ("pool", "fixed"):
        round.amount, round.payout_id = outcome.amount or 0, outcome.payout_id or None
    elif isinstance(outcome.coupon, CouponBody):
        round.coupon_code = outcome.coupon.code or None


def settle_for_ever(game: Game) -> None:
    while True:
        threading.Event().wait(SETTLE_EVERY_S)
        try:
            game.settle_open_rounds()
        except sqlite3.Error:
            LOG.exception("open rounds could not be settled")


def handler(game: Game) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(text) if text else None
            except ValueError:
                body = None
            status, document = game.handle(self.command, self.path, body)
            answer = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            LOG.info(format, *args)

    return Handler


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    parser = argparse.ArgumentParser(description="A small game back end")
    parser.add_argument("--jackpot", required=True, help="id of the jackpot that every spin feeds")
    parser.add_argument("--data", required=True, type=Path, help="folder of the game's own database")
    parser.add_argument("--listen", default="127.0.0.1:8090", help="address and port; port 0: any")
    options = parser.parse_args()
    url, read_key = os.environ["JACKPOT_URL"], os.environ.get("JACKPOT_READ_KEY")
    jackpot = Jackpot(url, key=os.environ["JACKPOT_KEY"], timeout=TRY_S, retry=PATIENCE)
    auditor = Jackpot(url, key=read_key) if read_key else None
    game = Game(jackpot, options.jackpot, Books(options.data), auditor)
    # Rounds that were open when the last process ended.
    game.settle_open_rounds()
    threading.Thread(target=settle_for_ever, args=(game,), daemon=True).start()
    host, port = options.listen.rsplit(":", 1)
    server = ThreadingHTTPServer((host, int(port)), handler(game))
    print(f"listening on http://{host}:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

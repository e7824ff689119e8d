"""The example is a game back end that loses no round and credits no win twice, also when it is killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import DROP_REPLY, HOLD_REPLY, TOP, Proxy, Redis, always_wins, eventually, fresh, problem, setting

from jackpot_client import Jackpot

EXAMPLE = TOP / "clients/python/examples/game_backend.py"


class Game:
    """The example as a process."""

    def __init__(self, jackpot_url: str, jackpot_id: str, data: Path, key: str | None = None) -> None:
        secrets = {
            "JACKPOT_URL": jackpot_url,
            "JACKPOT_KEY": key or setting("JACKPOT_TEST_PLAY_KEY"),
            "JACKPOT_READ_KEY": setting("JACKPOT_TEST_READ_KEY"),
        }
        options = ["--jackpot", jackpot_id, "--data", str(data), "--listen", "127.0.0.1:0"]
        command = [sys.executable, str(EXAMPLE), *options]
        self.log = (data.parent / f"{data.name}.log").open("a")
        self.process = subprocess.Popen(
            command, env={**os.environ, **secrets}, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout
        found = re.match(r"listening on (.*)\n", self.process.stdout.readline())
        assert found, Path(self.log.name).read_text()
        self.url = found[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
        self.log.close()

    def call(self, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data), timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def spin(self, player_id: str = "p7") -> tuple[int, dict[str, Any]]:
        return self.call("/spin", {"player_id": player_id, "stake": 100})


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Game]]:
    games: list[Game] = []
    yield games
    for game in games:
        if game.process.poll() is None:
            game.kill()


@pytest.fixture
def jackpot_id(operator: Jackpot) -> str:
    name = fresh("game")
    operator.define_jackpot(always_wins(name))
    return name


def contributed(operator: Jackpot, name: str) -> int:
    return operator.get_jackpot(name).meters[0].contributed


def test_each_win_is_credited_once_and_has_a_receipt(
    operator: Jackpot, proxy: Proxy, tmp_path: Path, started: list[Game], jackpot_id: str
) -> None:
    game = Game(proxy.url, jackpot_id, tmp_path / "game")
    started.append(game)
    # The first answer is lost: the client repeats it, and the win is still one.
    proxy.faults.append(DROP_REPLY)
    for _ in range(5):
        status, round = game.spin()
        assert (status, round["state"], round["prize"], round["amount"]) == (200, "done", "pool", 1)
    assert len(proxy.seen) == 6
    assert game.call("/players/p7") == (200, {"credits": 5, "won": 5})
    status, credit = game.call(f"/credits/{round['payout_id']}")
    assert status == 200 and credit["agrees"] and credit["receipt"]["entry_id"] == round["round_id"]
    assert game.call(f"/rounds/{round['round_id']}") == (200, round)
    assert game.call("/spin", {"player_id": "p7"})[0] == 400
    assert game.call("/rounds/none")[0] == 404 and game.call("/credits/none")[0] == 404
    assert contributed(operator, jackpot_id) == 5


def test_a_round_in_flight_survives_the_death_of_the_game(
    operator: Jackpot, proxy: Proxy, tmp_path: Path, started: list[Game], jackpot_id: str
) -> None:
    game = Game(proxy.url, jackpot_id, tmp_path / "game")
    started.append(game)
    proxy.faults.append(HOLD_REPLY)
    with ThreadPoolExecutor(1) as threads:
        spun = threads.submit(game.spin)
        eventually("the service took the entry, and the game does not know", lambda: proxy.lost)
        game.kill()
        with pytest.raises((OSError, ValueError)):
            spun.result(timeout=20)
    again = Game(proxy.url, jackpot_id, tmp_path / "game")
    started.append(again)
    assert len(proxy.seen) == 2 and proxy.seen[0].body == proxy.seen[1].body
    round_id = json.loads(proxy.seen[0].body)["entry_id"]
    status, round = again.call(f"/rounds/{round_id}")
    assert (status, round["state"], round["amount"]) == (200, "done", 1)
    assert again.call("/players/p7") == (200, {"credits": 1, "won": 1})
    assert contributed(operator, jackpot_id) == 1


def test_a_round_stays_open_while_the_service_is_away_and_is_settled_later(
    operator: Jackpot, proxy: Proxy, tmp_path: Path, started: list[Game], jackpot_id: str
) -> None:
    game = Game(proxy.url, jackpot_id, tmp_path / "game")
    started.append(game)
    proxy.faults.extend([problem(503, "store-unavailable", Retry_After="1")] * 1000)
    status, round = game.spin()
    assert (status, round["state"]) == (202, "open")
    proxy.faults.clear()
    path = f"/rounds/{round['round_id']}"
    eventually("the round is settled in the background", lambda: game.call(path)[1]["state"] == "done")
    assert game.call("/players/p7") == (200, {"credits": 1, "won": 1})


def test_a_round_waits_for_the_end_of_a_suspension(
    operator: Jackpot, url: str, tmp_path: Path, started: list[Game], jackpot_id: str
) -> None:
    game = Game(url, jackpot_id, tmp_path / "game")
    started.append(game)
    pool = f"jp:{{{jackpot_id}}}:pool:grand"
    assert game.spin()[1]["state"] == "done"
    Redis().set(pool, 1_000_000)
    status, round = game.spin()
    assert (status, round["state"]) == (202, "open")
    Redis().set(pool, 0)
    operator.resume_jackpot(jackpot_id, "the pool is as it was")
    path = f"/rounds/{round['round_id']}"
    eventually("the round is settled in the background", lambda: game.call(path)[1]["state"] == "done")
    assert game.call("/players/p7") == (200, {"credits": 2, "won": 2})


def test_each_refusal_has_its_end(
    operator: Jackpot, url: str, tmp_path: Path, started: list[Game], jackpot_id: str
) -> None:
    game = Game(url, jackpot_id, tmp_path / "game")
    started.append(game)
    status, round = game.call("/spin", {"player_id": "p7", "stake": -1})
    assert (status, round["state"]) == (200, "refused") and "stake" in round["reason"]
    operator.pause_jackpot(jackpot_id, "check")
    status, round = game.spin()
    assert (status, round["state"], round["reason"]) == (200, "refused", "jackpot-paused")
    wrong = Game(url, jackpot_id, tmp_path / "other", key="no-key-of-ours")
    started.append(wrong)
    assert wrong.spin()[1]["state"] == "open"
    assert "needs an operator: unauthorized" in Path(wrong.log.name).read_text()
    assert contributed(operator, jackpot_id) == 0

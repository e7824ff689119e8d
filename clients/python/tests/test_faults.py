"""A proxy breaks calls to a real service: the same id is sent again, and counts once."""

import asyncio
import json
import random
import time

import pytest
from support import CUT, DROP_REPLY, HOLD_REPLY, Answer, Fault, Proxy, fresh, never_wins, problem, setting

from jackpot_client import (
    AsyncJackpot,
    Jackpot,
    NoAnswer,
    ProblemError,
    Retry,
    ServiceFault,
    Unavailable,
    UnexpectedAnswer,
)
from jackpot_client.models import BatchEntry, CouponDefinition


def counted(operator: Jackpot, jackpot_id: str) -> int:
    """Entries that the service has counted: each adds 1, and nobody wins."""
    return operator.get_meter(jackpot_id).meters[0].pool


def ids(proxy: Proxy, name: str = "entry_id") -> list[str]:
    return [json.loads(seen.body)[name] for seen in proxy.seen]


@pytest.mark.parametrize(
    "fault",
    [
        CUT,
        DROP_REPLY,
        HOLD_REPLY,
        problem(503, "store-unavailable", Retry_After="1"),
        problem(429, "rate-limited", Retry_After="1"),
    ],
    ids=["cut", "dropped", "held", "503", "429"],
)
def test_a_broken_call_is_repeated_with_its_id_and_counts_once(
    operator: Jackpot, game: Jackpot, proxy: Proxy, fault: Fault
) -> None:
    name = fresh("broken")
    operator.define_jackpot(never_wins(name))
    proxy.faults.extend([fault, fault])
    began = time.monotonic()
    entry = game.enter(name, player_id="p7", stake=100)
    assert len(proxy.seen) == 3 and len({seen.body for seen in proxy.seen}) == 1
    assert ids(proxy) == [entry.entry_id] * 3
    assert (entry.sequence, counted(operator, name)) == (1, 1)
    if fault in (DROP_REPLY, HOLD_REPLY):
        # The service did it at the first try, and answered the second as a repeat.
        assert proxy.lost == [201, 200]
    if isinstance(fault, Answer):
        assert time.monotonic() - began >= 2, "Retry-After is obeyed"


def test_a_play_is_repeated_until_no_jackpot_is_away(operator: Jackpot, game: Jackpot, proxy: Proxy) -> None:
    name = fresh("play")
    operator.define_jackpot(never_wins(name))
    away = json.loads(problem(503, "store-unavailable").body)
    answer = {"entry_id": "round-1", "items": [{"jackpot_id": name, "status": 503, "problem": away}]}
    proxy.faults.extend([DROP_REPLY, Answer(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())])
    play = game.enter_several([name], player_id="p7", stake=100, currency="EUR")
    assert len(proxy.seen) == 3 and ids(proxy) == [play.entry_id] * 3
    assert [item.status for item in play.items] == [200] and proxy.lost == [200]
    assert counted(operator, name) == 1


def test_other_calls_keep_their_ids_too(operator: Jackpot, game: Jackpot, proxy: Proxy, url: str) -> None:
    name, coupon = fresh("others"), fresh("cup")
    operator.define_jackpot(never_wins(name))
    operator.define_coupon(coupon, CouponDefinition(name="A free coffee", stock=5, per_user=5))
    proxy.faults.append(DROP_REPLY)
    assert game.enter_batch(name, [BatchEntry(player_id="p7", stake=1)] * 10).accepted == 10
    proxy.faults.append(DROP_REPLY)
    assert game.issue_coupon(coupon, user_id="u-1").sequence == 1
    with Jackpot(proxy.url, key=setting("JACKPOT_TEST_OPERATE_KEY")) as broken:
        proxy.faults.append(DROP_REPLY)
        broken.adjust_jackpot(name, tier="grand", meter="pool", amount=5, reason="opening")
    assert len(proxy.seen) == 6 and proxy.lost == [201, 201, 201]
    assert [proxy.seen[n].body == proxy.seen[n + 1].body for n in (0, 2, 4)] == [True] * 3
    assert counted(operator, name) == 15 and operator.get_coupon(coupon).issued == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (problem(500, "internal", Retry_After="1"), ServiceFault),
        (problem(429, "rate-limited"), ProblemError),
        (problem(408, "request-timeout"), ProblemError),
        (Answer(502, {"Content-Type": "text/html"}, b"<html>bad gateway"), UnexpectedAnswer),
        (Answer(504, {}, b""), UnexpectedAnswer),
        (Answer(200, {"Content-Type": "text/html"}, b"<html>log in"), UnexpectedAnswer),
    ],
)
def test_other_answers_are_not_repeated(game: Jackpot, proxy: Proxy, answer: Answer, kind: type[Exception]) -> None:
    proxy.faults.append(answer)
    with pytest.raises(kind):
        game.enter("spring", player_id="p7", stake=100)
    assert len(proxy.seen) == 1


def test_a_call_without_an_id_is_sent_once(operator: Jackpot, proxy: Proxy) -> None:
    name = fresh("rotate")
    operator.define_jackpot(never_wins(name))
    proxy.faults.append(DROP_REPLY)
    with Jackpot(proxy.url, key=setting("JACKPOT_TEST_OPERATE_KEY")) as broken, pytest.raises(NoAnswer):
        broken.rotate_epoch(name, "check")
    assert len(proxy.seen) == 1 and len(operator.get_fairness(name).epochs) == 2


def test_one_deadline_holds_for_all_tries(proxy: Proxy) -> None:
    retry = Retry(deadline_s=1.0, first_wait_s=0.05, longest_wait_s=0.1)
    proxy.faults.extend([problem(503, "store-unavailable")] * 1000)
    began = time.monotonic()
    # The last try may have too little time left for the proxy's answer.
    with Jackpot(proxy.url, retry=retry) as client, pytest.raises((Unavailable, NoAnswer)) as caught:
        client.enter("spring", player_id="p7", stake=100)
    assert time.monotonic() - began < 2 and caught.value.tries == len(proxy.seen) > 5
    proxy.faults.clear()
    proxy.faults.extend([HOLD_REPLY] * 1000)
    began = time.monotonic()
    with Jackpot(proxy.url, retry=retry, timeout=30) as client, pytest.raises(NoAnswer):
        client.enter("spring", player_id="p7", stake=100)
    assert time.monotonic() - began < 2, "a try ends at the deadline, also when its own time-out is longer"


def test_nobody_there_is_no_answer() -> None:
    with Jackpot("http://127.0.0.1:1", retry=Retry(deadline_s=0.3)) as client, pytest.raises(NoAnswer) as caught:
        client.enter("spring", player_id="p7", stake=100)
    assert caught.value.tries > 1 and caught.value.__cause__ is not None


def test_two_hundred_entries_through_a_bad_network_count_two_hundred(operator: Jackpot, proxy: Proxy) -> None:
    name, rng = fresh("storm"), random.Random(17)
    operator.define_jackpot(never_wins(name))
    faults: list[Fault] = [CUT, DROP_REPLY, Answer(503, {}, b"")]
    proxy.faults.extend(rng.choice(faults) for _ in range(150))

    async def play() -> set[int]:
        # Long beside what a busy machine needs: only the faults above may break a try.
        retry = Retry(deadline_s=240, first_wait_s=0.01, longest_wait_s=0.1)
        key = setting("JACKPOT_TEST_PLAY_KEY")
        async with AsyncJackpot(proxy.url, key=key, timeout=120, retry=retry) as game:
            plays = [game.enter(name, player_id=f"p{n}", stake=100) for n in range(200)]
            return {entry.sequence for entry in await asyncio.gather(*plays)}

    assert asyncio.run(play()) == set(range(1, 201))
    assert counted(operator, name) == 200 and len(proxy.seen) == 350

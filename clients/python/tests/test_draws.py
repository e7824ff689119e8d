"""A thousand draws of the service, recomputed from the seed that it published."""

import asyncio
from collections import Counter

import pytest
from support import eventually, fresh, pool, setting, wheel

from jackpot_client import AsyncJackpot, Jackpot, SeedNotPublished, VerificationError
from jackpot_client.fairness import check_draw
from jackpot_client.models import CouponDefinition, DefinitionOfVersion, Entry, EpochBody

DRAWS = 1000
CONCURRENT = 16
# More than the coupon's stock, so that some get none and some ask for a second one.
PLAYERS = 40


def test_a_thousand_draws_follow_from_the_published_seed(url: str, operator: Jackpot) -> None:
    name, coupon = fresh("draws"), fresh("cup")
    operator.define_coupon(coupon, CouponDefinition(name="A free coffee", stock=20))
    ranks = [
        {"rank": 1, "weight": 100, "prize": pool()},
        {"rank": 2, "weight": 100, "prize": {"coupon": {"coupon_id": coupon}}},
        {"rank": 3, "weight": 200, "prize": {"fixed": {"tier": "grand", "amount": 2}}},
    ]
    operator.define_jackpot(wheel(name, odds={"total": 1000, "ranks": ranks}, max_redraws=3))

    async def play() -> list[Entry]:
        async with AsyncJackpot(url, key=setting("JACKPOT_TEST_PLAY_KEY")) as game:
            slots = asyncio.Semaphore(CONCURRENT)

            async def one(n: int) -> Entry:
                async with slots:
                    player = f"p{n % PLAYERS}"
                    return await game.enter(name, entry_id=f"e-{n}", player_id=player, stake=1, client_seed=seed(n))

            return await asyncio.gather(*map(one, range(DRAWS)))

    entries = asyncio.run(play())
    with pytest.raises(SeedNotPublished):
        operator.check_draw(name, "e-0")
    operator.rotate_epoch(name, "check")
    epoch = eventually("the seed is published", lambda: published(operator, name))
    definition = operator.get_definition(name, 1)
    for n, entry in enumerate(entries):
        check_draw(entry, definition, epoch, client_seed=seed(n))
    results = Counter(attempt.result for entry in entries for attempt in entry.draw.attempts)
    assert results.keys() >= {"paid", "issued", "none", "retry", "out-of-stock", "already-issued"}, results
    # Under another client seed many an outcome would be the same by chance.
    assert sum(refuses(entry, definition, epoch, "another") for entry in entries) > DRAWS / 4
    assert operator.check_draw(name, "e-1", client_seed=seed(1)) == entries[1]


def refuses(entry: Entry, definition: DefinitionOfVersion, epoch: EpochBody, client_seed: str) -> bool:
    try:
        check_draw(entry, definition, epoch, client_seed=client_seed)
    except VerificationError:
        return True
    return False


def seed(n: int) -> str | None:
    """Every second player brings a seed."""
    return f"mine-{n}" if n % 2 else None


def published(operator: Jackpot, name: str) -> EpochBody | None:
    epoch = operator.get_fairness(name).epochs[0]
    return epoch if epoch.seed else None

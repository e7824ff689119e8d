from collections.abc import Iterator

import pytest
from support import Proxy, setting

from jackpot_client import Jackpot, Retry


@pytest.fixture(scope="session")
def url() -> str:
    return setting("JACKPOT_TEST_URL")


@pytest.fixture(scope="session")
def operator(url: str) -> Iterator[Jackpot]:
    """A client that may do everything."""
    with Jackpot(url, key=setting("JACKPOT_TEST_OPERATE_KEY")) as client:
        yield client


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    yield proxy
    proxy.close()


@pytest.fixture
def game(proxy: Proxy) -> Iterator[Jackpot]:
    """A game back end that reaches the service through the proxy."""
    retry = Retry(deadline_s=10, first_wait_s=0.02, longest_wait_s=0.1)
    with Jackpot(proxy.url, key=setting("JACKPOT_TEST_PLAY_KEY"), timeout=0.5, retry=retry) as client:
        yield client

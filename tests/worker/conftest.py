"""A house on an imitation of the store."""

from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis, FakeServer

from tests.worker.house import House


@pytest.fixture
def house() -> Iterator[House]:
    """An empty store with one worker."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield House(client)
    client.close()

"""The contract of the store is checked on an imitation and on real servers alike."""

from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis

from services.store.connect import connect
from tests import servers

KINDS = [
    pytest.param("imitation", id="imitation"),
    pytest.param("valkey", id="valkey", marks=pytest.mark.server),
    pytest.param("redis", id="redis", marks=pytest.mark.server),
]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, running_servers: dict[str, servers.Server]) -> Iterator[Redis]:
    """An empty store of each kind."""
    if request.param == "imitation":
        client: Redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    else:
        if request.param not in running_servers:
            fresh = servers.Server(servers.program(request.param))
            fresh.start()
            running_servers[request.param] = fresh
        client = connect(running_servers[request.param].url)
        client.flushall()
    yield client
    client.close()

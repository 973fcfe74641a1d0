"""The same rows on the imitation and on both real servers."""

from collections.abc import Iterator

import pytest
from redis import Redis

from services.store.connect import connect


@pytest.fixture(params=["fake", pytest.param("valkey", marks=pytest.mark.server),
                        pytest.param("redis", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest) -> Iterator[Redis]:
    """An empty store."""
    if request.param == "fake":
        yield request.getfixturevalue("redis")
        return
    servers = request.getfixturevalue("running_servers")
    server = _started(servers, request.param)
    client = connect(server.url)
    client.flushall()
    yield client
    client.close()


def _started(running, kind):
    from tests import servers

    if kind not in running:
        running[kind] = servers.Server(servers.program(kind))
        running[kind].start()
    return running[kind]

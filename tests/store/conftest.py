"""The contract of the store is checked on an imitation and on real servers alike."""

import socket
import time
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
    pytest.param("cluster", id="cluster of one", marks=pytest.mark.server),
]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, running_servers: dict[str, servers.Server]) -> Iterator[Redis]:
    """An empty store of each kind."""
    if request.param == "imitation":
        client: Redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    else:
        if request.param not in running_servers:
            running_servers[request.param] = cluster_of_one() if request.param == "cluster" else started(request.param)
        client = connect(running_servers[request.param].url)
        client.flushall()
    yield client
    client.close()


def started(kind: str) -> servers.Server:
    """A running server."""
    server = servers.Server(servers.program(kind))
    server.start()
    return server


def cluster_of_one() -> servers.Server:
    """A server that holds all slots of a cluster: it refuses whatever touches two of them at once."""
    server = servers.Server(servers.program("redis"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server.command = [
        *server.command,
        *("--databases", "1", "--cluster-enabled", "yes", "--cluster-port", str(port)),
    ]
    server.start()
    with Redis.from_url(server.url) as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while "cluster_state:ok" not in str(client.execute_command("CLUSTER", "INFO")):
            time.sleep(0.05)
    return server

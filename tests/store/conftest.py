"""The contract of the store is checked on an imitation and on real stores of every kind alike."""

from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis

from services.store.connect import connect
from services.store.topology import Cluster, masters
from services.store.wire import ask, ask_each_master
from tests import servers, topologies

KINDS = [
    pytest.param("imitation", id="imitation"),
    pytest.param("valkey", id="valkey", marks=pytest.mark.server),
    pytest.param("redis", id="redis", marks=pytest.mark.server),
    pytest.param("sentinel", id="sentinel", marks=pytest.mark.server),
    pytest.param("cluster", id="cluster", marks=pytest.mark.server),
]
_SEVERAL = {"sentinel": topologies.Watched, "cluster": topologies.Clustered}


@pytest.fixture(scope="session")
def running_topologies() -> Iterator[dict[str, topologies.Watched | topologies.Clustered]]:
    """The stores of several servers that some test has asked for; started once and ended with the session."""
    running: dict[str, topologies.Watched | topologies.Clustered] = {}
    yield running
    for each in running.values():
        each.remove()


@pytest.fixture(params=KINDS)
def store(
    request: pytest.FixtureRequest,
    running_servers: dict[str, servers.Server],
    running_topologies: dict[str, topologies.Watched | topologies.Clustered],
) -> Iterator[Redis]:
    """An empty store of each kind."""
    kind = request.param
    if kind == "imitation":
        client: Redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    elif kind in _SEVERAL:
        if kind not in running_topologies:
            running_topologies[kind] = _SEVERAL[kind](topologies.KIND)
            running_topologies[kind].start()
        client = emptied(running_topologies[kind].url)
    else:
        if kind not in running_servers:
            running_servers[kind] = started(kind)
        client = emptied(running_servers[kind].url)
    yield client
    client.close()


def emptied(url: str) -> Redis:
    """A client of the store at `url`, which is now empty."""
    client = connect(url)
    ask_each_master(client, "FLUSHALL")
    if isinstance(client, Cluster):
        client.__class__ = Convenient
    return client


class Convenient(Cluster):
    """A cluster to which tests may talk by the library's methods."""

    def execute_command(self, *args: object, **options: object) -> object:
        """Ask as everybody does, and read the reply as the library does."""
        verb, *words = args
        if verb == "KEYS":
            return sorted(key for each in masters(self) for key in each.keys(*words))
        options.pop("keys", None)
        reply = ask(self, *str(verb).split(), *words)
        callback = self.response_callbacks.get(verb)
        return callback(reply, **options) if callback else reply


def started(kind: str) -> servers.Server:
    """A running server."""
    server = servers.Server(servers.program(kind))
    server.start()
    return server

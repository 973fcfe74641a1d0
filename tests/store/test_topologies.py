"""Where the masters are changes while commands are taken in: none is lost, none is written twice, and all is heard."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from services.intake import Submitted, submit_many
from services.store import channels, commands, keys
from services.store.connect import connect, patiently
from services.store.topology import Cluster
from services.store.wire import StoreUnavailable, ask, ask_many
from tests import topologies
from tests.store.conftest import emptied
from tests.store.samples import ANA

Running = dict[str, topologies.Watched | topologies.Clustered]
FAIL_OVER_SECONDS = 6.0
"""After five the servers give a fail-over by agreement up."""
AGAIN_SECONDS = 20.0
"""A sentinel takes one that nobody finished for failed after a while."""
TABLES = [f"t-{number:02x}-00000000000a" for number in range(64)]

pytestmark = pytest.mark.server


@pytest.fixture
def cluster(running_topologies: Running) -> topologies.Clustered:
    """An empty cluster with all its nodes."""
    if "cluster" not in running_topologies:
        running_topologies["cluster"] = topologies.Clustered(topologies.KIND).start()
    found = running_topologies["cluster"]
    assert isinstance(found, topologies.Clustered)
    emptied(found.url).close()
    return found


@pytest.fixture
def watched(running_topologies: Running) -> topologies.Watched:
    """An empty master with its replicas and sentinels."""
    if "sentinel" not in running_topologies:
        running_topologies["sentinel"] = topologies.Watched(topologies.KIND).start()
    found = running_topologies["sentinel"]
    assert isinstance(found, topologies.Watched)
    emptied(found.url).close()
    return found


class Sender:
    """Sends commands to all tables until told to stop, each until it is answered, and listens to all bells."""

    def __init__(self, url: str) -> None:
        self.store = connect(url)
        self.acknowledged: list[tuple[str, str]] = []
        self.heard = 0
        self.longest = 0.0
        self._ears = channels.Ears(self.store)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._send, self._hear)]

    def __enter__(self) -> "Sender":
        for thread in self._threads:
            thread.start()
        self.progress(50)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._ears.close()
        self.store.close()

    def progress(self, count: int, seconds_max: float = 60.0) -> None:
        """Wait until so many more are acknowledged and some were heard of."""
        until, heard, end = len(self.acknowledged) + count, self.heard, time.monotonic() + seconds_max
        while len(self.acknowledged) < until or self.heard == heard:
            assert time.monotonic() < end, f"{len(self.acknowledged)} acknowledged, {self.heard} heard"
            time.sleep(0.01)

    def _send(self) -> None:
        number = 0
        while not self._stop.is_set():
            batch = [
                Submitted(TABLES[(number + step) % 64], ANA, "", f"k{number + step}", {"type": "open"})
                for step in range(8)
            ]
            began = time.monotonic()
            try:
                patiently(lambda batch=batch: submit_many(self.store, batch), 60.0)
            except StoreUnavailable:
                return
            self.longest = max(self.longest, time.monotonic() - began)
            self.acknowledged += [(each.id, each.key) for each in batch]
            number += 8

    def _hear(self) -> None:
        while not self._stop.is_set():
            try:
                if not self._ears.listening:
                    self._ears.listen([keys.bell(each) for each in keys.all_partitions()])
                self.heard += len(self._ears.hear(0.1))
            except StoreUnavailable:
                time.sleep(0.05)


def check(sender: Sender, store: Redis) -> None:
    """Each acknowledged command is there once; one that nobody was told of may be there as well."""
    acknowledged = list(sender.acknowledged)  # More come while we read.
    found = patiently(
        lambda: commands.read_commands(store, dict.fromkeys(keys.all_partitions(), "0-0"), 100_000), 60.0
    )
    written = [(each.aggregate, each.key) for some in found.values() for each in some]
    assert len(written) == len(set(written))
    assert set(acknowledged) - set(written) == set()
    assert len(acknowledged) > 100


def fail_over(cluster: topologies.Clustered, key: str) -> None:
    """A replica of the master of `key` takes its place by agreement."""
    master = cluster.master_of(key)
    name = topologies.identity(master)
    follower = next(each for each in cluster.nodes if f"slave {name}" in topologies.own_line(each))
    asked = 0.0

    def has_taken_over() -> bool:
        nonlocal asked
        if time.monotonic() - asked > FAIL_OVER_SECONDS:  # On a busy machine it may come to nothing.
            follower.client.execute_command("CLUSTER", "FAILOVER")
            asked = time.monotonic()
        return cluster.master_of(key) is follower

    topologies.wait_for(has_taken_over, follower.said)


CHANGES = [fail_over, topologies.move_key_by_key, topologies.move_slot]


@pytest.mark.parametrize("change", CHANGES)
def test_commands_go_on_while_masters_of_a_cluster_change(
    cluster: topologies.Clustered, change: Callable[[topologies.Clustered, str], None]
) -> None:
    with Sender(cluster.url) as sender:
        for table in TABLES[:2]:
            change(cluster, keys.commands(keys.partition_of(table)))
            sender.progress(300)
        check(sender, sender.store)
    cluster.await_whole()


def test_commands_go_on_when_sentinels_appoint_another_master(watched: topologies.Watched) -> None:
    """Also where the connections to the old one last: it is demoted by us before the sentinels close them."""
    old, asked = watched.master(), float("-inf")

    def is_replaced() -> bool:
        nonlocal asked
        if time.monotonic() - asked > AGAIN_SECONDS:  # On a busy machine it may come to nothing, too.
            asked = time.monotonic()
            with suppress(RedisError):  # One is under way.
                watched.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", "marias")
        return watched.master() is not old

    with Sender(watched.url) as sender:
        topologies.wait_for(is_replaced, old.said)
        old.client.replicaof("127.0.0.1", watched.master().port)
        sender.progress(300)
        patiently(lambda: ask(sender.store, "SET", "key", "2"), 60.0)
    assert watched.master().client.get("key") == b"2"


def test_a_batch_over_all_nodes_keeps_its_order(cluster: topologies.Clustered) -> None:
    store = connect(cluster.url)
    ask_many(store, [("SET", f"k:{{{number}}}", number) for number in range(100)])
    told = ask_many(store, [("PING",), *(("GET", f"k:{{{number}}}") for number in range(100)), ("NOSUCH", "k")])
    assert told[0] == b"PONG"
    assert told[1:-1] == [b"%d" % number for number in range(100)]
    assert isinstance(told[-1], ResponseError)
    assert isinstance(store, Cluster)
    assert len(store.masters()) == 3
    store.close()


def test_what_a_silent_node_was_sent_stays_unknown_and_is_not_sent_twice(cluster: topologies.Clustered) -> None:
    store = connect(cluster.url)
    assert isinstance(store, Cluster)
    for each in store.masters():
        each.connection_pool.connection_kwargs["socket_timeout"] = 0.3
    node = cluster.master_of("k:{0}")
    node.pause()
    try:
        with pytest.raises(StoreUnavailable):
            ask(store, "XADD", "k:{0}", "*", "a", "b")
    finally:
        node.pause(on=False)
    cluster.await_whole()
    assert patiently(lambda: ask(store, "XLEN", "k:{0}"), 60.0) <= 1
    store.close()


def test_a_connection_that_the_library_has_closed_is_noticed_by_who_listens(cluster: topologies.Clustered) -> None:
    """It does so when a node has left the cluster, and would open another one silently, on which nothing is heard."""
    store = connect(cluster.url)
    assert isinstance(store, Cluster)
    for use in (lambda ears: ears.hear(0.0), lambda ears: ears.add([keys.bell("00")])):
        ears = channels.Ears(store)
        ears.listen([keys.bell(each) for each in keys.all_partitions()])
        for each in store.masters():
            each.connection_pool.disconnect()
        with pytest.raises(StoreUnavailable):
            use(ears)
        assert not ears.listening
    store.close()


def test_a_replica_is_not_taken_for_the_master_whatever_a_sentinel_says(
    watched: topologies.Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = connect(watched.url)
    replica = next(each for each in watched.servers if each is not watched.master())
    told = ("127.0.0.1", replica.port)
    monkeypatch.setattr(store.connection_pool.sentinel_manager, "discover_master", lambda name: told)
    with pytest.raises(StoreUnavailable, match="no master any more"):
        ask(store, "GET", "key")
    monkeypatch.undo()
    assert ask(store, "GET", "key") is None
    store.close()

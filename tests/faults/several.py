"""Rows 5, 6 and 11: stores of several servers, which are killed, paused, cut off and replaced, and whose slots move.

Each fault ends once its table goes on and all servers are back: how long that took is noted.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, wraps
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from services.store import keys
from services.store.wire import StoreUnavailable, ask_many
from tests import topologies
from tests.faults.processes import LocalStore, Store
from tests.faults.registry import Inject, Scene, fault
from tests.faults.shim.network import HOSTS, Network, network
from tests.topologies import HERE, Clustered, Node, Place, Watched

GAP_SECONDS_MAX = 10.0
"""So soon play goes on where the machine has nothing else to do."""
GOES_ON_SECONDS_MAX = 120.0
CUT_SECONDS = (1.0, 8.0)
SEVERAL = ("sentinel", "cluster")
REPLICAS = 2
ENVIRONMENT = {"MARIAS_REPLICAS": f"{REPLICAS}"}
"""What roles are told: all replicas must confirm. With one of two a cluster has lost commands while links were cut."""


class SeveralStore:
    """A store of several servers, and one apart for the queue of jobs; `hosts` where each has a host of its own."""

    def __init__(self, folder: Path, several: Watched | Clustered, hosts: Network | None = None) -> None:
        self.several, self.hosts = several, hosts
        self.url = several.url
        queue = LocalStore(folder)
        self.jobs_url, self.programs = queue.jobs_url, queue.programs
        self._queue = queue
        self.gaps: list[float] = []

    def is_ready(self) -> bool:
        """Does the queue's server answer? The others are waited for before."""
        return self._queue.is_ready()

    def can_confirm(self) -> bool:
        """Has the master, has each master, the replicas without which nothing is answered?"""
        try:
            if isinstance(self.several, Watched):
                return topologies.followers(self.several.master().client) == len(self.several.servers) - 1
            masters = self.several.masters()
            return len(masters) >= 3 and all(topologies.followers(each.client) >= REPLICAS for each in masters)
        except (RedisError, OSError, AssertionError):
            return False

    def master_of(self, table: str) -> Node:
        """Who has the table now."""
        if isinstance(self.several, Watched):
            return self.several.master()
        return self.several.master_of(keys.commands(keys.partition_of(table)))

    def replicas_of(self, master: Node) -> list[Node]:
        """The nodes that follow a master."""
        if isinstance(self.several, Watched):
            return [each for each in self.several.servers if each is not master]
        name = topologies.identity(master)
        living = [each for each in self.several.nodes if each.process is not None]
        return [each for each in living if f"slave {name}" in topologies.own_line(each)]

    def host_of(self, node: Node) -> int:
        """The number of the host that a node runs on."""
        assert self.hosts is not None
        return next(host for host in range(HOSTS) if self.hosts.address(host) == node.place.address)


@contextmanager
def store_of(kind: str, servers: str = topologies.KIND) -> Iterator[Callable[[Path], Store]]:
    """What makes the store of a run: a fresh one, on hosts of their own where the machine can make them."""
    with ExitStack() as made:
        hosts = None
        if why_no_hosts() is None:
            hosts = made.enter_context(network())
        several = {"sentinel": Watched, "cluster": Clustered}[kind](servers, places=_places(hosts))
        made.callback(several.remove)
        several.start()
        yield lambda folder: SeveralStore(folder, several, hosts)


def _places(hosts: Network | None) -> Sequence[Place]:
    if hosts is None:
        return HERE
    return [Place(hosts.address(each), ("ip", "netns", "exec", hosts.name(each))) for each in range(HOSTS)]


@cache
def why_no_hosts() -> str | None:
    """Why servers cannot have hosts of their own on this machine; None: they can."""
    if os.environ.get("MARIAS_FAULTS_HOSTS") == "0":
        return "MARIAS_FAULTS_HOSTS is 0"
    try:
        with network():
            return None
    except pytest.skip.Exception as error:
        return str(error)


Change = Callable[[SeveralStore, Scene, str], None]


def _several(
    rows: str, *, weight: int = 1, stores: tuple[str, ...] = SEVERAL, needs: Callable[[], str | None] = lambda: None
) -> Callable[[Change], Inject]:
    """A fault of such a store: it is over when a table that was chosen goes on, and all servers are back."""

    def enter(change: Change) -> Inject:
        @wraps(change)
        def make(scene: Scene) -> None:
            store = scene.system.store
            assert isinstance(store, SeveralStore)
            table = scene.chance.choice(scene.tables)
            name = change.__name__.replace("_", "-")
            before, began = _version(scene.redis, table), time.monotonic()
            change(store, scene, table)
            if not scene.until(lambda: _version(scene.redis, table) > before, GOES_ON_SECONDS_MAX):
                scene.complain(f"{name}: {table} did not go on")
            gap = time.monotonic() - began
            store.gaps.append(gap)
            scene.note(f"{name}: its table went on after {gap:.1f} s")
            with suppress(RedisError, OSError):
                store.several.heal()

        return fault(rows, weight=weight, stores=stores, needs=needs)(make)

    return enter


@_several("5", weight=2)
def kill_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """kill -9 of the master that has a table; it is started again once another has taken its place."""
    master = store.master_of(table)
    master.kill()
    scene.until(lambda: _other(store, table, master), 30.0)
    master.start()  # All replicas must confirm: it is one of them now.


@_several("5")
def kill_master_briefly(store: SeveralStore, scene: Scene, table: str) -> None:
    """kill -9 of the master that has a table; it is started again at once, and may have been replaced or not."""
    master = store.master_of(table)
    master.kill()
    scene.wait(scene.chance.uniform(0.0, 3.0))
    master.start()


@_several("5")
def kill_replica(store: SeveralStore, scene: Scene, table: str) -> None:
    """kill -9 of a replica of the master that has a table; it is started again after a while."""
    replica = scene.chance.choice(store.replicas_of(store.master_of(table)))
    replica.kill()
    scene.wait(scene.chance.uniform(0.0, 4.0))
    replica.start()


@_several("5")
def pause_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """SIGSTOP of a master until another has taken its place; awake again it thinks for a moment that it still is."""
    master = store.master_of(table)
    master.pause()
    scene.until(lambda: _other(store, table, master), 30.0)
    master.pause(on=False)


@_several("5")
def pause_replica(store: SeveralStore, scene: Scene, table: str) -> None:
    """SIGSTOP of a replica of the master that has a table, for a while."""
    replica = scene.chance.choice(store.replicas_of(store.master_of(table)))
    replica.pause()
    scene.wait(scene.chance.uniform(0.5, 5.0))
    replica.pause(on=False)


@_several("11", weight=2)
def replace_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """A replica takes the place of its living master: by agreement in a cluster, by order of a sentinel."""
    _replace(store, scene, table)


@_several("11")
def replace_master_by_what_is_left(store: SeveralStore, scene: Scene, table: str) -> None:
    """The same while the other replica is paused, and only learns of it when it is awake again."""
    asleep = scene.chance.choice(store.replicas_of(store.master_of(table)))
    asleep.pause()
    scene.wait(scene.chance.uniform(0.1, 1.5))
    _replace(store, scene, table, asleep)
    asleep.pause(on=False)


@_several("5", stores=("sentinel",))
def kill_sentinel(store: SeveralStore, scene: Scene, table: str) -> None:
    """kill -9 of the sentinel that clients ask first, while another replaces the master; it is started again."""
    assert isinstance(store.several, Watched)
    first, second, _ = store.several.sentinels
    first.kill()
    with suppress(RedisError):
        second.client.execute_command("SENTINEL", "FAILOVER", "marias")
    scene.wait(scene.chance.uniform(0.5, 3.0))
    first.start()


@_several("11", stores=("cluster",))
def move_slot(store: SeveralStore, scene: Scene, table: str) -> None:
    """The slot of a table moves to another master under its players' hands."""
    assert isinstance(store.several, Clustered)
    with suppress(RedisError):
        topologies.move_slot(store.several, keys.commands(keys.partition_of(table)))


@_several("6", needs=why_no_hosts)
def cut_master_off(store: SeveralStore, scene: Scene, table: str) -> None:
    """The host of the master that has a table is cut off from all others, and from the roles, for a while."""
    _cut(store, scene, store.master_of(table))


@_several("6", needs=why_no_hosts)
def cut_replica_off(store: SeveralStore, scene: Scene, table: str) -> None:
    """The host of a replica is cut off from all others for a while."""
    _cut(store, scene, scene.chance.choice(store.replicas_of(store.master_of(table))))


@_several("6", needs=why_no_hosts)
def master_unheard_by_one(store: SeveralStore, scene: Scene, table: str) -> None:
    """What the master's host sends to the host of one replica is lost for a while; all else is heard."""
    assert store.hosts is not None
    master = store.master_of(table)
    pair = store.host_of(master), store.host_of(scene.chance.choice(store.replicas_of(master)))
    store.hosts.drop(*pair)
    scene.wait(scene.chance.uniform(*CUT_SECONDS))
    store.hosts.drop(*pair, on=False)


@_several("6", needs=why_no_hosts)
def flapping_link(store: SeveralStore, scene: Scene, table: str) -> None:
    """The link of the master's host goes and comes, every half a second or so."""
    assert store.hosts is not None
    host = store.host_of(store.master_of(table))
    for _ in range(scene.chance.randint(4, 8)):
        store.hosts.cut(host)
        scene.wait(scene.chance.uniform(0.1, 0.7))
        store.hosts.cut(host, on=False)
        scene.wait(scene.chance.uniform(0.1, 0.7))


def _replace(store: SeveralStore, scene: Scene, table: str, asleep: Node | None = None) -> None:
    master = store.master_of(table)
    with suppress(RedisError):  # Another fail-over may not be over.
        if isinstance(store.several, Watched):
            store.several.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", "marias")
        else:
            awake = [each for each in store.replicas_of(master) if each is not asleep]
            scene.chance.choice(awake).client.execute_command("CLUSTER", "FAILOVER")
    scene.until(lambda: _other(store, table, master), 15.0)  # It may come to nothing, but not into the next fault.


def _cut(store: SeveralStore, scene: Scene, node: Node) -> None:
    assert store.hosts is not None
    host = store.host_of(node)
    store.hosts.cut(host)
    scene.wait(scene.chance.uniform(*CUT_SECONDS))
    store.hosts.cut(host, on=False)


def _other(store: SeveralStore, table: str, master: Node) -> bool:
    """Is another node the master now? The paused one is not asked."""
    if isinstance(store.several, Watched):
        return store.several.master() is not master
    key = keys.commands(keys.partition_of(table))
    for awake in store.several.nodes:
        if awake is master or awake.process is None:
            continue
        with suppress(RedisError, OSError):
            slot = awake.client.execute_command("CLUSTER", "KEYSLOT", key)
            for start, end, owner, *_ in awake.client.execute_command("CLUSTER", "SLOTS"):
                if start <= slot <= end:
                    return bool(owner[1] != master.port)
    return False


def _version(redis: Redis, table: str) -> int:
    try:
        [version] = ask_many(redis, [("HGET", keys.view(table), "v")])
    except (StoreUnavailable, RedisError):
        return 0
    return int(version or 0)

"""Rows 5 and 11: stores of several servers, whose masters are killed, paused, replaced, and whose slots move."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from services.store import keys
from services.store.wire import StoreUnavailable, ask_many
from tests import topologies
from tests.faults.processes import LocalStore
from tests.faults.registry import Fault, Scene
from tests.topologies import Clustered, Node, Watched

GAP_SECONDS_MAX = 10.0
"""So soon play goes on where the machine has nothing else to do."""
HEAL_SECONDS_MAX = 60.0
ENVIRONMENT = {"MARIAS_REPLICAS": "1"}
"""What roles are told: nobody hears of what only one server has."""


class SeveralStore:
    """A store of several servers, and one apart for the queue of jobs."""

    def __init__(self, folder: Path, several: Watched | Clustered) -> None:
        self.several = several
        self.url = several.url
        queue = LocalStore(folder)
        self.jobs_url, self.programs = queue.jobs_url, queue.programs
        self._queue = queue
        self.gaps: list[float] = []

    def is_ready(self) -> bool:
        """Does the queue's server answer? The others are waited for before."""
        return self._queue.is_ready()

    def master_of(self, table: str) -> Node:
        """Who has the table now."""
        if isinstance(self.several, Watched):
            return self.several.master()
        return self.several.master_of(keys.commands(keys.partition_of(table)))


def faults(store: Callable[[], SeveralStore], *, cluster: bool) -> list[Fault]:
    """The faults of `store`, the first once for each of the others."""
    made: list[tuple[str, str, Callable[[SeveralStore, Scene, str], None], int]] = [
        ("kill-master", "5", kill_master, 2),
        ("pause-master", "5", pause_master, 1),
        ("replace-master", "11", replace_master, 1),
    ]
    if cluster:
        made.append(("move-slot", "11", move_slot, 1))
    return [_fault(name, rows, inject, weight, store) for name, rows, inject, weight in made]


def _fault(
    name: str, rows: str, inject: Callable[[SeveralStore, Scene, str], None], weight: int,
    store: Callable[[], SeveralStore],
) -> Fault:
    def make(scene: Scene) -> None:
        several = store()
        table = scene.chance.choice(scene.tables)
        before, began = _version(scene.redis, table), time.monotonic()
        inject(several, scene, table)
        if not scene.until(lambda: _version(scene.redis, table) > before, 60.0):
            scene.complain(f"{name}: {table} did not go on")
        gap = time.monotonic() - began
        several.gaps.append(gap)
        scene.note(f"{name}: its table went on after {gap:.1f} s")
        with suppress(RedisError, OSError):
            several.several.heal()

    return Fault(name, rows, (inject.__doc__ or "").splitlines()[0], make, weight, False, lambda: None)


def kill_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """kill -9 of the master that has a table; it stays away until another has taken its place."""
    store.master_of(table).kill()


def pause_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """SIGSTOP of a master until another has taken its place; awake again it thinks for a moment that it still is."""
    master = store.master_of(table)
    master.pause()
    scene.until(lambda: _other(store, table, master), 30.0)
    master.pause(on=False)


def replace_master(store: SeveralStore, scene: Scene, table: str) -> None:
    """A replica takes the place of its living master by agreement."""
    master = store.master_of(table)
    with suppress(RedisError):  # Another fail-over may not be over.
        if isinstance(store.several, Watched):
            store.several.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", "marias")
        else:
            name = topologies.identity(master)
            followers = [each for each in store.several.nodes if f"slave {name}" in topologies.own_line(each)]
            scene.chance.choice(followers).client.execute_command("CLUSTER", "FAILOVER")
    scene.until(lambda: _other(store, table, master), 15.0)  # It may come to nothing, but not into the next fault.


def move_slot(store: SeveralStore, scene: Scene, table: str) -> None:
    """The slot of a table moves to another master under its players' hands."""
    assert isinstance(store.several, Clustered)
    with suppress(RedisError):
        topologies.move_slot(store.several, keys.commands(keys.partition_of(table)))


def _other(store: SeveralStore, table: str, master: Node) -> bool:
    """Is another node the master now? The paused one is not asked."""
    if isinstance(store.several, Watched):
        return store.several.master() is not master
    awake = next(each for each in store.several.nodes if each is not master and each.process is not None)
    slot = awake.client.execute_command("CLUSTER", "KEYSLOT", keys.commands(keys.partition_of(table)))
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

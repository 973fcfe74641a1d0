"""The network is cut between hosts: what was acknowledged after a replica had it survives, whoever was cut off.

Beside each sender that waits for a replica runs one that does not. What that one loses by the same cut shows that the
test can see a loss.
"""

import os
import time
from collections.abc import Callable

import pytest
from redis import Redis

from services.store import keys
from tests.faults.shim.network import Network, Watched, acknowledged, network, sender
from tests.faults.shim.send import ACTOR

CUTS = int(os.environ.get("MARIAS_TEST_PARTITIONS", "1"))
"""How often each partition is made: once on CI, and only the first kind; fifty times in a night."""
AWAY_SECONDS = 7.0  # Longer than the sentinels take to appoint another, where nothing else runs.
APPOINTED_SECONDS_MAX = 120.0

pytestmark = pytest.mark.server


def alone(watched: Watched, master: int) -> None:
    """The master is cut off together with a client, until another has taken its place."""
    hosts = watched.hosts
    hosts.cut(master)
    end = time.monotonic() + APPOINTED_SECONDS_MAX
    time.sleep(AWAY_SECONDS)
    while watched.master() in (None, master):
        assert time.monotonic() < end, "nobody has taken its place"
    hosts.cut(master, on=False)


def deaf(watched: Watched, master: int) -> None:
    """What the master sends to one replica is lost, and comes from it."""
    hosts = watched.hosts
    hosts.drop(master, (master + 1) % 3)
    time.sleep(AWAY_SECONDS)
    hosts.drop(master, (master + 1) % 3, on=False)


def flapping(watched: Watched, master: int) -> None:
    """The master's link goes and comes."""
    hosts = watched.hosts
    for _ in range(6):
        hosts.cut(master)
        time.sleep(0.9)
        hosts.cut(master, on=False)
        time.sleep(0.4)


FAULTS = [alone, deaf, flapping] if CUTS > 1 else [alone]
REPLICAS = 1
"""That any must confirm: where sentinels watch, it means all. With one of two, the old master still had the ear of one
replica after the other was promoted."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_what_replicas_had_survives(fault: Callable[[Watched, int], None]) -> None:
    with network() as hosts:
        watched = Watched(hosts)
        unsafe = 0
        for number in range(CUTS):
            master = watched.await_whole()
            names = {
                f"waits-{number}-{host}": sender(watched, host, REPLICAS, f"waits-{number}-{host}")
                for host in (master, (master + 1) % 3)
            }
            hasty = f"hasty-{number}"
            names[hasty] = sender(watched, master, 0, hasty)
            await_all(hosts, names, 20)
            fault(watched, master)
            before = {name: len(acknowledged(hosts, name)) for name in names}
            watched.await_whole()
            await_all(hosts, names, 20, before)  # All recover alone.
            for process in names.values():
                process.kill()
                process.wait()
            store = watched.client(watched.await_whole())
            lost = {name: missing(store, acknowledged(hosts, name)) for name in names}
            unsafe += lost.pop(hasty)
            assert set(lost.values()) == {0}, lost
            counts = {name: len(acknowledged(hosts, name)) for name in names}
            print(f"{fault.__name__}: acknowledged {counts}, lost {lost}; "
                  f"without waiting lost {unsafe} so far")
        if fault is alone:
            assert unsafe > 0, "the cut loses nothing to anybody: it proves nothing"


def await_all(hosts: Network, names: dict, count: int, before: dict[str, int] | None = None) -> None:
    """Until each sender has so many more acknowledged."""
    end = time.monotonic() + 120
    for name in names:
        while len(acknowledged(hosts, name)) < (before or {}).get(name, 0) + count:
            assert time.monotonic() < end, f"{name}: {(hosts.folder / name).read_text()[-500:]}"
            time.sleep(0.05)


def missing(store: Redis, taken: list[tuple[str, str]]) -> int:
    """How many acknowledged commands the store does not hold."""
    asked = store.pipeline(transaction=False)
    for table, key in taken:
        asked.hexists(keys.reservations(table), keys.receipt_field(ACTOR, key))
    return asked.execute().count(False)

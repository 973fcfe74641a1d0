"""A worker that starts again under its name takes back at once what its killed predecessor held."""

import pytest

from services.store import keys, leases
from services.store.connect import connect

PARTITIONS = keys.all_partitions(3)


@pytest.fixture
def store(server_url):
    with connect(server_url) as client:
        yield client


def test_what_the_dead_one_held_is_free_and_its_name_is_off_the_roll(store):
    leases.heartbeat(store, "home-worker.aaaa")
    leases.claim(store, PARTITIONS, "home-worker.aaaa")
    assert leases.bury(store, PARTITIONS, "home-worker") == PARTITIONS
    assert leases.heartbeat(store, "").workers == []
    assert leases.claim(store, PARTITIONS, "home-worker.bbbb").keys() == set(PARTITIONS)


def test_the_next_owner_still_knows_that_the_last_one_died(store):
    leases.claim(store, PARTITIONS, "home-worker.aaaa")
    leases.bury(store, PARTITIONS, "home-worker")
    assert all(lease.orphaned for lease in leases.claim(store, PARTITIONS, "home-worker.bbbb").values())


def test_others_keep_what_they_hold(store):
    leases.heartbeat(store, "home-worker-2.aaaa")
    leases.claim(store, PARTITIONS, "home-worker-2.aaaa")
    assert leases.bury(store, PARTITIONS, "home-worker") == []
    assert leases.heartbeat(store, "").workers == ["home-worker-2.aaaa"]
    assert leases.claim(store, PARTITIONS, "home-worker.bbbb") == {}

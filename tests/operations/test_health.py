"""What is wrong is said in words, and what is only a danger is a warning."""

import pytest

from services.operations.fare import Fare, Jobs, Server
from services.operations.health import troubles, warnings
from services.store.deal_log import NO_LOG
from services.store.standing import Seen, Standing

SERVER = Server("valkey 9.1.2", True, "always", True, 100, 0, "noeviction", 0)
PARTITION = Standing("00", "w", 0, 0, 0, 1, 0, 0, {"projections": 0, "bots": 0, "settlement": 0})
WELL = Fare(1_000, [SERVER], [Seen("w", 10)], [PARTITION, PARTITION._replace(partition="01")], [], {}, None)


def with_partition(**changed: object) -> Fare:
    return WELL._replace(partitions=[PARTITION, PARTITION._replace(partition="01", **changed)])


def test_nothing_is_wrong_where_nothing_is() -> None:
    assert troubles(WELL) == warnings(WELL) == []


@pytest.mark.parametrize(("fare", "says"), [
    (WELL._replace(workers=[]), "no worker lives"),
    (with_partition(owner=""), "1 of 2 partitions have no owner: 01"),
    (with_partition(waiting=3, oldest_ms=6_000), "commands wait for up to 6 s in 1 partitions: 01"),
    (with_partition(dead=2), "2 dead letters: look at marias dead list"),
    (with_partition(frozen=1), "1 table whose projections are stopped"),
    (with_partition(stuck=1), "1 payment that could not be posted"),
    (with_partition(lag_ms=PARTITION.lag_ms | {"bots": 11_000}), "bots are 11 s behind"),
    (WELL._replace(servers=[SERVER._replace(policy="allkeys-lru")]), "may evict keys (maxmemory-policy allkeys-lru)"),
    (WELL._replace(servers=[SERVER._replace(last_write_ok=False)]), "could not write its append-only file"),
    (WELL._replace(servers=[SERVER._replace(memory=95, memory_max=100)]), "nearly full: 95 of 100 bytes"),
    (WELL._replace(log=NO_LOG._replace(wrong="the log is forked")), "the log is forked"),
    (WELL._replace(log=NO_LOG._replace(stuck=2)), "the finished deals of 2 tables cannot be logged"),
    (WELL._replace(at=400_000, log=NO_LOG._replace(size=3, signed=2, at=1_000)), "is signed no more since 399 s"),
    (WELL._replace(jobs=[Jobs("bots", 5, 61_000, 0)]), "jobs of the queue bots wait for 61 s"),
])
def test_each_trouble_is_named(fare: Fare, says: str) -> None:
    [trouble] = troubles(fare)
    assert says in trouble


def test_too_few_replicas_are_a_trouble_only_where_some_must_confirm() -> None:
    assert troubles(WELL, replicas=0) == []
    [trouble] = troubles(WELL, replicas=1)
    assert "1 replicas must confirm each write, and a master has 0" in trouble


def test_what_may_cost_something_one_day_is_a_warning() -> None:
    [everysec] = warnings(WELL._replace(servers=[SERVER._replace(fsync="everysec")] * 3))
    assert "appendfsync is everysec" in everysec
    assert "WAITAOF does not mend that" in everysec
    [none] = warnings(WELL._replace(servers=[SERVER._replace(aof=False)]))
    assert "no append-only file" in none
    unknown = with_partition(dead=None, frozen=None, stuck=None, lag_ms=dict.fromkeys(PARTITION.lag_ms))
    assert troubles(unknown) == [], "what this process may not know is no trouble"

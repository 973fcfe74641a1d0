"""A table that is played fast is looked through now and then, not after each deal, and nothing is kept for it."""

import pytest
from fakeredis import FakeRedis

from services.store import clock, keys, leases
from services.store.leases import Lease
from services.worker import ticker
from services.worker.tables import Tables
from services.worker.ticker import FORGET_PAUSE_MS, Ticker
from tests.worker.house import OTHER, TABLE

MINUTE = FORGET_PAUSE_MS


@pytest.fixture
def world(redis: FakeRedis, monkeypatch: pytest.MonkeyPatch):
    """A ticker that owns partition 01, and the calls that it makes."""
    calls: list[list[tuple[str, ...]]] = []
    original = ticker.forget_many
    monkeypatch.setattr(ticker, "forget_many", lambda store, due, tag: calls.append([each[1:] for each in due]) or
                        original(store, due, tag))
    owned = leases.claim(redis, ["01"], "test")
    return redis, Ticker(redis, Tables(redis)), owned, calls


def member(version: int, table: str = TABLE) -> str:
    return clock.forget_member(table, version)


def due(redis: FakeRedis, told: Ticker, at: int, *members: str) -> None:
    redis.zadd(keys.due("01"), dict.fromkeys(members, at))
    told.note([(each, at) for each in members])


def test_what_comes_within_a_minute_is_done_at_once(world):
    redis, told, owned, calls = world
    due(redis, told, 1_000, member(7))
    told.tick(1_000, owned)
    assert calls == [[(member(7),)]]
    for number in range(8, 200):
        due(redis, told, 1_000 + number, member(number))
        told.tick(1_000 + number, owned)
    assert len(calls) == 1
    assert told.next_at() == 1_000 + MINUTE
    told.tick(1_000 + MINUTE, owned)
    assert len(calls) == 2
    assert calls[1] == [tuple(member(number) for number in range(199, 7, -1))]
    assert redis.zcard(keys.due("01")) == 0
    assert told.next_at() is None


def test_another_table_does_not_wait(world):
    redis, told, owned, calls = world
    due(redis, told, 1_000, member(7))
    told.tick(1_000, owned)
    due(redis, told, 1_001, member(3, OTHER), member(8))
    told.tick(1_001, owned)
    assert calls == [[(member(7),)], [(member(3, OTHER),)]]


def test_many_at_once_are_one_look(world):
    redis, told, owned, calls = world
    due(redis, told, 1_000, *(member(number) for number in range(1, 40)))
    told.tick(1_000, owned)
    assert [each[0] for [each] in calls] == [member(39)]
    assert redis.zcard(keys.due("01")) == 0


def test_what_waits_for_a_lost_partition_is_its_next_owners(world):
    redis, told, owned, calls = world
    due(redis, told, 1_000, member(7))
    told.tick(1_000, owned)
    due(redis, told, 1_001, member(8), member(9))
    told.tick(1_001, owned)
    told.drop("01")
    told.tick(1_000 + MINUTE, dict[str, Lease]())
    assert len(calls) == 1
    assert redis.zcard(keys.due("01")) == 2

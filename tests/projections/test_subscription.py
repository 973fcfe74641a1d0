"""The loop that projects: once and completely, whoever dies when, however many run; a fault stops one table only."""

import json
import random
from collections.abc import Sequence

import pytest
from redis import Redis

from services.projections import advance
from services.projections import project as steps
from services.projections.subscription import Subscription
from services.store import keys, outputs, projected
from services.store.outbox import START
from services.store.outputs import LIVE, Space, Step
from tests.cast import SEATED
from tests.projections.tables import PARTITIONS, Tables, everything, follow, seated

TABLE = "t-0c-0123456789ab"
OTHER = "t-0c-ba9876543210"


class Died(Exception):
    """The process is gone."""


def drop(store: Redis) -> None:
    """All projections are lost."""
    for name in store.keys("pj:*"):
        store.delete(name)


def afresh(store: Redis) -> dict[str, object]:
    """What the projections tell when they are made again from the events alone."""
    drop(store)
    follow(store)
    return everything(store)


def test_projected_twice_is_projected_once(redis: Redis) -> None:
    tables = Tables(redis, seed=1)
    for _ in tables.wander(400):
        pass
    follow(redis)
    once = everything(redis)
    assert len(once) > 10
    for partition in PARTITIONS:
        redis.hset(keys.checkpoint(f"p{partition}"), partition, START)
    follow(redis)
    assert everything(redis) == once
    assert afresh(redis) == once


@pytest.mark.parametrize("seed", range(3))
def test_the_interleaving_of_readers_and_writers_changes_nothing(redis: Redis, seed: int) -> None:
    tables = Tables(redis, seed)
    readers = [Subscription(redis, PARTITIONS) for _ in range(2)]
    for reader in readers:
        reader.begin()
    for _ in tables.wander(500):
        if tables.rng.random() < 0.1:
            tables.rng.choice(readers).turn(None)
    for reader in readers:
        while reader.turn(None):
            pass
    live = everything(redis)
    accounts = [name.decode().rpartition(":")[2] for name in redis.keys("pj:*:bal:*")]
    assert sum(projected.score(redis, account, None, 1).balance for account in accounts) == 0
    assert afresh(redis) == live


@pytest.mark.parametrize("seed", range(6))
def test_a_death_between_any_two_steps_loses_and_doubles_nothing(
    redis: Redis, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    commit_many = outputs.commit_many

    def mortal(store: Redis, work: Sequence[tuple[Step, Sequence]], space: Space = LIVE) -> list[bool]:
        """Dies before, after, or when only some of the slots have been written."""
        if rng.random() < 0.15:
            commit_many(store, work[: rng.randrange(len(work) + 1)], space)
            raise Died
        return commit_many(store, work, space)

    monkeypatch.setattr(advance, "commit_many", mortal)
    tables = Tables(redis, seed)
    reader, deaths = None, 0
    for _ in tables.wander(400):
        if rng.random() < 0.2:
            try:
                if reader is None:
                    reader = Subscription(redis, PARTITIONS)
                    reader.begin()
                reader.turn(None)
            except Died:
                reader, deaths = None, deaths + 1
    monkeypatch.undo()
    assert deaths > 5
    follow(redis)
    live = everything(redis)
    assert afresh(redis) == live


def test_a_log_that_was_trimmed_is_not_missed(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=2)
    follow(redis)
    live = everything(redis)
    redis.xtrim(keys.log("0c"), 0, approximate=False)
    assert afresh(redis) == live


def test_a_store_that_is_emptied_and_filled_under_a_running_reader_is_projected_again(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    reader = follow(redis)
    drop(redis)
    tables.play(TABLE)
    while reader.turn(None):
        pass
    follow(redis)
    assert len(projected.bank(redis, TABLE, 0, 10).deals) == 2


def break_deal(monkeypatch: pytest.MonkeyPatch, table: str, number: int) -> None:
    """The record of one deal of one table cannot be written by this build."""
    score, record = steps.score, steps.record
    seen = {}

    def note(sheet, name, told, event):
        seen["table"] = name
        return score(sheet, name, told, event)

    def refuse(deal, events, seats):
        if seen["table"] == table and deal == number:
            raise LookupError("an event of the future")
        return record(deal, events, seats)

    monkeypatch.setattr(steps, "score", note)
    monkeypatch.setattr(steps, "record", refuse)


def test_an_event_that_a_projection_cannot_take_stops_its_table_loudly(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_deal(monkeypatch, TABLE, 2)
    tables = seated(redis, TABLE)
    tables.open(OTHER)
    for player in SEATED:
        tables.sit(OTHER, player)
    reader = follow(redis)
    for _ in range(3):
        tables.play(TABLE)
        tables.play(OTHER)
        while reader.turn(None):
            pass
    assert len(projected.bank(redis, TABLE, 0, 10).deals) == 1, "it stands where it was"
    assert len(projected.bank(redis, OTHER, 0, 10).deals) == 3, "others go on"
    error = json.loads(outputs.frozen(redis, "0c")[TABLE])
    assert error["error"] == "LookupError: an event of the future"
    assert "refuse" in error["traceback"]
    assert caplog.text.count("are stopped") == 1

    follow(redis)
    assert len(projected.bank(redis, TABLE, 0, 10).deals) == 1, "the same build meets the same fault"
    monkeypatch.undo()
    follow(redis)
    assert outputs.frozen(redis, "0c") == {}, "a build that can take it goes on from there"
    live = everything(redis)
    assert afresh(redis) == live


@pytest.mark.parametrize("name", [keys.bank(TABLE), keys.records(TABLE), keys.sealed_records(TABLE)])
def test_a_key_of_another_type_stops_its_table_and_no_other(redis: Redis, name: str) -> None:
    tables = seated(redis, TABLE)
    tables.open(OTHER, bots=(0, 1, 2))
    redis.set(name, "?")
    follow(redis)
    for _ in range(2):
        tables.play(TABLE)
        tables.play(OTHER)
        follow(redis)
    assert list(outputs.frozen(redis, "0c")) == [TABLE]
    assert len(projected.bank(redis, OTHER, 0, 10).deals) == 2
    redis.delete(name)
    follow(redis)
    assert outputs.frozen(redis, "0c") == {}


def test_a_hole_in_a_history_stops_its_table(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    follow(redis)
    tables.play(TABLE)
    redis.xdel(keys.events(TABLE), "9-0")
    follow(redis)
    assert "version 9 is missing" in json.loads(outputs.frozen(redis, "0c")[TABLE])["error"]
    assert projected.bank(redis, TABLE, 0, 10).deals == ()


def test_an_old_checkpoint_is_refused(redis: Redis) -> None:
    freeze = outputs.Freeze(TABLE, b"{}")
    assert outputs.commit(redis, Step("p0c", "0c", "", "5-0"), [freeze])
    assert not outputs.commit(redis, Step("p0c", "0c", "", "6-0"), [freeze])
    assert not outputs.commit(redis, Step("p0c", "0c", "4-0", "6-0"), [freeze])
    assert outputs.commit(redis, Step("p0c", "0c", "5-0", "6-0"), [freeze])
    assert outputs.checkpoints(redis, ["0c", "0d"]) == {"0c": "6-0", "0d": ""}


def test_a_late_reader_does_not_bring_an_old_row_back_to_the_lobby(redis: Redis) -> None:
    step, place = Step("lobby", "0c", outputs.ELSEWHERE, ""), "1-" + TABLE
    outputs.commit(redis, step, [outputs.Row(TABLE, 9, place, b"{9}")])
    outputs.commit(redis, step, [outputs.Row(TABLE, 8, place, b"{8}")])
    assert projected.lobby(redis, None, 5).rows == (b"{9}",)
    outputs.commit(redis, step, [outputs.Row(TABLE, 10, place, b"")])
    outputs.commit(redis, step, [outputs.Row(TABLE, 9, place, b"{9}")])
    assert projected.lobby(redis, None, 5).rows == ()


def test_projections_that_are_held_stand_still(redis: Redis) -> None:
    redis.set(keys.hold("p0c"), "somebody")
    with pytest.raises(outputs.Held):
        outputs.commit(redis, Step("p0c", "0c", "", "5-0"), [])
    assert outputs.commit(redis, Step("p0c", "0c", "", "5-0"), [], Space(lambda key: key, "somebody"))


@pytest.mark.parametrize("server", ["valkey", "redis"], indirect=True)
def test_real_servers_project_the_same(server, redis: Redis) -> None:
    from services.store.connect import connect

    real = connect(server.url)
    for store in (redis, real):
        tables = Tables(store, seed=5)
        reader = follow(store)
        for _ in tables.wander(150):
            if tables.rng.random() < 0.1:
                reader.turn(None)
        follow(store)
    assert everything(real) == everything(redis)
    assert afresh(real) == everything(redis)
    real.close()

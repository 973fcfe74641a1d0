"""`marias rebuild`: the same bytes from the events alone, while everything runs; what differs is found and healed."""

import threading
import time
from contextlib import closing

import pytest
from click.testing import CliRunner
from redis import Redis

from services.cli import rebuild as command
from services.projections import rebuild as module
from services.projections.rebuild import rebuild
from services.projections.subscription import Subscription
from services.store import keys, outputs, projected, rebuilding
from services.store.connect import connect
from services.store.outputs import Held
from tests.cast import ANA
from tests.projections.tables import PARTITIONS, Tables, everything, follow, seated

TABLE = "t-0c-0123456789ab"


def quietly(*given: object) -> None:
    """Progress that nobody looks at."""


def played(store: Redis, steps: int = 250, seed: int = 3) -> Tables:
    """Some tables with a past, all of it projected in pieces."""
    tables = Tables(store, seed)
    reader = follow(store)
    for _ in tables.wander(steps):
        if tables.rng.random() < 0.1:
            reader.turn(None)
    follow(store)
    return tables


def test_what_is_made_again_is_the_same(redis: Redis) -> None:
    played(redis)
    before = everything(redis)
    found = rebuild(redis, PARTITIONS, quietly)
    assert found.different == []
    assert found.stopped == []
    assert {line.projection for line in found.lines} == {
        "bank", "lobby", "positions", "records", "scores", "whole records"
    }
    assert all(line.compared > 0 and line.different == 0 for line in found.lines)
    assert everything(redis) == before
    assert redis.keys("pjx:*") == []
    assert redis.keys("*hold*") == []


def test_the_live_projections_go_on_after_it(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    reader = follow(redis)
    rebuild(redis, PARTITIONS, quietly)
    tables.play(TABLE)
    while reader.turn(None):
        pass
    assert len(projected.bank(redis, TABLE, 0, 10).deals) == 2
    assert len(projected.score(redis, ANA.id, None, 10).postings) == 2
    assert rebuild(redis, PARTITIONS, quietly).different == []


def test_what_was_never_projected_is_there_afterwards(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    assert rebuild(redis, PARTITIONS, quietly).different == []
    assert len(projected.bank(redis, TABLE, 0, 10).deals) == 1


def test_what_is_behind_is_not_different(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    reader = follow(redis)
    tables.play(TABLE, deals=2)
    assert rebuild(redis, PARTITIONS, quietly).different == []
    while reader.turn(None):
        pass
    assert len(projected.score(redis, ANA.id, None, 10).postings) == 2, "nothing is posted again"


DAMAGE = {
    "a bank was changed by hand": lambda store: store.hset(keys.bank(TABLE), "1", "[9,-9,0]"),
    "a record is damaged": lambda store: store.hset(keys.records(TABLE), "1", b"xyz"),
    "a record is lost": lambda store: store.hdel(keys.records(TABLE), "1"),
    "a whole record is lost": lambda store: store.delete(keys.sealed_records(TABLE)),
    "a score is lost": lambda store: store.delete(keys.balance(ANA.id), keys.score(ANA.id)),
    "a posting stands elsewhere": lambda store: store.zadd(keys.score(ANA.id), {"000-x": 0}),
    "a table is lost from the lobby": lambda store: store.hdel(keys.lobby(), TABLE),
    "a table in the lobby never was": lambda store: store.hset(keys.lobby(), "t-00-000000000000", "{}"),
    "a bank of a table that never was": lambda store: store.hset(keys.bank("t-00-000000000000"), "1", "[]"),
    "a key has another type": lambda store: (store.delete(keys.bank(TABLE)), store.set(keys.bank(TABLE), "?")),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_differs_is_found_and_healed(redis: Redis, damage) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=2)
    follow(redis)
    before = everything(redis)
    damage(redis)
    found = rebuild(redis, PARTITIONS, quietly)
    assert found.different
    assert everything(redis) == before
    assert rebuild(redis, PARTITIONS, quietly).different == []


def test_two_at_once_do_not_meet(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    played(redis, steps=60)
    rebuilding.hold(redis, PARTITIONS, "another")
    with pytest.raises(Held):
        rebuild(redis, PARTITIONS, quietly)
    assert redis.get(keys.hold("lobby")) == b"another", "it is left to the other"
    rebuilding.let_go(redis, PARTITIONS, "another")
    assert rebuild(redis, PARTITIONS, quietly).different == []


@pytest.mark.parametrize("step", ["last_versions", "differing", "switch"])
def test_one_that_died_has_broken_nothing(redis: Redis, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    tables = played(redis, steps=100)
    before = everything(redis)
    owner = module.outbox if step == "last_versions" else module.rebuilding
    true, calls = getattr(owner, step), []

    def die(*given: object) -> object:
        calls.append(given)
        if len(calls) > 1 or step == "differing":
            raise KeyboardInterrupt
        return true(*given)

    monkeypatch.setattr(owner, step, die)
    monkeypatch.setattr(module.rebuilding, "let_go", quietly)
    monkeypatch.setattr(module.rebuilding, "drop_fresh", quietly)
    with pytest.raises(KeyboardInterrupt):
        rebuild(redis, PARTITIONS, quietly)
    monkeypatch.undo()
    assert everything(redis) == before
    for slot in ("lobby", *(f"p{each}" for each in PARTITIONS)):
        redis.delete(keys.hold(slot))  # Its time is over.
    for _ in tables.wander(50):
        pass
    follow(redis)
    assert rebuild(redis, PARTITIONS, quietly).different == []


def test_a_lost_hold_stops_the_switch(redis: Redis) -> None:
    seated(redis, TABLE).play(TABLE)
    follow(redis)
    before = everything(redis)
    with pytest.raises(Held):
        rebuilding.switch(redis, rebuilding.all_projections(redis), "somebody")
    assert everything(redis) == before


def test_a_table_that_is_stopped_is_told(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=1)
    redis.xdel(keys.events(TABLE), "9-0")
    follow(redis)
    found = rebuild(redis, PARTITIONS, quietly)
    assert found.stopped == [TABLE]
    assert list(outputs.frozen(redis, "0c")) == [TABLE]


def run_command(redis: Redis, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("services.store.connect.connect", lambda url, **options: redis)
    monkeypatch.setenv("REDIS_URL", "redis://localhost/0")
    return CliRunner().invoke(command.rebuild)


def test_the_command_prints_a_table_and_is_quiet_otherwise(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    played(redis, steps=150)
    result = run_command(redis, monkeypatch)
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    assert lines[0] == ["projection", "keys", "equal", "different"]
    assert [line[0] for line in lines[1:]] == ["bank", "lobby", "positions", "records", "scores", "whole"]
    assert all(line[-1] == "0" and line[-2] == line[-3] for line in lines[1:])


def test_the_command_fails_when_anything_differed(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    seated(redis, TABLE).play(TABLE)
    follow(redis)
    redis.hset(keys.bank(TABLE), "1", "[9,-9,0]")
    result = run_command(redis, monkeypatch)
    assert result.exit_code == 1
    assert f"different: {keys.bank(TABLE)}" in result.output
    assert run_command(redis, monkeypatch).exit_code == 0


def test_it_runs_beside_a_running_system(server_url: str) -> None:
    """A writer, a live subscription and rebuilds, all at once on a real store."""
    stopping = threading.Event()
    writer, reading = connect(server_url), connect(server_url, blocking=True)
    tables = Tables(writer, seed=8)
    steps: list[str] = []

    def write() -> None:
        for table in tables.wander(100_000):
            steps.append(table)
            if stopping.is_set():
                return
            time.sleep(0.002)

    def await_steps(count: int) -> None:
        wanted, end = len(steps) + count, time.monotonic() + 60
        while len(steps) < wanted:
            assert time.monotonic() < end, "nobody writes"
            time.sleep(0.01)

    reader = Subscription(reading, PARTITIONS)
    threads = [threading.Thread(target=write), threading.Thread(target=reader.run, args=(stopping.is_set,))]
    for thread in threads:
        thread.start()
    try:
        await_steps(200)
        with connect(server_url) as client:
            for _ in range(3):
                found = rebuild(client, PARTITIONS, quietly)
                assert found.different == []
                assert found.stopped == []
                await_steps(50)
    finally:
        stopping.set()
        for thread in threads:
            thread.join(60)
    with connect(server_url) as client:
        follow(client)
        assert rebuild(client, PARTITIONS, quietly).different == []
        accounts = [name.decode().rpartition(":")[2] for name in client.keys("pj:*:bal:*")]
        assert len(accounts) > 3
        assert sum(projected.score(client, account, None, 1).balance for account in accounts) == 0
    writer.close()
    reading.close()


@pytest.mark.parametrize("server", ["valkey", "redis"], indirect=True)
def test_a_table_of_thousands_of_deals_is_written_in_one_step(server_url: str) -> None:
    """A server's script gives some thousands of values at once, and no more."""
    many = {f"{number}:0": b"{}" for number in range(5_000)}
    with closing(connect(server_url)) as store:
        own = outputs.TableOutput(TABLE, 0, 9, b"{}", many, many, many)
        assert outputs.commit_many(store, [(outputs.Step("p0c", "0c", "", "1-0"), [own])]) == [True]
        assert store.hlen(keys.bank(TABLE)) == store.hlen(keys.sealed_records(TABLE)) == len(many)

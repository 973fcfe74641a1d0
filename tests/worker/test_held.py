"""A table in memory, from a snapshot and from its first event are the same."""

import msgspec
import pytest

from services.store import chain, history, keys, snapshots, views
from services.worker.build import TAG
from services.worker.held import UNOPENED, _proof
from services.worker.tables import Tables, read
from tests.worker.house import ANA, OTHER, TABLE, House

MOVES = [0, 1, 7, 30, 61, 90]


@pytest.mark.parametrize("moves", MOVES)
def test_memory_snapshot_and_full_replay_agree(house: House, moves: int) -> None:
    house.deal()
    house.play(moves)
    memory = house.worker._tables.get(TABLE)
    replayed = read(house.redis, TABLE, "of no build")
    assert snapshots.find(house.redis, TABLE, "of no build")[:2] == (None, None)
    assert memory == replayed
    assert read(house.redis, TABLE) == replayed


def test_a_table_that_does_not_exist_is_unopened(house: House) -> None:
    assert read(house.redis, OTHER) == UNOPENED


def test_replay_starts_at_the_end_of_the_last_deal(house: House) -> None:
    house.deal()
    house.play(80)
    found = snapshots.find(house.redis, TABLE, TAG)
    assert found.rest is not None
    assert found.last >= found.rest.version >= house.worker._tables.get(TABLE).settled > 8


FAULTS = {
    "of another shape": lambda version, body: {"x": "0" * 12},
    "truncated": lambda version, body: {"b": body[: len(body) // 2]},
    "empty": lambda version, body: {"b": b""},
    "one letter changed": lambda version, body: {"b": body.replace(b'"deal":', b'"deal": ')},
    "no longer of this shape, under its tag": lambda version, body: {"b": snapshot_of(version, b'{"began":1}')},
    "as if it were older": lambda version, body: {"v": version - 1},
    "as if it were newer": lambda version, body: {"v": version + 1},
    "from the future": lambda version, body: {"v": version + 1000},
}


def snapshot_of(version: int, body: bytes) -> bytes:
    return _proof(version, body) + body


@pytest.mark.parametrize("moves", [0, 40, 90])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_snapshot_is_passed_over(house: House, fault: str, moves: int) -> None:
    house.deal()
    house.play(moves)
    replayed = read(house.redis, TABLE, "of no build")
    kept = house.redis.hgetall(keys.snapshot(TABLE))
    house.redis.hset(keys.snapshot(TABLE), mapping=FAULTS[fault](int(kept[b"v"]), kept[b"b"]))
    assert read(house.redis, TABLE) == replayed


def test_the_chain_covers_entries_of_builds_that_wrote_no_hash(house: House) -> None:
    house.deal()
    house.play(40)
    replayed = read(house.redis, TABLE)
    house.redis.delete(keys.snapshot(TABLE))
    told = house.redis.xrange(keys.events(TABLE))
    house.redis.delete(keys.events(TABLE))
    for id_, fields in told:
        house.redis.xadd(keys.events(TABLE), {name: fields[name] for name in fields if name != b"h"}, id=id_)
    assert read(house.redis, TABLE) == replayed


@pytest.mark.parametrize("field", ["at", "a", "k", "f", "x", "h", "e"])
def test_a_table_whose_past_was_changed_stands_still_and_says_where(house: House, field: str) -> None:
    house.deal()
    house.play(20)
    house.redis.delete(keys.snapshot(TABLE))
    told = house.redis.xrange(keys.events(TABLE))
    house.redis.delete(keys.events(TABLE))
    for id_, fields in told:
        if id_ == b"2-0":
            fields[field.encode()] += b"0" if field == "at" else b" "
        house.redis.xadd(keys.events(TABLE), fields, id=id_)
    with pytest.raises(history.BrokenStream, match="the hash of version 2 is not that of what it says"):
        read(house.redis, TABLE)


def test_receipts_tell_the_hash_of_what_was_written(house: House) -> None:
    house.deal()
    entries = list(history.entries_after(house.redis, TABLE, 0))
    told = [views.receipt(house.redis, TABLE, entry.actor, entry.key) for entry in entries]
    assert [receipt["h"] for receipt in told if receipt] == [entry.hash for entry in entries]
    assert chain.text(read(house.redis, TABLE).chain) == entries[-1].hash


def test_an_older_snapshot_only_means_more_to_read(house: House) -> None:
    house.deal()
    kept = house.redis.hgetall(keys.snapshot(TABLE))
    house.play(90)
    house.redis.hset(keys.snapshot(TABLE), mapping=kept)
    assert read(house.redis, TABLE) == read(house.redis, TABLE, "of no build")


def test_an_entry_that_cannot_be_read_is_refused(house: House) -> None:
    house.open()
    house.redis.xadd(keys.events(TABLE), {"at": 1, "a": ANA, "k": "k", "f": "f", "e": "[{", "x": "x"}, id="2-0")
    with pytest.raises(history.BrokenStream, match="at version 2"):
        read(house.redis, TABLE)


def test_a_hole_in_the_stream_is_refused(house: House) -> None:
    house.open()
    for kind in ("sit", "ready", "leave"):
        house.say(TABLE, ANA, kind)
    house.redis.xdel(keys.events(TABLE), "3-0")
    with pytest.raises(history.BrokenStream, match="version 3 is missing"):
        read(house.redis, TABLE, "of no build")


def test_only_the_tables_used_last_are_held(house: House) -> None:
    names = [f"t-00-00000000000{number}" for number in range(4)]
    for name in names:
        house.open(name)
    tables = Tables(house.redis, held_max=2)
    for name in (names[0], names[1], names[0], names[2]):
        tables.get(name)
    assert list(tables._held) == [names[0], names[2]]
    tables.forget_partition("00")
    assert not tables._held


def test_a_snapshot_is_only_taken_when_no_deal_runs(house: House) -> None:
    house.deal()
    at_rest = int(house.redis.hget(keys.snapshot(TABLE), "v"))
    house.play(3)
    assert int(house.redis.hget(keys.snapshot(TABLE), "v")) == at_rest == 7
    assert "deck" not in msgspec.json.decode(house.redis.hget(keys.snapshot(TABLE), "b")[8:])["table"]

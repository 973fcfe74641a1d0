"""A table with a long past and without a good snapshot: read a part at a time, and by a successor from there on."""

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count, pairwise

import pytest

from services.store import history, keys, leases, snapshots, views
from services.worker import batch, tables
from services.worker.build import TAG
from services.worker.held import Held
from services.worker.tables import StillReading, Tables, read
from tests.worker.house import ANA, OTHER, TABLE, House, worker

PART = 20
TURNS_MAX = 50
AWAY = "t-02-00000000000c"
"""A table of another partition."""


class Killed(BaseException):
    """The process ends here."""


class Reader:
    """Counts the entries that are folded, and may be killed at one."""

    def __init__(self) -> None:
        self.entries = 0
        self.dies_after: int | None = None

    def gone_on(self, *given: object) -> object:
        if self.entries == self.dies_after:
            raise Killed
        self.entries += 1
        return _gone_on(*given)


_gone_on = tables.gone_on


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    found = Reader()
    monkeypatch.setattr(tables, "PART_ENTRIES", PART)
    monkeypatch.setattr(tables, "gone_on", found.gone_on)
    return found


@pytest.fixture
def versions(house: House) -> int:
    """A table with some deals, the last of which runs, without a snapshot; the worker has given all back."""
    house.deal()
    house.play(150)
    while house.view()["phase"] == "lobby":
        house.play(1)
    house.worker.owned.release_all()
    house.redis.delete(keys.snapshot(TABLE))
    house.worker = worker(house.redis, "successor")
    return history.last_version(house.redis, TABLE)


def whole(found: Tables, table: str) -> Held:
    """The table after so many turns as it takes."""
    for _ in range(TURNS_MAX):
        found.begin_turn()
        with suppress(StillReading):
            return found.get(table)
    raise AssertionError("it is never read to its end")


def test_a_successor_goes_on_where_the_killed_one_was(
    house: House, versions: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: each of them reads again what came after the last rest before a part's end, and no more."""
    monkeypatch.setattr(batch, "dies", lambda *_: False)  # Children are not killed.
    assert versions > 7 * PART
    house.send(TABLE, ANA, {"type": "nothing"}, key="waits")
    rested, lives = 0, 0
    while rested < versions - 3 * PART and lives < TURNS_MAX:
        lives += 1
        reader.entries, reader.dies_after = 0, 3 * PART
        with pytest.raises(Killed):
            house.settle()
        kept = snapshots.find(house.redis, TABLE, TAG)
        assert kept.rest is None
        assert kept.other is not None
        assert kept.other.version > rested
        rested = kept.other.version
        house.redis.delete(keys.lease("01"), keys.workers())  # It runs out.
        house.worker = worker(house.redis, f"successor-{lives}")
    reader.entries, reader.dies_after = 0, None
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "waits")["s"] == "refused"
    assert lives > 1
    assert reader.entries == versions - rested


def test_what_is_kept_in_the_end_is_what_is_written_with_the_events(house: House, reader: Reader) -> None:
    house.deal()
    house.play(100)
    while house.view()["phase"] == "lobby":
        house.play(1)
    written = house.redis.hgetall(keys.snapshot(TABLE))
    house.redis.delete(keys.snapshot(TABLE))
    house.worker._tables.forget(TABLE)
    assert house.say(TABLE, ANA, "nothing")["s"] == "refused"
    assert house.redis.hgetall(keys.snapshot(TABLE)) == written
    reader.entries = 0
    assert read(house.redis, TABLE) == house.worker._tables.get(TABLE)
    assert reader.entries == history.last_version(house.redis, TABLE) - int(written[b"v"])


def test_a_good_snapshot_is_not_written_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.deal()
    house.play(100)
    while house.view()["phase"] == "lobby":
        house.play(1)
    house.worker._tables.forget(TABLE)
    monkeypatch.setattr(snapshots, "keep", lambda *given: pytest.fail("it is as it should be"))
    assert house.say(TABLE, ANA, "nothing")["s"] == "refused"


def test_other_partitions_go_on_meanwhile(house: House, versions: int, reader: Reader) -> None:
    """In its own partition commands are handled in order: those behind it wait, for as long as it takes and no more."""
    house.open(AWAY)
    house.send(TABLE, ANA, {"type": "nothing"}, key="waits")
    house.send(OTHER, ANA, {"type": "open", "game": "voleny"}, key="behind")
    house.send(AWAY, ANA, {"type": "sit"}, key="beside")
    house.worker.turn(0.0)
    assert reader.entries <= 2 * PART
    assert views.receipt(house.redis, AWAY, ANA, "beside")["s"] == "applied"
    assert views.receipt(house.redis, TABLE, ANA, "waits")["s"] == "queued"
    assert views.receipt(house.redis, OTHER, ANA, "behind")["s"] == "queued"
    turns = 1
    while views.receipt(house.redis, TABLE, ANA, "waits")["s"] == "queued" and turns < TURNS_MAX:
        house.worker.turn(0.0)
        turns += 1
    assert turns == versions // PART + 1
    house.settle()
    assert views.receipt(house.redis, OTHER, ANA, "behind")["s"] == "applied"


def test_in_a_turn_a_part_of_one_table_is_read_and_whoever_has_a_short_past_does_not_wait(
    house: House, versions: int, reader: Reader
) -> None:
    house.open(AWAY)
    found = Tables(house.redis)
    with pytest.raises(StillReading):
        found.get(TABLE)
    with pytest.raises(StillReading):
        found.get(TABLE)
    assert reader.entries == PART
    assert found.get(AWAY).version == 1
    found.begin_turn()
    with pytest.raises(StillReading):
        found.get(TABLE)
    assert reader.entries == 2 * PART
    assert whole(found, TABLE) == read(house.redis, TABLE)


def test_an_owner_that_has_lost_the_partition_begins_anew(house: House, versions: int, reader: Reader) -> None:
    found = Tables(house.redis)
    with pytest.raises(StillReading):
        found.get(TABLE)
    found.forget_partition("01")
    assert whole(found, TABLE).version == versions
    assert reader.entries == PART + versions


def test_a_paused_owner_keeps_nothing_in_the_place_of_its_successors(house: House, versions: int) -> None:
    late = leases.claim(house.redis, ["01"], "late")["01"]
    found = Tables(house.redis, fence_of=lambda _: late.fence)
    house.redis.delete(keys.lease("01"))
    assert house.say(TABLE, ANA, "nothing")["s"] == "refused"
    kept = house.redis.hgetall(keys.snapshot(TABLE))
    house.redis.delete(keys.snapshot(TABLE))
    assert whole(found, TABLE).version == versions
    assert not house.redis.exists(keys.snapshot(TABLE))
    house.redis.hset(keys.snapshot(TABLE), mapping=kept | {b"b": b"broken"})
    found.forget(TABLE)
    whole(found, TABLE)
    assert house.redis.hget(keys.snapshot(TABLE), "b") == b"broken"


def test_a_worker_keeps_its_leases_meanwhile(
    house: House, versions: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take longer than a lease lasts."""
    clock, renewed = [0.0], []
    house.worker = worker(house.redis, "slow", ticks=lambda: clock[0])
    house.worker.turn(0.0)
    gone_on, renew = tables.gone_on, leases.renew

    def slowly(*given: object) -> object:
        clock[0] += 2 * leases.LEASE_MS / 1000 / versions
        return gone_on(*given)

    monkeypatch.setattr(tables, "gone_on", slowly)
    monkeypatch.setattr(leases, "renew", lambda *given: renewed.append(clock[0]) or renew(*given))
    assert house.say(TABLE, ANA, "nothing")["s"] == "refused"
    gaps = [after - before for before, after in pairwise(renewed)]
    assert clock[0] >= 2 * leases.LEASE_MS / 1000 > 2 * max(gaps)


def test_the_clock_of_a_table_waits_for_its_past(house: House, reader: Reader) -> None:
    house.deal(turn_seconds=5)
    house.play(60)
    while house.view()["phase"] == "lobby":
        house.play(1)
    held = house.worker._tables.get(TABLE)
    house.redis.delete(keys.snapshot(TABLE))
    house.worker._tables.forget(TABLE)
    assert held.due is not None
    queued = house.redis.xlen(keys.commands("01"))
    turns = 0
    while house.redis.xlen(keys.commands("01")) == queued and turns < TURNS_MAX:
        house.worker._tables.begin_turn()
        house.worker._ticker.tick(held.due, house.worker.owned.leases)
        turns += 1
    assert turns == held.version // PART + 1
    assert house.worker._tables.get(TABLE) == held


def test_a_child_that_tries_a_command_reads_a_part_as_well_and_keeps_no_leases(
    house: House, versions: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a worker that is killed meanwhile have to run out."""
    hours = count()
    tried, renewed, looked = [], [], []
    renew = leases.renew

    def dies(decide: Callable[[], None], stay: Callable[[], None]) -> bool:
        found, before = house.worker._tables, len(renewed)
        mine = dict(found._unfinished)
        with suppress(StillReading):
            decide()
        found._unfinished, found._has_read, found.pulse = mine, False, stay
        found._held.pop(TABLE, None)
        tried.append(len(renewed) - before)
        return False

    house.send(TABLE, ANA, {"type": "nothing"}, key="waits")
    [(waiting, _)] = house.redis.xrevrange(keys.commands("01"), count=1)
    history.count_try(house.redis, "01", waiting.decode())
    house.redis.hset(keys.state("01"), "owned", "1")  # Its owner was killed at it.
    house.worker = worker(house.redis, "careful", ticks=lambda: float(next(hours)))
    monkeypatch.setattr(batch, "end_without", looked.append)
    monkeypatch.setattr(batch, "dies", dies)
    monkeypatch.setattr(leases, "renew", lambda *given: renewed.append(given) or renew(*given))
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "waits")["s"] == "refused"
    assert set(looked) == {os.getpid()}
    assert set(tried) == {0}
    assert 1 < len(tried) < versions // PART, "they have read on from each other's ends"

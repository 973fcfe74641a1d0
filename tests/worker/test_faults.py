"""What goes wrong with one command, one table or one owner, and that the partition goes on."""

import json
import logging
import os

import pytest

from services.store import append, history, keys, views
from services.store.wire import ask
from services.worker import batch
from tests.worker.house import ANA, BARA, CYRIL, OTHER, TABLE, House, worker

PARTITION = "01"
FORKS = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
"""Where the tests run beside each other, pytest has threads; a worker has none."""


class Killed(BaseException):
    """The process ends here."""


def handling(monkeypatch: pytest.MonkeyPatch, key: str, error: BaseException) -> None:
    """Whoever handles the command `key` meets `error`."""
    real = batch.handle

    def handle(held, command, place, desk):
        if command.key == key:
            raise error
        return real(held, command, place, desk)

    monkeypatch.setattr(batch, "handle", handle)


def versions(house: House, table: str = TABLE) -> list[bytes]:
    return [id_ for id_, _ in house.redis.xrange(keys.events(table))]


def test_a_command_that_crashes_the_rules_is_parked_after_three_tries_and_the_partition_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    house.open()
    house.open(OTHER)
    handling(monkeypatch, "poison", ZeroDivisionError("no rule for this"))
    house.send(TABLE, ANA, {"type": "sit"}, key="poison", version=1)
    house.send(OTHER, BARA, {"type": "sit"}, key="fine")
    house.settle()

    assert views.receipt(house.redis, TABLE, ANA, "poison")["c"] == "internal"
    assert views.receipt(house.redis, OTHER, BARA, "fine")["s"] == "applied"
    [(_, letter)] = house.redis.xrange(keys.dead(PARTITION))
    assert (letter[b"t"], letter[b"k"], letter[b"v"]) == (TABLE.encode(), b"poison", b"1")
    assert json.loads(letter[b"b"]) == {"type": "sit"}
    assert b"ZeroDivisionError: no rule for this" in letter[b"error"]
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == batch.TRIES_MAX
    assert b"tries" not in b"".join(house.redis.hkeys(keys.state(PARTITION)))


def test_commands_before_a_crash_are_applied_and_those_after_it_keep_their_order(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open()
    handling(monkeypatch, "poison", RuntimeError())
    for player, key in ((ANA, "first"), (BARA, "poison"), (CYRIL, "last")):
        house.send(TABLE, player, {"type": "sit"}, key=key)
    house.settle()
    assert [fields[b"k"] for _, fields in house.redis.xrange(keys.events(TABLE))] == [b"k1", b"first", b"last"]
    assert [seat and seat["player"] for seat in house.view()["seats"]] == [ANA, CYRIL, None]


def die(house: House, successor: str) -> None:
    """The worker is killed, and another one takes over."""
    with pytest.raises(Killed):
        house.settle()
    house.redis.delete(keys.lease(PARTITION), keys.workers())  # It runs out.
    house.worker = worker(house.redis, successor)


def killed_by_chance(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Whoever handles the command `key` is killed from outside, but for the children of this process."""
    real, this = batch.handle, os.getpid()

    def handle(held, command, place, desk):
        if command.key == key and os.getpid() == this:
            raise Killed
        return real(held, command, place, desk)

    monkeypatch.setattr(batch, "handle", handle)


@FORKS
def test_a_command_that_kills_its_worker_is_parked_by_a_careful_successor(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open()
    handling(monkeypatch, "killer", Killed())
    house.send(TABLE, ANA, {"type": "sit"}, key="fine")
    house.send(TABLE, BARA, {"type": "sit"}, key="killer")
    for death in range(2):  # One that had others to handle as well, and one that had not.
        die(house, f"successor-{death}")
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "fine")["s"] == "applied"
    assert views.receipt(house.redis, TABLE, BARA, "killer")["c"] == "internal"
    assert house.say(TABLE, CYRIL, "sit")["s"] == "applied"
    assert len(versions(house)) == 3
    assert b"tries" not in b"".join(house.redis.hkeys(keys.state(PARTITION)))


@FORKS
def test_however_often_workers_are_killed_at_a_command_it_is_not_given_up(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open()
    with monkeypatch.context() as chance:
        killed_by_chance(chance, "unlucky")
        house.send(TABLE, ANA, {"type": "sit"}, key="unlucky")
        for death in range(20):
            die(house, f"successor-{death}")
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "unlucky")["s"] == "applied"
    assert house.redis.xlen(keys.dead(PARTITION)) == 0
    assert len(versions(house)) == 2
    assert b"tries" not in b"".join(house.redis.hkeys(keys.state(PARTITION)))


@FORKS
def test_workers_do_not_die_for_ever_of_what_children_survive(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "DEATHS_MAX", 3)
    house.open()
    killed_by_chance(monkeypatch, "uncanny")
    house.send(TABLE, ANA, {"type": "sit"}, key="uncanny")
    for death in range(4):
        die(house, f"successor-{death}")
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "uncanny")["c"] == "internal"


def test_a_paused_owner_that_wakes_up_is_fenced(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.open()
    zombie = house.worker
    house.send(TABLE, ANA, {"type": "sit"}, key="contested")
    real = append.apply_many

    def pause(redis, entries):
        """While it sleeps, its leases run out and another worker handles the command."""
        monkeypatch.setattr(batch, "apply_many", real)
        for partition in zombie.owned.fences:
            house.redis.delete(keys.lease(partition))
        house.redis.delete(keys.workers())
        house.worker = worker(house.redis, "successor")
        house.settle()
        return real(redis, entries)

    monkeypatch.setattr(batch, "apply_many", pause)
    zombie.turn(0.0)
    assert len(versions(house)) == 2
    assert views.receipt(house.redis, TABLE, ANA, "contested")["s"] == "applied"
    assert PARTITION not in zombie.owned.fences
    assert PARTITION not in zombie.cursors


def test_an_owner_whose_memory_is_stale_decides_again(house: House) -> None:
    """Somebody wrote to the table behind its back: here another worker, under the same lease."""
    house.open()
    held = house.worker._tables.get(TABLE)
    assert house.say(TABLE, ANA, "sit", seat=0)["s"] == "applied"
    house.worker._tables.put(TABLE, held)
    refused = house.say(TABLE, BARA, "sit", seat=0)
    assert refused["c"] == "seat_taken"
    house.worker._tables.put(TABLE, held)
    assert house.say(TABLE, BARA, "sit")["v"] == 3
    assert versions(house) == [b"1-0", b"2-0", b"3-0"]


def test_a_conflict_in_the_middle_of_a_batch_loses_nothing(house: House) -> None:
    house.open()
    house.open(OTHER)
    held = house.worker._tables.get(TABLE)
    house.say(TABLE, ANA, "sit")
    house.worker._tables.put(TABLE, held)
    for table, player in ((OTHER, ANA), (TABLE, BARA), (OTHER, BARA), (TABLE, CYRIL), (OTHER, CYRIL)):
        house.send(table, player, {"type": "sit"}, key="batch")
    house.settle()
    for table, player in ((OTHER, ANA), (TABLE, BARA), (OTHER, BARA), (TABLE, CYRIL), (OTHER, CYRIL)):
        assert views.receipt(house.redis, table, player, "batch")["s"] == "applied"
    assert len(versions(house)) == len(versions(house, OTHER)) == 4


def test_an_event_of_a_newer_build_stops_the_partition_here_and_loses_nothing(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.open()
    assert house.say(TABLE, ANA, "sit")["s"] == "applied"
    newer = '[{"type":"sat_down","v":99,"seat":0,"player":"x","name":"x"}]'
    ask(house.redis, "XADD", keys.events(TABLE), "3-0", "at", 5, "a", BARA, "k", "k", "f", "f", "e", newer, "x", "new")
    house.worker._tables.forget(TABLE)
    house.send(TABLE, BARA, {"type": "sit"}, key="waits")
    house.settle()
    assert views.receipt(house.redis, TABLE, BARA, "waits") == {"s": "queued"}
    assert "needs a newer build" in caplog.text
    assert house.redis.get(keys.lease(PARTITION)) is None
    assert set(house.worker.owned.leases) == {"00", "02", "03"}


def test_a_type_of_event_that_is_not_known_is_newer_too(house: House) -> None:
    house.open()
    ask(
        house.redis,
        *("XADD", keys.events(TABLE), "2-0", "at", 5, "a", BARA, "k", "k", "f", "f"),
        *("e", '[{"type":"moon_landed"}]', "x", "new"),
    )
    with pytest.raises(history.NewerEvent, match="moon_landed"):
        batch.Tables(house.redis).get(TABLE)


def test_a_broken_key_stops_its_partition_loudly(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.open()
    house.redis.delete(keys.feed(TABLE))
    house.redis.set(keys.feed(TABLE), "broken")
    house.send(TABLE, ANA, {"type": "sit"}, key="waits")
    house.settle()
    assert "is broken" in caplog.text
    assert len(versions(house)) == 1
    house.redis.delete(keys.feed(TABLE))
    house.worker.owned._shunned.clear()
    house.worker.owned._next_look = 0.0
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "waits")["s"] == "applied"

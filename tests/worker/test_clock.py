"""What happens by itself at its time: deals, expired turns, forgetting."""

import json
import time

import pytest

from engine.table import clock
from services.store import history, keys, leases, views
from services.store.clock import Clock
from services.worker.handle import REMEMBERED_MS
from tests.worker.house import CYRIL, OTHER, PLAYERS, TABLE, House, worker

MINUTE = 60_000


def kinds(house: House) -> list[str]:
    """The types of the last entry's events."""
    [(_, fields)] = house.redis.xrevrange(keys.events(TABLE), count=1)
    return [event["type"] for event in json.loads(fields[b"e"])]


def skip(house: House, ms: int) -> None:
    """Time passes for the worker; the store's own clock, which judges deadlines, stays."""
    house.worker.owned.server_ahead_ms += ms


def test_the_next_deal_starts_when_all_are_ready(house: House) -> None:
    house.deal()
    assert "dealt" in kinds(house)
    [(_, fields)] = house.redis.xrevrange(keys.events(TABLE), count=1)
    assert (fields[b"a"], fields[b"k"]) == (b"clock", b"deal-7-1")
    assert [member for member, _ in history.clock_entries(house.redis, "01") if "|" not in member] == []


def test_a_deal_that_was_due_when_its_worker_died_is_dealt_by_the_next(house: House) -> None:
    house.open()
    for kind in ("sit", "ready"):
        for player in PLAYERS:
            house.send(TABLE, player, {"type": kind}, key=kind)
    house.worker.turn(0.0)  # The last `ready` is applied; the deal has not been asked for.
    assert house.view()["deal"] == 0
    house.redis.delete(keys.workers(), *(keys.lease(each) for each in house.worker.owned.leases))
    house.worker = worker(house.redis, "successor")
    house.settle()
    assert house.view()["deal"] == 1


def test_an_expiry_before_its_time_is_refused_and_tried_again(house: House) -> None:
    house.deal(turn_seconds=30)
    before = house.view()
    assert before["deadline"] is not None
    skip(house, MINUTE)
    house.settle()
    assert house.view() == before
    assert views.receipt(house.redis, TABLE, "clock", "expire-8-1")["c"] == "not_due"
    skip(house, MINUTE)  # Much later: one more attempt, under a key of its own.
    house.settle()
    skip(house, MINUTE)
    house.settle()
    assert views.receipt(house.redis, TABLE, "clock", "expire-8-2")["c"] == "not_due"


def test_a_passed_deadline_is_played_for_the_seat(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.deal(turn_seconds=30)
    monkeypatch.setattr(clock, "whole_turn", lambda session, kind: 0)
    actor, legal = house.legal()
    house.say(TABLE, actor, **{**legal[0], "kind": legal[0]["type"]})
    house.worker.turn(0.0)
    house.settle()
    assert "turn_expired" in {
        event["type"] for _, fields in house.redis.xrange(keys.events(TABLE)) for event in json.loads(fields[b"e"])
    }


def test_receipts_and_feed_are_kept_through_the_deal_and_ten_minutes_longer(house: House) -> None:
    house.deal()
    house.play(100)
    while house.view()["phase"] != "lobby":
        house.play(1)
    version = house.view()["version"]
    began = house.worker._tables.get(TABLE).began
    skip(house, REMEMBERED_MS - MINUTE)
    house.settle()
    told = views.feed(house.redis, TABLE, began - 1, 100)
    assert not told.gone
    assert house.redis.hlen(keys.receipts(TABLE)) > 40
    skip(house, 2 * MINUTE)
    house.settle()
    assert house.redis.hlen(keys.receipts(TABLE)) == house.redis.hlen(keys.reservations(TABLE)) == 0
    gone = views.feed(house.redis, TABLE, began - 1, 100)
    assert (gone.items, gone.gone, gone.oldest) == ([], True, version + 1)
    assert not views.feed(house.redis, TABLE, version, 100).gone
    assert history.clock_entries(house.redis, "01") == []
    assert house.redis.xlen(keys.events(TABLE)) == version


def test_receipts_are_kept_for_those_who_could_not_ask_while_nobody_could_play(house: House) -> None:
    house.deal()
    house.play(100)
    while house.view()["phase"] != "lobby":
        house.play(1)
    now = house.worker._now()
    house.worker.owned.gaps = (leases.Gap(now + MINUTE, now + 2 * REMEMBERED_MS),)
    skip(house, 3 * REMEMBERED_MS - MINUTE)
    house.worker._ticker.tick(house.worker._now(), house.worker.owned.leases, house.worker.owned.gaps)
    assert house.redis.hlen(keys.receipts(TABLE)) > 40
    skip(house, 2 * MINUTE)
    house.worker._ticker.tick(house.worker._now(), house.worker.owned.leases, house.worker.owned.gaps)
    assert house.redis.hlen(keys.receipts(TABLE)) == 0


def test_a_wall_clock_that_jumps_moves_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.deal(turn_seconds=30)
    monkeypatch.setattr(time, "time", lambda: 4e9)
    monkeypatch.setattr(time, "time_ns", lambda: 4_000_000_000_000_000_000)
    house.settle()
    assert views.receipt(house.redis, TABLE, "clock", "expire-8-1") is None


def test_a_deal_that_runs_keeps_its_receipts(house: House) -> None:
    house.deal()
    house.play(3)
    skip(house, 2 * REMEMBERED_MS)
    house.settle()
    fields = [field.decode() for field in house.redis.hkeys(keys.receipts(TABLE))]
    assert len(fields) == 4  # The deal, and three moves.


def test_the_feed_reaches_back_to_the_start_of_the_deal_before(house: House) -> None:
    house.deal(auto_ready=True)
    starts = [house.worker._tables.get(TABLE).began]
    while len(starts) < 4:
        house.play(1)
        if (began := house.worker._tables.get(TABLE).began) != starts[-1]:
            starts.append(began)
            told = views.feed(house.redis, TABLE, 0, 1)
            assert told.oldest == starts[-2]


def test_a_clock_gives_what_is_due_in_order_and_each_once() -> None:
    clock = Clock()
    clock.add([("t-01-a", 30), ("t-02-b", 10), ("t-01-c", 20)])
    clock.set("t-01-c", 5)
    clock.set("t-02-b", None)
    assert (len(clock), clock.next_at()) == (2, 5)
    assert clock.take(40, 1) == ["t-01-c"]
    assert clock.take(40, 9) == ["t-01-a"]
    assert (clock.take(40, 9), clock.next_at()) == ([], None)


def test_a_clock_drops_the_partitions_of_others() -> None:
    clock = Clock()
    clock.add([("t-01-a", 1), ("t-02-b", 2), ("t-01-a|f|7", 3)])
    clock.drop("01")
    assert clock.take(9, 9) == ["t-02-b"]


def test_a_table_that_cannot_be_read_stops_no_other_clock(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.open()
    for kind in ("sit", "ready"):
        for player in PLAYERS:
            house.send(TABLE, player, {"type": kind}, key=kind)
    house.worker.turn(0.0)
    house.redis.xadd(keys.events(OTHER), {"at": 1, "a": "x", "k": "k", "f": "f", "e": "[{", "x": "x"}, id="1-0")
    house.worker._ticker.note([(OTHER, 0)])
    house.settle()
    assert house.view()["deal"] == 1
    assert f"the clock of {OTHER} stands still" in caplog.text


def test_nothing_is_left_of_a_table_that_was_refused_nor_of_the_opening_of_an_account(house: House) -> None:
    assert house.say(TABLE, CYRIL, "open", game="voleny", stake="bankroll", buy_in=1)["s"] == "refused"
    assert house.say(CYRIL, "system", "open_account")["s"] == "applied"
    skip(house, REMEMBERED_MS + MINUTE)
    house.settle()
    for aggregate in (TABLE, CYRIL):
        assert not house.redis.exists(keys.receipts(aggregate), keys.reservations(aggregate))
    assert history.clock_entries(house.redis, "01") == history.clock_entries(house.redis, "02") == []


def test_a_refused_command_between_deals_is_forgotten_too(house: House) -> None:
    house.open()
    assert house.say(TABLE, CYRIL, "ready")["c"] == "not_seated"
    skip(house, REMEMBERED_MS + MINUTE)
    house.settle()
    assert not house.redis.exists(keys.receipts(TABLE), keys.reservations(TABLE))

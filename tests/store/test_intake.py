"""A command is taken in once per key of its sender, however often and by whichever node it is sent."""

import json
import time

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from services import intake, pressure
from services.intake import Submitted, Taken, submit, submit_many
from services.pressure import Rates
from services.store import channels, commands, history, keys, leases, views
from services.store.append import Position, apply_many
from services.store.wire import ask
from tests.store.samples import ANA, OTHER, PARTITION, TABLE, answer, claim, entry, position

BARA = "u-0b-00000000000000b2"


@pytest.fixture
def table(store: Redis) -> leases.Lease:
    """A table that exists, at version 1."""
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1, key="open"), 0)])
    return lease


def good(key: str, actor: str = ANA, table: str = TABLE) -> Submitted:
    return Submitted(table, actor, "Ana", key, {"type": "good"})


def waiting(store: Redis) -> list[commands.Command]:
    return commands.read_commands(store, {PARTITION: "0-0"}).get(PARTITION, [])


def test_a_command_arrives_whole(store: Redis, table: leases.Lease) -> None:
    body = {"type": "play", "card": "Šh", "marriage": True}
    assert submit(store, Submitted(TABLE, ANA, "Ána", "k1", body, 7)) == Taken("new")
    [command] = waiting(store)
    assert (command.aggregate, command.actor, command.name, command.key, command.if_version) == (
        TABLE, ANA, "Ána", "k1", 7
    )
    assert json.loads(command.body) == body


@pytest.mark.parametrize("times", range(1, 6))
def test_a_command_sent_several_times_is_queued_once(store: Redis, table: leases.Lease, times: int) -> None:
    taken = submit_many(store, [good("k1")] * times)
    assert [each.status for each in taken] == ["new"] + ["dup"] * (times - 1)
    assert len(waiting(store)) == 1


def test_a_repeated_command_gets_its_receipt(store: Redis, table: leases.Lease) -> None:
    submit(store, good("k1"))
    assert views.receipt(store, TABLE, ANA, "k1") == {"s": "queued"}
    [command] = waiting(store)
    place = Position(TABLE, table.fence, "1001-0", command.id, ANA, "k1", command.fingerprint)
    apply_many(store, [answer(place, 1)])
    expected = {"v": 1, "f": "fp", "s": "refused", "c": "illegal_card"}
    assert submit(store, good("k1")) == Taken("dup", expected)
    assert views.receipt(store, TABLE, ANA, "k1") == expected


def test_the_order_of_members_does_not_make_another_body(store: Redis, table: leases.Lease) -> None:
    submit(store, Submitted(TABLE, ANA, "", "k1", {"type": "play", "card": "Ah"}))
    assert submit(store, Submitted(TABLE, ANA, "", "k1", {"card": "Ah", "type": "play"})).status == "dup"


def test_another_body_under_a_used_key_is_refused(store: Redis, table: leases.Lease) -> None:
    submit(store, good("k1"))
    assert submit(store, Submitted(TABLE, ANA, "", "k1", {"type": "take_over"})) == Taken("reused")
    assert len(waiting(store)) == 1


def test_keys_belong_to_player_and_table(store: Redis, table: leases.Lease) -> None:
    apply_many(store, [entry(position(table, 2, table=OTHER, key="open"), 0)])
    taken = submit_many(store, [good("k1"), good("k1", actor=BARA), good("k1", table=OTHER)])
    assert [each.status for each in taken] == ["new"] * 3


def test_an_unknown_table_takes_nothing_but_its_opening(store: Redis, table: leases.Lease) -> None:
    assert submit(store, good("k1", table=OTHER)) == Taken("unknown")
    assert not store.exists(keys.reservations(OTHER))
    assert submit(store, Submitted(OTHER, ANA, "", "k1", {"type": "open"})) == Taken("new")
    assert submit(store, Submitted(ANA, "system", "", "k1", {"type": "open_account"})) == Taken("new")


def test_a_full_partition_is_busy_and_the_clock_is_exempt(
    store: Redis, table: leases.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressure, "QUEUE_MAX", 20)
    taken = submit_many(store, [good(f"k{number}") for number in range(21)])
    assert [each.status for each in taken] == ["new"] * 20 + ["busy"]
    assert views.receipt(store, TABLE, ANA, "k20") is None
    assert submit(store, good("expire-1-1", actor="clock")).status == "new"


def test_a_queue_that_waits_for_long_is_busy_however_short_it_is(
    store: Redis, table: leases.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "FEW", 20)
    monkeypatch.setattr(intake, "WAIT_MS_MAX", 1)
    assert {each.status for each in submit_many(store, [good(f"k{number}") for number in range(19)])} == {"new"}
    time.sleep(0.01)
    assert submit(store, good("k19")).status == "new", "few may wait for as long as they like"
    assert submit(store, good("k20")).status == "busy"
    assert submit(store, good("expire-1-1", actor="clock")).status == "new"
    [(last, _)] = store.xrevrange(keys.commands(PARTITION), count=1)
    store.hset(keys.state(PARTITION), "cur", last)
    assert submit(store, good("k21")).status == "new"


def test_joining_is_refused_before_playing_is(
    store: Redis, table: leases.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressure, "QUEUE_MAX", 20)
    assert {each.status for each in submit_many(store, [good(f"k{number}") for number in range(15)])} == {"new"}
    sit, opening = Submitted(TABLE, ANA, "", "sit", {"type": "sit"}), Submitted(OTHER, ANA, "", "o", {"type": "open"})
    assert [each.status for each in submit_many(store, [sit, opening, good("plays")])] == ["busy", "busy", "new"]


def test_a_player_sends_twice_his_rate_at_once_and_no_more_before_the_window_ends(
    store: Redis, table: leases.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "WINDOW_SECONDS", 60)  # So that it does not end while a slow machine comes so far.
    rates, elsewhere = (Rates(5, lambda: 0.0) for _ in range(2))
    taken = submit_many(store, [good(f"k{number}") for number in range(12)], rates)
    assert [each.status for each in taken] == ["new"] * 10 + ["limited"] * 2
    assert 0 < taken[-1].wait_ms <= 60_000
    assert submit(store, good("k0"), rates).status == "dup", "a retry is no new command"
    assert views.receipt(store, TABLE, ANA, "k10") is None
    others = [good("b", actor=BARA), good("expire-1-1", actor="clock"), good("bot-1", actor="bot:1")]
    assert [each.status for each in submit_many(store, others, rates)] == ["new"] * 3
    assert [submit(store, good(f"k{number}"), elsewhere).status for number in (12, 13)] == ["new", "limited"]
    assert submit(store, good("k11")).status == "new", "without a rate nothing is counted"
    assert store.hgetall(keys.rates(PARTITION)) == {ANA.encode(): b"9"}, "who is slow is not counted"
    assert 0 < store.pttl(keys.rates(PARTITION)) <= 60_000
    store.hset(keys.rates(PARTITION), ANA, 10)
    store.pexpire(keys.rates(PARTITION), 3_600_000)  # The store's clock was put back.
    assert submit(store, good("k13"), rates).wait_ms <= 60_000
    store.delete(keys.rates(PARTITION))  # It expires.
    assert submit(store, good("k13"), rates).status == "new"


def test_a_queue_that_was_handled_has_room_again(
    store: Redis, table: leases.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handled commands are cut off in whole blocks, so some may be left."""
    monkeypatch.setattr(pressure, "QUEUE_MAX", 300)
    assert submit_many(store, [good(f"k{number}") for number in range(301)])[-1].status == "busy"
    [(last, _)] = store.xrevrange(keys.commands(PARTITION), count=1)
    store.hset(keys.state(PARTITION), "cur", last)
    assert submit(store, good("again")).status == "new"
    assert ask(store, "XLEN", keys.commands(PARTITION)) <= 101


def test_commands_not_yet_handled_are_never_cut_off(store: Redis, table: leases.Lease) -> None:
    submit_many(store, [good(f"k{number}") for number in range(250)])
    half = commands.read_commands(store, {PARTITION: "0-0"}, count=125)[PARTITION][-1].id
    store.hset(keys.state(PARTITION), "cur", half)
    submit_many(store, [good(f"l{number}") for number in range(250)])
    left = commands.read_commands(store, history.cursors(store, [PARTITION]), count=1000)[PARTITION]
    expected = [f"k{number}" for number in range(125, 250)] + [f"l{number}" for number in range(250)]
    assert [command.key for command in left] == expected


def test_the_owner_is_woken(store: Redis, table: leases.Lease) -> None:
    ears = channels.Ears(store)
    ears.listen([keys.bell(PARTITION)])
    submit_many(store, [good("k1"), good("k1")])
    assert len(ears.hear(1.0)) == 1
    ears.close()


@pytest.mark.parametrize("key", [keys.commands(PARTITION), keys.reservations(TABLE), keys.rates(PARTITION)])
def test_a_key_of_a_wrong_type_leaves_nothing_half_done(store: Redis, table: leases.Lease, key: str) -> None:
    store.set(key, "broken")
    rates = Rates(5)
    assert rates.most(ANA, PARTITION) == 0, "the first of a window is not counted in the store"
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        submit(store, good("k1"), rates)
    assert store.get(key) == b"broken"
    others = {keys.commands(PARTITION), keys.reservations(TABLE), keys.rates(PARTITION)} - {key}
    assert not store.exists(*others)

"""What is refused under load, to whom, and in which order."""

import pytest
from fakeredis import FakeRedis

from services.api.guests import ADDRESSES_MAX, BURST_SECONDS, Guests
from services.pressure import QUEUE_MAX, SHED_AT, Pressure, Wish, most_waiting
from services.store import keys

TABLE = "t-01-00000000000a"


def test_who_watches_is_refused_first_and_who_plays_last():
    assert list(SHED_AT) == [Wish.WATCH, Wish.READ, Wish.JOIN, Wish.PLAY] == sorted(SHED_AT, key=SHED_AT.get)
    assert SHED_AT[Wish.PLAY] == 1.0
    assert most_waiting("open") == most_waiting("sit") < most_waiting("play") == QUEUE_MAX


def test_a_partition_is_looked_at_once_a_second_and_handled_commands_do_not_count():
    redis, clock = FakeRedis(protocol=2), [0.0]
    pressure = Pressure(redis, lambda: clock[0])
    for number in range(QUEUE_MAX // 2):
        redis.xadd(keys.commands("01"), {"n": number})
    assert pressure.sheds(TABLE, Wish.WATCH)
    assert not pressure.sheds(TABLE, Wish.READ)
    assert not pressure.sheds("t-02-00000000000a", Wish.WATCH)
    [(last, _)] = redis.xrevrange(keys.commands("01"), count=1)
    redis.hset(keys.state("01"), "cur", last)
    assert pressure.sheds(TABLE, Wish.WATCH), "the look of just now still counts"
    clock[0] = 1.0
    assert not pressure.sheds(TABLE, Wish.WATCH)


@pytest.mark.parametrize(("filled", "refused"), [
    (0.49, []), (0.51, ["watch"]), (0.61, ["watch", "read"]), (0.76, ["watch", "read", "join"]),
    (1.0, ["watch", "read", "join", "play"]),
])
def test_the_api_refuses_in_that_order(house, monkeypatch, filled, refused):
    monkeypatch.setattr("services.intake.WAIT_MS_MAX", 3_600_000)  # However long a busy machine takes to fill it.
    ana, eva = house.guest("Ana"), house.guest("Eva")
    table = ana.open()
    assert ana.command(table, {"type": "sit"}).status_code == 200
    house.open = False
    house.work = lambda: None
    stream = keys.commands(table[2:4])
    while house.redis.xlen(stream) < filled * QUEUE_MAX:
        house.redis.xadd(stream, {"t": table, "a": ana.id, "k": f"k{house.redis.xlen(stream)}", "b": "{}"})

    codes = {
        "watch": eva.get(f"/v1/tables/{table}"),
        "read": ana.get(f"/v1/tables/{table}/events"),
        "join": eva.post(f"/v1/tables/{table}/commands", {"type": "sit"}, Idempotency_Key="join"),
        "play": ana.post(f"/v1/tables/{table}/commands", {"type": "ready"}, Idempotency_Key="play"),
    }
    assert [wish for wish, answer in codes.items() if answer.status_code == 429] == refused
    for answer in codes.values():
        assert answer.status_code in (200, 202, 429)
        assert (answer.status_code == 429) == ("Retry-After" in answer.headers)
    assert ana.get(f"/v1/tables/{table}").status_code == 200, "who plays always sees the table"


def test_a_player_who_sends_too_much_is_told_when_to_come_again(house, monkeypatch):
    monkeypatch.setattr("services.pressure.UNCOUNTED_PART", 1_000)
    ana = house.guest("Ana")
    table = ana.open()
    house.redis.hset(keys.rates(table[2:4]), ana.id, 1_000_000)
    house.redis.pexpire(keys.rates(table[2:4]), 600_000)  # Never told to wait longer than a window.
    answer = ana.command(table, {"type": "sit"})
    assert (answer.status_code, answer.json["code"]) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "2"


def test_an_address_makes_so_many_guests_at_once_and_then_as_many_as_its_rate():
    clock = [0.0]
    guests = Guests(2, now=lambda: clock[0])
    ana = {"REMOTE_ADDR": "192.0.2.1"}
    assert [guests.admit(ana) for _ in range(2 * BURST_SECONDS)] == [0.0] * 2 * BURST_SECONDS
    assert guests.admit(ana) == pytest.approx(0.5)
    assert guests.admit({"REMOTE_ADDR": "192.0.2.2"}) == 0.0
    clock[0] = 0.5
    assert guests.admit(ana) == 0.0
    assert guests.admit(ana) > 0.0


def test_without_a_rate_everybody_is_let_in():
    guests = Guests(0)
    assert {guests.admit({}) for _ in range(1000)} == {0.0}


@pytest.mark.parametrize(("peer", "said", "counts_as"), [
    ("192.0.2.1", "", "192.0.2.1"),
    ("192.0.2.1", "198.51.100.9", "192.0.2.1"),  # Nobody's proxy: it may say what it likes.
    ("10.0.0.1", "198.51.100.9", "198.51.100.9"),
    ("10.0.0.1", "1.2.3.4, 198.51.100.9, 10.0.0.2", "198.51.100.9"),  # What stood before it is the client's word.
    ("10.0.0.1", "nonsense", "10.0.0.1"),
    ("10.0.0.1", "", "10.0.0.1"),
    ("::ffff:192.0.2.1", "", "192.0.2.1"),
    ("2001:db8:0:1::5", "", "2001:db8:0:1::/64"),
    ("", "198.51.100.9", "None"),
])
def test_the_address_that_counts_is_the_last_that_a_proxy_of_ours_vouches_for(peer, said, counts_as):
    guests = Guests(1, "10.0.0.0/8")
    assert guests.home({"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": said}) == counts_as


def test_the_memory_of_addresses_is_bounded():
    clock = [0.0]
    guests = Guests(1, now=lambda: clock[0])
    for number in range(ADDRESSES_MAX + 100):
        guests.admit({"REMOTE_ADDR": f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"})
    assert len(guests._full_at) <= ADDRESSES_MAX
    clock[0] = 60.0
    guests.admit({"REMOTE_ADDR": "192.0.2.1"})
    assert list(guests._full_at) == ["192.0.2.1"]


def test_the_api_refuses_guests_beyond_the_rate(house, monkeypatch):
    refusing = Guests(1)
    monkeypatch.setattr(refusing, "admit", lambda environ: 2.5)
    extension = house.app.extensions["marias"]
    object.__setattr__(extension, "guests", refusing)
    answer = house.call("POST", "/v1/players", json={"name": "Ana"})
    assert (answer.status_code, answer.json["code"], answer.headers["Retry-After"]) == (429, "rate_limited", "3")

"""A queue has no holes, whichever bells are heard, missed, heard twice or out of date."""

import random

import pytest
from fakeredis import FakeRedis

from services.intake import Submitted, submit
from services.store import channels, keys
from services.store.commands import read_commands
from services.worker.inbox import READ_MAX, Inbox
from tests.worker.house import ANA, House

PARTITION = "01"


@pytest.fixture
def ears(house: House) -> channels.Ears:
    ears = channels.Ears(house.redis)
    ears.listen([keys.bell(PARTITION)])
    yield ears
    ears.close()


def send(redis: FakeRedis, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        taken = submit(redis, Submitted("t-01-00000000000a", ANA, "Ána", f"k{number}", {"type": "open"}, number))
        assert taken.status == "new"


def keys_of(inbox: Inbox, count: int = 1_000) -> list[str]:
    return [command.key for command in inbox.take(count, ()).get(PARTITION, [])]


def test_a_bell_tells_the_command_as_the_stream_has_it(house: House, ears: channels.Ears) -> None:
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    inbox.read(house.redis)
    send(house.redis, 3)
    for message in ears.hear(1.0):
        inbox.hear(PARTITION, message.data)
    assert not inbox.is_empty()
    told = inbox.take(9, ())
    assert told == read_commands(house.redis, {PARTITION: "0-0"})
    assert (told[PARTITION][0].name, told[PARTITION][2].if_version) == ("Ána", 2)
    assert inbox.is_empty()


def test_what_was_sent_before_the_first_bell_is_read(house: House, ears: channels.Ears) -> None:
    send(house.redis, 2)
    ears.hear(1.0)
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    send(house.redis, 1, start=2)
    [message] = ears.hear(1.0)
    inbox.hear(PARTITION, message.data)
    inbox.read(house.redis)
    assert keys_of(inbox) == ["k0", "k1", "k2"]


@pytest.mark.parametrize("seed", range(12))
def test_lost_and_repeated_bells_make_no_hole_and_no_double(house: House, ears: channels.Ears, seed: int) -> None:
    chance = random.Random(seed)
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    sent = 0
    got: list[str] = []
    old: list[bytes] = []
    for _ in range(60):
        send(house.redis, count := chance.randrange(4), start=sent)
        sent += count
        for message in ears.hear(0.0):
            old.append(message.data)
            for data in chance.choice([[], [message.data], [message.data] * 2, [chance.choice(old)], [b""]]):
                inbox.hear(PARTITION, data)
        if chance.random() < 0.5:
            inbox.read(house.redis)
            got += keys_of(inbox, chance.randrange(1, 5))
    inbox.look_everywhere()
    while not inbox.is_empty():
        inbox.read(house.redis)
        got += keys_of(inbox)
    assert got == [f"k{number}" for number in range(sent)]


def test_a_long_queue_is_read_in_parts(house: House, ears: channels.Ears) -> None:
    send(house.redis, READ_MAX + 3)
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    inbox.read(house.redis)
    assert not inbox.is_empty()
    assert len(keys_of(inbox)) == READ_MAX
    inbox.read(house.redis)
    assert len(keys_of(inbox)) == 3


def test_partitions_of_others_are_not_queued(house: House, ears: channels.Ears) -> None:
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    inbox.close(PARTITION)
    send(house.redis, 1)
    for message in ears.hear(1.0):
        inbox.hear(PARTITION, message.data)
    assert inbox.is_empty()
    assert not inbox.has(PARTITION)


def test_a_partition_that_needs_care_gives_one_command_at_a_time(house: House, ears: channels.Ears) -> None:
    send(house.redis, 3)
    inbox = Inbox()
    inbox.open(PARTITION, "0-0")
    inbox.read(house.redis)
    assert [len(inbox.take(9, {PARTITION})[PARTITION]) for _ in range(3)] == [1, 1, 1]
    assert inbox.take(9, {PARTITION}) == {}

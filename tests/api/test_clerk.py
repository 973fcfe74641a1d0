"""The Clerk: slow questions wait apart, one who asks for much waits for himself, and nobody is answered too late."""

from collections.abc import Iterator

import msgspec
import pytest
from fakeredis import FakeRedis

from services import records
from services.records import Clerk
from services.store.asking import QUESTIONS, Question, answers
from services.tokens import KeyRing


@pytest.fixture
def redis() -> Iterator[FakeRedis]:
    client = FakeRedis(protocol=2)
    yield client
    client.close()


@pytest.fixture
def clerk(redis: FakeRedis, tmp_path) -> Clerk:
    made = Clerk((redis, redis), KeyRing(tmp_path), ["00"])
    made.turn(0)
    return made


def ask(redis: FakeRedis, kind: str, nonce: str, token: str = "ana") -> None:
    redis.publish(QUESTIONS, msgspec.json.encode(Question(kind, token, "t-00-000000000000", 1, nonce=nonce)))


@pytest.fixture
def told(redis: FakeRedis, clerk: Clerk):
    """All that is answered, by nonce."""
    ears = redis.pubsub(ignore_subscribe_messages=True)
    ears.psubscribe(answers("*"))

    def read() -> dict[str, bytes]:
        found = {}
        while (message := ears.get_message()) is not None:
            found[message["channel"].decode().rpartition(":")[2]] = message["data"]
        return found

    assert ears.get_message() is None, "that it listens"
    return read


def test_a_slow_question_waits_and_the_others_do_not(redis, clerk, told):
    ask(redis, "replay", "slow")
    ask(redis, "record", "quick")
    clerk.turn(0)
    assert told() == {"quick": b"-unauthenticated"}
    clerk.turn_slow(0)
    assert told() == {"slow": b"-unauthenticated"}


def test_who_asks_for_much_at_once_waits_for_himself(redis, clerk, told):
    for number in range(records.SLOW_OF_ONE_MAX + 1):
        ask(redis, "replay", f"a{number}")
    ask(redis, "replay", "b", token="bára")
    clerk.turn(0)
    assert told() == {f"a{records.SLOW_OF_ONE_MAX}": b"-rate_limited"}
    for _ in range(records.SLOW_OF_ONE_MAX + 1):
        clerk.turn_slow(0)
    assert len(told()) == records.SLOW_OF_ONE_MAX + 1
    ask(redis, "replay", "again")
    clerk.turn(0)
    clerk.turn_slow(0)
    assert told() == {"again": b"-unauthenticated"}


def test_no_more_wait_than_can_be_answered(redis, clerk, told, monkeypatch):
    monkeypatch.setattr(records, "SLOW_MAX", 2)
    for number in range(3):
        ask(redis, "replay", f"{number}", token=f"guest {number}")
    clerk.turn(0)
    assert told() == {"2": b"-unavailable"}


def test_nobody_is_answered_who_has_given_up(redis, clerk, told, monkeypatch):
    ask(redis, "replay", "late")
    clerk.turn(0)
    monkeypatch.setattr(records, "ANSWER_SECONDS_MAX", -1.0)
    clerk.turn_slow(0)
    assert told() == {}


def test_what_is_no_question_stops_nobody(redis, clerk, told):
    for said in (b"", b"{}", b"[1]", b'{"kind":"replay"}', b"\xff" * 100, b'{"kind":1,"token":""}'):
        redis.publish(QUESTIONS, said)
    ask(redis, "no such kind", "odd")
    ask(redis, "record", "next")
    clerk.turn(0)
    assert told() == {"odd": b"-unauthenticated", "next": b"-unauthenticated"}

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
def ring(tmp_path) -> KeyRing:
    return KeyRing(tmp_path)


@pytest.fixture
def clerk(redis: FakeRedis, ring: KeyRing) -> Clerk:
    made = Clerk((redis, redis), ring, ["00"])
    made.turn(0)
    return made


@pytest.fixture
def ask(redis: FakeRedis, ring: KeyRing):
    """Ask of a table that there is not; `who` has another token each second."""

    def put(kind: str, nonce: str, who: str = "ana", seconds: int = 60, token: str = "") -> None:
        token = token or ring.issue(role="player", sub=who, name="", seconds=seconds)
        redis.publish(QUESTIONS, msgspec.json.encode(Question(kind, token, "t-00-000000000000", 1, nonce=nonce)))

    return put


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


def test_a_slow_question_waits_and_the_others_do_not(ask, clerk, told):
    ask("replay", "slow")
    ask("record", "quick")
    clerk.turn(0)
    assert told() == {"quick": b"-not_found"}
    clerk.turn_slow(0)
    assert told() == {"slow": b"-not_found"}


def test_who_is_not_known_need_not_wait(ask, clerk, told):
    ask("replay", "forged", token="ana")
    ask("replay", "old", seconds=-1)
    clerk.turn(0)
    assert told() == {"forged": b"-unauthenticated", "old": b"-unauthenticated"}


def test_who_asks_for_much_at_once_waits_for_himself(ask, clerk, told):
    for number in range(records.SLOW_OF_ONE_MAX + 1):
        ask("replay", f"a{number}", seconds=60 + number)  # As a visitor, who has a token for each page.
    ask("replay", "b", who="bára")
    clerk.turn(0)
    assert told() == {f"a{records.SLOW_OF_ONE_MAX}": b"-rate_limited"}
    for _ in range(records.SLOW_OF_ONE_MAX + 1):
        clerk.turn_slow(0)
    assert len(told()) == records.SLOW_OF_ONE_MAX + 1
    ask("replay", "again")
    clerk.turn(0)
    clerk.turn_slow(0)
    assert told() == {"again": b"-not_found"}


def test_no_more_wait_than_can_be_answered(ask, clerk, told, monkeypatch):
    monkeypatch.setattr(records, "SLOW_MAX", 2)
    for number in range(3):
        ask("replay", f"{number}", who=f"guest {number}")
    clerk.turn(0)
    assert told() == {"2": b"-unavailable"}


def test_nobody_is_answered_who_has_given_up(ask, clerk, told, monkeypatch):
    ask("replay", "late")
    clerk.turn(0)
    monkeypatch.setattr(records, "ANSWER_SECONDS_MAX", -1.0)
    clerk.turn_slow(0)
    assert told() == {}


def test_what_is_no_question_stops_nobody(redis, ask, clerk, told):
    for said in (b"", b"{}", b"[1]", b'{"kind":"replay"}', b"\xff" * 100, b'{"kind":1,"token":""}'):
        redis.publish(QUESTIONS, said)
    ask("no such kind", "odd")
    ask("record", "next")
    clerk.turn(0)
    assert told() == {"odd": b"-forbidden", "next": b"-not_found"}

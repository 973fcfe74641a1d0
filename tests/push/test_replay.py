"""What a client has missed is told to the holder of a seat, and to nobody who holds it later."""

from collections.abc import Callable

from services.push.live import Subscriber
from services.push.messages import STREAMS
from services.push.replay import catcher
from services.store.views import Current, Feed, Item
from tests.cast import ANA, BARA, CYRIL, DANA

OTHERS = (BARA.id, CYRIL.id)


class Line:
    """A connection that keeps what is sent."""

    closed = False

    def __init__(self) -> None:
        self.sent = b""

    def send(self, data: bytes) -> bool:
        self.sent += data
        return True

    def drain(self) -> bool:
        return True


class World:
    """A table at which something happens between any two looks at it."""

    def __init__(self, who: str, happens: Callable[["World"], None]) -> None:
        self.who, self.version, self._happens = who, 1, happens

    def current(self, table: str) -> Current:
        found = Current(self.version, b'"version":1', (b"", b"", b""), (self.who, *OTHERS), "", 0)
        self._happens(self)
        return found

    def feed(self, table: str, after: int, limit: int) -> Feed:
        items = [
            Item(version, 0, {None: b"[]", 0: b'["a secret"]', 1: b"[]", 2: b"[]"})
            for version in range(after + 1, self.version + 1)
        ]
        found = Feed(self.version, items, 1, more=False, gone=False)
        self._happens(self)
        return found


def missed(actor: str, world: World) -> bytes:
    """What is sent to `actor`, who has seen nothing yet."""
    line = Line()
    subscriber = Subscriber(line, STREAMS["none"], "t-1f-00000000000a", actor, knows_code=True)
    catcher(world)(subscriber, subscriber.turn)
    return line.sent


def test_who_sits_is_told_his_own() -> None:
    sent = missed(ANA.id, World(ANA.id, lambda world: None))
    assert sent.count(b"a secret") == 1


def test_who_sits_down_while_he_catches_up_is_not_told_what_his_seat_was_told_before() -> None:
    def sits_down(world: World) -> None:
        world.who = DANA.id

    sent = missed(DANA.id, World(ANA.id, sits_down))
    assert b"id: 1\n" in sent
    assert b"a secret" not in sent


def test_who_is_freed_while_he_catches_up_is_not_told_what_his_seat_is_told_after_him() -> None:
    def is_freed(world: World) -> None:
        world.who, world.version = DANA.id, world.version + 1

    sent = missed(ANA.id, World(ANA.id, is_freed))
    assert sent.count(b"a secret") == 1

"""What a client has missed is told to the holder of a seat, and to nobody who holds it later."""

import re
from collections.abc import Callable, Sequence
from random import Random

import pytest

from services.bench.played import Chain
from services.push.live import Subscriber
from services.push.messages import SOCKETS, STREAMS, Transport
from services.push.replay import catcher
from services.store.append import Entry
from services.store.leases import Lease
from services.store.views import Current, Feed, Item
from tests.cast import ANA, BARA, CYRIL, DANA

OTHERS = (BARA.id, CYRIL.id)
VERSION = re.compile(rb'{"version":([0-9]+),"events":')


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


class Evening:
    """A table as it stood after the last of `entries`; its feed keeps the deal before the running one, as in service.
    """

    def __init__(self, entries: Sequence[Entry], forgotten: int) -> None:
        self._last, self._kept = entries[-1], entries[forgotten:]
        self.version = self._last.expected + 1

    def current(self, table: str) -> Current:
        last = self._last
        return Current(self.version, b"%b,%b" % (last.brief, last.about), last.private, tuple(last.who.split("|")),
                       "", 0)

    def feed(self, table: str, after: int, limit: int) -> Feed:
        items = [item(entry) for entry in self._kept if entry.expected >= after]
        assert len(items) <= limit
        oldest = self._kept[0].expected + 1
        return Feed(self.version, items, oldest, more=False, gone=oldest > after + 1)


def item(entry: Entry) -> Item:
    public, seen = entry.shown
    events: dict[int | None, bytes] = {seat: seen[seat] or public for seat in range(3)}
    return Item(entry.expected + 1, entry.at, events | {None: public})


def missed(actor: str, world: World | Evening, after: int = 0, transport: Transport = STREAMS["none"]) -> bytes:
    """What is sent to `actor`, who has seen nothing after version `after`."""
    line = Line()
    subscriber = Subscriber(line, transport, "t-1f-00000000000a", actor, knows_code=True)
    subscriber.version = after
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


@pytest.mark.parametrize("seed", range(3))
def test_who_resumes_is_sent_every_version_of_the_deal_or_the_view_and_never_much(seed: int) -> None:
    chain = Chain(None, "1f", Lease("1-x", "0-0", orphaned=False), Random(seed))
    before, running = chain.evening(2)
    first, second = (_committed(entries) for entries in (before, running))
    most, resets = 0, 0
    for told in range(1, len(running) + 1):
        begun = second if told > second - len(before) else first
        world = Evening([*before, *running[:told]], first)
        for after in range(1, world.version):
            sent = missed(world.current("").who[0], world, after, SOCKETS["patch"])
            most = max(most, len(sent))
            is_reset = b'"reset":true' in sent
            resets += is_reset and after >= first
            assert is_reset or [*map(int, VERSION.findall(sent))] == [*range(after + 1, world.version + 1)]
            assert not is_reset or after < begun
    assert resets > 0
    assert most < 7_500


def _committed(entries: Sequence[Entry]) -> int:
    """The version before the one at which the deal of `entries` was committed to."""
    return next(entry.expected for entry in entries if b'"deal_committed"' in entry.shown[0])

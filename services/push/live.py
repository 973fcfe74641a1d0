"""Who follows which table now: each version goes to all of them as soon as it is known to be kept."""

from collections.abc import Callable

import gevent

from services.push.connection import Connection
from services.push.messages import Seat, Transport
from services.push.rendering import Rendering
from services.store.feed import Change, Feed

HELD_MESSAGES_MAX = 64
NOT_VIEWED = -1


class Subscriber:
    """A client that follows a table from some version on, every later one exactly once and in order.

    While it `holds`, what happens is put aside; it is let go by `release` when it has been sent all that came before.
    `knows_code`: it may watch without a seat.
    """

    __slots__ = (
        "_begun", "_held", "_overrun", "actor", "connection", "knows_code", "table", "transport", "turn", "version",
        "viewed",
    )

    def __init__(
        self, connection: Connection, transport: Transport, table: str, actor: str, *, knows_code: bool
    ) -> None:
        self.connection = connection
        self.transport = transport
        self.table = table
        self.actor = actor
        self.knows_code = knows_code
        self.version = 0
        self.viewed: Seat = NOT_VIEWED  # The seat whose view at `version` the client was sent.
        self.turn = 0
        self._begun = 0  # All after this version is or was sent.
        self._held: list[tuple[Rendering, Seat]] | None = []
        self._overrun = False

    @property
    def holds(self) -> bool:
        """Is what happens put aside?"""
        return self._held is not None

    def hold(self) -> int:
        """Put aside what happens from now on; the number of this turn. Whoever was catching up before gives way."""
        self._held = []
        self._overrun = False
        self.turn += 1
        return self.turn

    def begin(self) -> int:
        """Follow from the present version on; the number of the turn."""
        self._begun = self.version
        return self.hold()

    def resume(self, version: int) -> int | None:
        """Follow from `version` on instead; the number of the turn. None: there is nothing to change, as all after it
        was or is being sent on this connection.

        Who says so late is followed from now in the meantime. If he lacks versions before that, he is sent all anew.
        """
        if self.turn and self._begun <= version <= self.version:
            return None
        self.version, self.viewed = version, NOT_VIEWED
        return self.begin()

    def offer(self, rendering: Rendering, seat: Seat) -> bool:
        """Send a version on, or put it aside. False: versions before it are missing, and it was not sent.

        A client who has not taken the messages before this one is dropped, to come back and resume.
        """
        version = rendering.change.version
        if self._held is not None:
            if len(self._held) < HELD_MESSAGES_MAX:
                self._held.append((rendering, seat))
            else:
                self._overrun = True
        elif version > self.version:
            if version != self.version + 1:
                return False
            message = rendering.message(self.transport, seat, has_last=self.viewed == seat)
            self.version, self.viewed = version, seat
            if not self.connection.send(message):
                self.connection.finish(self.transport.too_slow)
        return True

    def release(self) -> bool:
        """Send what was put aside and hold no longer. False: some of it is missing, the store must be read again."""
        newer = [(rendering, seat) for rendering, seat in self._held or () if rendering.change.version > self.version]
        complete = not self._overrun and all(
            rendering.change.version == self.version + place for place, (rendering, _) in enumerate(newer, 1)
        )
        if not complete:
            self._held, self._overrun = [], False
            return False
        self._held = None
        if newer:
            messages = [rendering.message(self.transport, seat, has_last=False) for rendering, seat in newer]
            self.version, self.viewed = newer[-1][0].change.version, newer[-1][1]
            self.connection.send(b"".join(messages))
        return True


class Live:
    """All subscribers of this process, by table, fed by the one reader of the push streams.

    `catch_up(subscriber, turn)` sends a holding subscriber what the store has after its version, and releases it.
    """

    def __init__(self, feed: Feed, catch_up: Callable[[Subscriber, int], None]) -> None:
        self._feed = feed
        self._catch_up = catch_up
        self._tables: dict[str, _Followed] = {}

    def join(self, subscriber: Subscriber) -> None:
        """Let `subscriber`, which holds, hear of everything from now on."""
        followed = self._tables.get(subscriber.table)
        if followed is None:
            followed = self._tables[subscriber.table] = _Followed([], self._catch_up)
            followed.stop = self._feed.on_version(subscriber.table, followed.heard)
        followed.subscribers.append(subscriber)

    def leave(self, subscriber: Subscriber) -> None:
        """Forget `subscriber`. May be called again."""
        followed = self._tables.get(subscriber.table)
        if followed is None or subscriber not in followed.subscribers:
            return
        followed.subscribers.remove(subscriber)
        if not followed.subscribers:
            del self._tables[subscriber.table]
            followed.stop()


class _Followed:
    """A table with at least one subscriber."""

    def __init__(self, subscribers: list[Subscriber], catch_up: Callable[[Subscriber, int], None]) -> None:
        self.subscribers = subscribers
        self.stop: Callable[[], None] = lambda: None
        self._last: Rendering | None = None
        self._catch_up = catch_up

    def heard(self, change: Change | None) -> None:
        if change is None:
            for subscriber in self.subscribers:
                self._start_over(subscriber)
            return
        rendering = Rendering(change, self._last)
        rendering.forget_before()
        self._last = rendering
        seats: dict[str, Seat] = {actor: seat for seat, actor in enumerate(change.who) if actor}
        for subscriber in tuple(self.subscribers):
            seat = seats.get(subscriber.actor)
            if seat is None and not subscriber.knows_code:
                subscriber.connection.finish(subscriber.transport.not_allowed)
            elif not subscriber.offer(rendering, seat):
                self._start_over(subscriber)

    def _start_over(self, subscriber: Subscriber) -> None:
        """Read from the store what the live feed has missed, unless that is being done."""
        if not subscriber.holds:
            gevent.spawn(self._catch_up, subscriber, subscriber.hold())

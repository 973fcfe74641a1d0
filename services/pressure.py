"""What is given up first when commands come faster than they are decided: who watches, then who reads what was, then
who wants to join, and only then who plays. The clock is never refused."""

import time
from collections.abc import Callable
from enum import StrEnum

from redis import Redis

from services.store import keys
from services.store.wire import ask, ask_all

QUEUE_MAX = 2_000
"""Commands of a partition that may wait."""
WAIT_MS_MAX = 10_000
"""How long the oldest of them may: whoever has one worker for many busy partitions has a long wait before they are
full. It is longer than it takes a worker to take over from one that died."""
FEW = 256
"""With fewer in the stream, handled ones that are not yet cut off included, nobody looks at their age."""
LOOK_SECONDS = 1.0


WINDOW_SECONDS = 2
"""A player may send twice his rate at once, but no more before the window has ended."""

UNCOUNTED_PART = 8


class Wish(StrEnum):
    """What somebody wants of a table, the least important first."""

    WATCH = "watch"
    READ = "read"
    JOIN = "join"
    PLAY = "play"


SHED_AT = {Wish.WATCH: 0.5, Wish.READ: 0.6, Wish.JOIN: 0.75, Wish.PLAY: 1.0}
"""The part of QUEUE_MAX from which on it is refused."""

_JOINS = frozenset({"open", "open_account", "sit"})


def most_waiting(kind: object) -> int:
    """How many commands may wait already when one of this type is taken in."""
    return max(1, int(QUEUE_MAX * SHED_AT[Wish.JOIN if kind in _JOINS else Wish.PLAY]))


class Rates:
    """How many commands a player may send to a partition: `rate` a second, 0: no limit. Bots and the clock may all.

    The store counts for all processes together, but only for who is quick here: counting costs it as much as a fifth
    of taking the command in, and few people play faster than a command in some tens of milliseconds.
    """

    def __init__(self, rate: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most = WINDOW_SECONDS * rate
        self._now = now
        self._sent: dict[str, int] = {}
        self._ends = 0.0

    def most(self, actor: str, partition: str) -> int:
        """How many commands of `actor` the store is to take in a window, this one included; 0: it need not count."""
        if not self._most or not actor.startswith("u-"):
            return 0
        now = self._now()
        if now >= self._ends:
            self._sent.clear()
            self._ends = now + WINDOW_SECONDS
        name = actor + partition
        self._sent[name] = sent = self._sent.get(name, 0) + 1
        uncounted = self._most // UNCOUNTED_PART
        return 0 if sent <= uncounted else self._most - uncounted


class Pressure:
    """How full the queues of the partitions are, as one process knows it: each is looked at once a second at most."""

    def __init__(self, redis: Redis, now: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._now = now
        self._seen: dict[str, tuple[float, int]] = {}

    def sheds(self, aggregate: str, wish: Wish) -> bool:
        """Is this wish about a table or an account to be refused now? Raises StoreUnavailable."""
        return self._waiting(keys.partition_of(aggregate)) >= QUEUE_MAX * SHED_AT[wish]

    def _waiting(self, partition: str) -> int:
        now = self._now()
        at, waiting = self._seen.get(partition, (-LOOK_SECONDS, 0))
        if now - at >= LOOK_SECONDS:
            waiting = _waiting(self._redis, partition)
            self._seen[partition] = (now, waiting)
        return waiting


def _waiting(redis: Redis, partition: str) -> int:
    """About how many commands wait. Handled ones are let go in blocks, and only when new ones come."""
    commands = keys.commands(partition)
    length, cursor = ask_all(redis, [("XLEN", commands), ("HGET", keys.state(partition), "cur")])
    if length < QUEUE_MAX * min(SHED_AT.values()) or cursor is None:
        return int(length)
    ask(redis, "XTRIM", commands, "MINID", "~", cursor)
    return int(ask(redis, "XLEN", commands))

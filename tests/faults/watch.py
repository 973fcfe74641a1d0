"""Watching the tables from outside: how long each stood still while it could have gone on, and how soon it went on."""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from redis import Redis

from services.store import keys
from services.store.wire import StoreUnavailable, ask_many

LOOK_SECONDS = 0.1


class Stall(NamedTuple):
    """A table stood still for `seconds` until `at`, both by a clock that never goes back."""

    seconds: float
    at: float
    table: str


class Watch(threading.Thread):
    """Looks at the versions of `tables` ten times a second, until `over`.

    Time in which no worker or no API node lives or replicas are away that must confirm (as `can_play` tells, given
    the roll of workers), or the store does not answer, does not count: nobody could have gone on. `longest_of_all`
    counts all of it.
    """

    def __init__(
        self, redis: Redis, tables: Sequence[str], can_play: Callable[[list[str]], bool], over: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.longest = Stall(0.0, 0.0, "")
        self.longest_of_all = 0.0
        self.advances: list[tuple[float, str]] = []
        self.store_away = 0.0
        self.versions: dict[str, int] = dict.fromkeys(tables, 0)
        self._redis, self._can_play, self._over = redis, can_play, over
        self._still = dict.fromkeys(tables, 0.0)
        self._since = dict.fromkeys(tables, time.monotonic())
        self._roll: list[str] = []
        self._clock: list[tuple[float, float]] = [(time.monotonic(), 0.0)]

    def run(self) -> None:
        """Look, and look again."""
        before = time.monotonic()
        while not self._over.wait(LOOK_SECONDS):
            counts = self._can_play(self._roll)
            found = self._look()
            now = time.monotonic()
            passed, before = now - before, now
            if found is None:
                self.store_away += passed
                continue
            self._clock.append((now, self._clock[-1][1] + (passed if counts else 0.0)))
            for table, version in zip(self._still, found, strict=True):
                if counts:
                    self._still[table] += passed
                if version != self.versions[table]:
                    self._moved(table, version, now)

    def finish(self) -> Stall:
        """The longest stall, with those that have not ended."""
        for table in self._still:
            self._end(table, time.monotonic())
        return self.longest

    def resumed(self, since: float) -> float | None:
        """How long after `since` every table had gone on, in time that counts; None when one never did."""
        first: dict[str, float] = {}
        for at, table in reversed(self.advances):
            if at < since:
                break
            first[table] = at
        if len(first) < len(self._still):
            return None
        return self._counted(max(first.values())) - self._counted(since)

    def _counted(self, at: float) -> float:
        """How much of the time until `at` counts."""
        place = bisect_right(self._clock, (at, float("inf")))
        return self._clock[max(0, place - 1)][1]

    def _moved(self, table: str, version: int, now: float) -> None:
        self._end(table, now)
        self.versions[table] = version
        self.advances.append((now, table))

    def _end(self, table: str, now: float) -> None:
        self.longest = max(self.longest, Stall(self._still[table], now, table))
        self._still[table] = 0.0
        self.longest_of_all = max(self.longest_of_all, now - self._since[table])
        self._since[table] = now

    def _look(self) -> list[int] | None:
        try:
            roll, *replies = ask_many(self._redis, [
                ("ZRANGE", keys.workers(), 0, -1), *(("HGET", keys.view(table), "v") for table in self._still),
            ])
        except StoreUnavailable:
            return None
        self._roll = [name.decode() for name in roll]
        return [int(reply) if isinstance(reply, bytes) else 0 for reply in replies]

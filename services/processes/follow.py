"""The loop of a process: react to what the log points at, again after a crash, in the order of each partition."""

import logging
import time
from collections.abc import Callable, Sequence

from redis import Redis

from services.store.outbox import Pointer, handled, read_log, set_handled
from services.store.wire import StoreUnavailable

BLOCK_MS = 1_000
LAZY_SECONDS = 2.0
"""How late a position may be written: what is handled again does nothing new."""
PAUSE_SECONDS = 0.1
REST_SECONDS = 0.05
"""After news that were for others: what comes meanwhile is then read at once, not one by one. To wait for 64 logs
costs the store more than to read what is in them."""
UNHURRIED_SECONDS = 0.1
"""The same after news of its own, for a process that need not be quick."""

_log = logging.getLogger(__name__)

Handle = Callable[[Sequence[Pointer]], bool]
"""Gives whether any of the pointers was for it."""


class Follower:
    """Hands the pointers of `partitions` to `handle`, and remembers in the store how far it came as `process`.

    It rests for `rest_seconds` after what was for it.
    """

    def __init__(
        self, redis: Redis, process: str, partitions: Sequence[str], handle: Handle, rest_seconds: float = 0.0
    ) -> None:
        self._redis = redis
        self._process = process
        self._partitions = partitions
        self._handle = handle
        self._own_rest = rest_seconds
        self._rest = 0.0
        self._read: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        self._written = 0.0

    def run(self, should_stop: Callable[[], bool]) -> None:
        """React until told to stop; a store that is away is waited for."""
        while not should_stop():
            try:
                if self.turn(BLOCK_MS):
                    time.sleep(self._rest)
            except StoreUnavailable as error:
                _log.warning("%s: the store is away: %s", self._process, error)
                self._read = {}
                time.sleep(PAUSE_SECONDS)
        self.keep()

    def turn(self, block_ms: int | None) -> bool:
        """One round over what is new; gives whether anything was. Waits up to `block_ms` for it."""
        if not self._read:
            self._kept = handled(self._redis, self._process, self._partitions)
            self._read = dict(self._kept)
        if block_ms is not None and self._read != self._kept:
            block_ms = min(block_ms, int(LAZY_SECONDS * 1000))
        news = read_log(self._redis, self._read, block_ms)
        if news:
            ours = self._handle([pointer for pointers in news.values() for pointer in pointers])
            self._rest = self._own_rest if ours else REST_SECONDS
        self._read |= {partition: pointers[-1].id for partition, pointers in news.items()}
        if not news or time.monotonic() - self._written > LAZY_SECONDS:
            self.keep()
        return bool(news)

    def keep(self) -> None:
        """Write how far we came."""
        moved = {each: id_ for each, id_ in self._read.items() if self._kept.get(each) != id_}
        if moved:
            set_handled(self._redis, self._process, moved)
            self._kept |= moved
        self._written = time.monotonic()

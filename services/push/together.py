"""Intake for a whole process: whatever comes while a round trip is under way goes together with the next one."""

import logging
from collections import deque
from typing import Protocol

import gevent
from gevent.event import AsyncResult, Event
from redis import Redis
from redis.exceptions import RedisError

from services.intake import Submitted, Taken, submit_many
from services.pressure import Rates
from services.store.wire import StoreUnavailable

TOGETHER_MAX = 64
WAITING_MAX = 1_024
"""Commands that may wait for a store that is slow; more are refused at once, to be sent again."""
BUSY = 3
GATHERING_SECONDS = 0.0005  # Where several commands came at once more will come, and each round trip costs the same.

_log = logging.getLogger(__name__)


class Taker(Protocol):
    """Who is told what intake says; neither function may wait."""

    def taken(self, taken: Taken) -> None:
        """Intake has answered."""

    def failed(self, error: Exception) -> None:
        """It did not: the command may be in or not."""


class _Waiter:
    """A greenlet that waits for intake's answer."""

    def __init__(self) -> None:
        self.result: AsyncResult[Taken] = AsyncResult()
        self.taken = self.result.set
        self.failed = self.result.set_exception


class Together:
    """Takes commands in. Whoever sends one need not wait for those of others, only for the same round trip."""

    def __init__(self, redis: Redis, rates: Rates | None = None) -> None:
        self._redis = redis
        self._rates = rates
        self._new: deque[tuple[Submitted, Taker]] = deque()
        self._wake = Event()

    def put(self, submitted: Submitted, taker: Taker) -> None:
        """Send a command with the next round trip. Does not wait."""
        if len(self._new) >= WAITING_MAX:
            gevent.get_hub().loop.run_callback(taker.taken, Taken("busy"))
            return
        self._new.append((submitted, taker))
        self._wake.set()

    def submit(self, submitted: Submitted) -> Taken:
        """Take one command in and wait for that, as `services.intake.submit` does. Raises StoreUnavailable."""
        waiter = _Waiter()
        self.put(submitted, waiter)
        taken: Taken = waiter.result.get()
        return taken

    def run(self) -> None:
        """Send for ever."""
        last = 0
        while True:
            self._wake.wait()
            self._wake.clear()
            if last >= BUSY:
                gevent.sleep(GATHERING_SECONDS)
            last = len(self._new)
            while self._new:
                self._send([self._new.popleft() for _ in range(min(len(self._new), TOGETHER_MAX))])

    def _send(self, batch: list[tuple[Submitted, Taker]]) -> None:
        try:
            outcomes = submit_many(self._redis, [submitted for submitted, _ in batch], self._rates)
        except (StoreUnavailable, RedisError) as error:
            _log.warning("%d commands were not taken in: %s", len(batch), error)
            for _, taker in batch:
                taker.failed(error)
            return
        for (_, taker), outcome in zip(batch, outcomes, strict=True):
            taker.taken(outcome)

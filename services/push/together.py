"""Intake for a whole process: whatever comes while a round trip is under way goes together with the next one."""

import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import gevent
from gevent.event import AsyncResult, Event
from redis import Redis
from redis.exceptions import RedisError

from services.intake import Submitted, Taken, submit_many
from services.store.wire import StoreUnavailable

TOGETHER_MAX = 64
BUSY = 3
GATHERING_SECONDS = 0.0005  # Where several commands came at once more will come, and each round trip costs the same.

_log = logging.getLogger(__name__)


class _New(NamedTuple):
    submitted: Submitted
    taken: Callable[[Taken], None]
    failed: Callable[[Exception], None]


class Together:
    """Takes commands in. Whoever sends one need not wait for those of others, only for the same round trip."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._new: deque[_New] = deque()
        self._wake = Event()

    def put(
        self, submitted: Submitted, taken: Callable[[Taken], None], failed: Callable[[Exception], None]
    ) -> None:
        """Send a command with the next round trip; one of the two functions is called with what comes of it.

        Does not wait, and the functions must not.
        """
        self._new.append(_New(submitted, taken, failed))
        self._wake.set()

    def submit(self, submitted: Submitted) -> Taken:
        """Take one command in and wait for that, as `services.intake.submit` does. Raises StoreUnavailable."""
        result: AsyncResult[Taken] = AsyncResult()
        self.put(submitted, result.set, result.set_exception)
        taken: Taken = result.get()
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

    def _send(self, batch: list[_New]) -> None:
        try:
            taken = submit_many(self._redis, [each.submitted for each in batch])
        except (StoreUnavailable, RedisError) as error:
            _log.warning("%d commands were not taken in: %s", len(batch), error)
            for each in batch:
                each.failed(error)
            return
        for each, outcome in zip(batch, taken, strict=True):
            each.taken(outcome)

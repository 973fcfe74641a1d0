"""The partitions of this worker: on the roll, claimed, renewed, handed over to others and released."""

import logging
from collections.abc import Callable, Iterable, Sequence

from redis import Redis

from services.store import leases
from services.worker.share import share

LOOK_SECONDS = 0.1
BEAT_SECONDS = leases.RENEW_MS / 1000
SHUN_SECONDS = 15.0

_log = logging.getLogger(__name__)


class Owned:
    """What this worker owns, and what it should.

    `fences` are the leases it holds; `claimed` and `dropped` tell of changes. Times are seconds of `now`, a
    clock that never goes back.
    """

    def __init__(self, redis: Redis, name: str, partitions: Sequence[str], now: Callable[[], float]) -> None:
        self.fences: dict[str, str] = {}
        self.server_ahead_ms = 0
        """How far the store's clock is ahead of `wall_ms`."""
        self._redis = redis
        self._name = name
        self._partitions = partitions
        self._now = now
        self._roll: list[str] = []
        self._wanted: set[str] = set()
        self._shunned: dict[str, float] = {}
        self._next_look = self._next_beat = 0.0

    def look(self, wall_ms: Callable[[], int]) -> tuple[dict[str, leases.Lease], list[str]]:
        """What was newly claimed, and what is no longer owned. Does nothing most times. Raises StoreUnavailable."""
        now = self._now()
        if now < self._next_look:
            return {}, []
        self._next_look = now + LOOK_SECONDS
        lost = self._beat(now, wall_ms)
        surplus = [each for each in self.fences if each not in self._wanted]
        leases.release(self._redis, {each: self.fences[each] for each in surplus})
        self.drop(surplus)
        return self._claim(now), [*lost, *surplus]

    def drop(self, partitions: Iterable[str]) -> None:
        """These are no longer ours, as the store has told or is told by others."""
        for partition in partitions:
            self.fences.pop(partition, None)

    def shun(self, partition: str) -> None:
        """Give up a partition that this build cannot handle, and leave it to others for a while."""
        self._shunned[partition] = self._now() + SHUN_SECONDS
        if partition in self.fences:
            leases.release(self._redis, {partition: self.fences.pop(partition)})

    def renew(self) -> list[str]:
        """Prolong all leases; gives those that are lost."""
        lost = sorted(leases.renew(self._redis, self.fences))
        if lost:
            _log.warning("lost the leases of partitions %s", " ".join(lost))
        self.drop(lost)
        return lost

    def release_all(self) -> None:
        """Leave the roll and give everything back, so that others need not wait."""
        leases.sign_off(self._redis, self._name)
        leases.release(self._redis, self.fences)
        self.fences.clear()

    def _beat(self, now: float, wall_ms: Callable[[], int]) -> list[str]:
        due = now >= self._next_beat
        roll = leases.heartbeat(self._redis, self._name if due else "")
        if roll.workers != self._roll:
            self._roll = roll.workers
            shared = share(roll.workers, self._partitions)
            self._wanted = {partition for partition, worker in shared.items() if worker == self._name}
        if not due:
            return []
        self._next_beat = now + BEAT_SECONDS
        self.server_ahead_ms = roll.at - wall_ms()
        return self.renew()

    def _claim(self, now: float) -> dict[str, leases.Lease]:
        missing = [
            each for each in sorted(self._wanted - self.fences.keys()) if self._shunned.get(each, 0.0) <= now
        ]
        claimed = leases.claim(self._redis, missing, self._name)
        self.fences.update({partition: lease.fence for partition, lease in claimed.items()})
        return claimed

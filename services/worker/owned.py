"""The partitions of this worker: on the roll, claimed, renewed, handed over to others and released."""

import logging
from collections.abc import Callable, Iterable, Sequence

from redis import Redis

from services.store import leases
from services.store.leases import Gap, Lease
from services.worker.share import share

LOOK_SECONDS = 0.1
BEAT_SECONDS = leases.RENEW_MS / 1000
SHUN_SECONDS = 15.0

_log = logging.getLogger(__name__)


class Owned:
    """What this worker owns: `leases` by partition, as far as it knows; `changes` counts how often that changed.

    `now` gives seconds and never goes back.
    """

    def __init__(self, redis: Redis, name: str, partitions: Sequence[str], now: Callable[[], float]) -> None:
        self.leases: dict[str, Lease] = {}
        self.changes = 0
        self.server_ahead_ms = 0
        """How far the store's clock is ahead of `now`, which no wall clock of this machine can disturb."""
        self.gaps: tuple[Gap, ...] = ()
        """When nobody could play, as the store has told."""
        self._redis = redis
        self.name = name
        self._partitions = partitions
        self._now = now
        self._roll: list[str] = []
        self._wanted: set[str] = set()
        self._shunned: dict[str, float] = {}
        self._next_look = self._next_beat = 0.0

    @property
    def fences(self) -> dict[str, str]:
        """The fence of each partition."""
        return {partition: lease.fence for partition, lease in self.leases.items()}

    def hurry(self, *, beat: bool = False) -> None:
        """Somebody came or went: look at the next occasion. With `beat` also ask for the time."""
        self._next_look = 0.0
        if beat:
            self._next_beat = 0.0

    def look(self) -> None:
        """Renew, hand over and claim, as far as it is time to. Raises StoreUnavailable, perhaps halfway."""
        now = self._now()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        self._beat(now)
        self._hand_over()
        self._claim(now)

    def stay(self) -> None:
        """Keep the place on the roll and the leases, in the middle of work that takes long. Raises StoreUnavailable."""
        now = self._now()
        if now >= self._next_beat:
            self._beat(now)

    def drop(self, partitions: Iterable[str]) -> None:
        """These are no longer ours, as the store has told or is told by others."""
        for partition in partitions:
            self.changes += self.leases.pop(partition, None) is not None

    def shun(self, partition: str) -> None:
        """Give up a partition that this build cannot handle, and leave it to others for a while."""
        self._shunned[partition] = self._now() + SHUN_SECONDS
        if lease := self.leases.get(partition):
            self.drop([partition])
            leases.release(self._redis, {partition: lease.fence})

    def renew(self) -> None:
        """Prolong all leases, and drop those that are lost."""
        lost = sorted(leases.renew(self._redis, self.fences))
        if lost:
            _log.warning("lost the leases of partitions %s", " ".join(lost))
        self.drop(lost)

    def release_all(self) -> None:
        """Leave the roll and give everything back, so that others need not wait."""
        leases.sign_off(self._redis, self.name)
        leases.release(self._redis, self.fences)
        self.leases.clear()
        leases.tell(self._redis)

    def _beat(self, now: float) -> None:
        due = now >= self._next_beat
        roll = leases.heartbeat(self._redis, self.name if due else "")
        if due and self.name not in self._roll:
            leases.tell(self._redis)
        if roll.workers != self._roll:
            self._roll = roll.workers
            shared = share(roll.workers, self._partitions)
            self._wanted = {partition for partition, worker in shared.items() if worker == self.name}
        if due:
            self.server_ahead_ms = roll.at - int(1000 * self._now())
            self.gaps = roll.gaps
            self.renew()
            self._next_beat = now + BEAT_SECONDS

    def _hand_over(self) -> None:
        """Give what others should own."""
        surplus = {each: lease.fence for each, lease in self.leases.items() if each not in self._wanted}
        if surplus:
            leases.release(self._redis, surplus)
            self.drop(surplus)
            leases.tell(self._redis)

    def _claim(self, now: float) -> None:
        missing = sorted(self._wanted - self.leases.keys())
        wanted = [each for each in missing if self._shunned.get(each, 0.0) <= now]
        claimed = leases.claim(self._redis, wanted, self.name)
        self.leases.update(claimed)
        self.changes += len(claimed)

"""What a worker counts: commands by what became of them, and how long they took from intake to the store's answer."""

from bisect import bisect_left
from collections import Counter
from contextlib import suppress

from redis import Redis

from services.store import tallies
from services.store.wire import StoreUnavailable

BUCKETS_MS = (1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000)
"""Upper ends; what takes longer is counted under `inf`."""
TELL_SECONDS = 2.0

_FIELDS = (*(f"worker.ms.{end}" for end in BUCKETS_MS), "worker.ms.inf")


class Tally:
    """Counts in memory, and adds to the sums in the store every TELL_SECONDS."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._next = 0.0

    def count(self, what: str) -> None:
        """`what` has happened: `worker.<something>`."""
        self._counts[what] += 1

    def took(self, ms: int) -> None:
        """A command was decided and written `ms` after it was taken in."""
        self._counts[_FIELDS[bisect_left(BUCKETS_MS, ms)]] += 1
        self._counts["worker.ms.sum"] += max(0, ms)

    def tell(self, redis: Redis, now: float) -> None:
        """Add what was counted, if it is time to. A sum may lose a few seconds, it never counts twice."""
        if now < self._next:
            return
        self._next = now + TELL_SECONDS
        told, self._counts = self._counts, Counter()
        with suppress(StoreUnavailable):
            tallies.add(redis, told)

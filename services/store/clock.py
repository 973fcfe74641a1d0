"""What a partition's owner has to do at a time of its own: deal, expire, forget."""

import heapq
from collections.abc import Iterable

FORGET = "|f|"


class Clock:
    """The due times of the owned partitions, in memory, built from the store's sorted sets."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, str]] = []
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._at)

    def set(self, member: str, at: int | None) -> None:
        """`member` is due at `at`, milliseconds since the epoch, and at no other time; None: never."""
        if at is None:
            self._at.pop(member, None)
        elif self._at.get(member) != at:
            self._at[member] = at
            heapq.heappush(self._heap, (at, member))

    def add(self, entries: Iterable[tuple[str, int]]) -> None:
        """What the store knows of a partition that was claimed."""
        for member, at in entries:
            self.set(member, at)

    def drop(self, partition: str) -> None:
        """A partition is another's now."""
        for member in [member for member in self._at if member[2:4] == partition]:
            del self._at[member]

    def next_at(self) -> int | None:
        """When the next one is due, or None."""
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # Moved or done since.
        return self._heap[0][0] if self._heap else None

    def take(self, now: int, count: int) -> list[str]:
        """Those that are due, at most `count`, each once; whoever cannot finish one sets it again."""
        taken: list[str] = []
        while len(taken) < count and (at := self.next_at()) is not None and at <= now:
            taken.append(heapq.heappop(self._heap)[1])
            del self._at[taken[-1]]
        return taken


def forget_member(table: str, version: int) -> str:
    """The member of the sorted set that stands for forgetting receipts up to `version`."""
    return f"{table}{FORGET}{version}"

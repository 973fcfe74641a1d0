"""All projections made again from the events, compared with the live ones, and put in their place."""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from redis import Redis

from services.projections.advance import Advance, projected, write
from services.projections.subscription import TABLES_MAX, Subscription
from services.store import cold, history, keys, outbox, rebuilding
from services.store.outputs import LIVE, Space, checkpoints, frozen

Progress = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""


class Line(NamedTuple):
    """How many keys of a projection were compared, and how many were not the same."""

    projection: str
    compared: int
    different: int


class Comparison(NamedTuple):
    """What a rebuild found: a line for each projection, the keys that were not the same, and the tables whose
    projections are stopped by an error."""

    lines: list[Line]
    different: list[str]
    stopped: list[str]


def rebuild(redis: Redis, partitions: Sequence[str], progress: Progress) -> Comparison:
    """Write every projection afresh from the events, compare, and switch. Safe while the system runs.

    Most of it is done beside the running system. At the end the projections stand still for a moment, are brought
    to the same versions, compared and replaced. Raises Held when another rebuild is at that, PastMissing where the
    archive is needed and is not here; then nothing has changed.
    """
    rebuilding.drop_fresh(redis)
    writer = secrets.token_hex(8)
    fresh = Space(keys.scratch, writer)
    try:
        Subscription(redis, partitions).begin()
        for number, partition in enumerate(partitions):
            progress("written", number, len(partitions))
            Subscription(redis, [partition], fresh).begin()
        return _compared_and_switched(redis, partitions, fresh, progress)
    finally:
        rebuilding.let_go(redis, partitions, writer)
        rebuilding.drop_fresh(redis)


def _compared_and_switched(
    redis: Redis, partitions: Sequence[str], fresh: Space, progress: Progress
) -> Comparison:
    stand_still = _StandStill(redis, partitions, fresh.writer)
    for number, partition in enumerate(partitions):
        progress("brought to one version", number, len(partitions))
        _bring_both(redis, partition, fresh)
        stand_still.longer()
    projections = rebuilding.all_projections(redis)
    different: list[rebuilding.Projection] = []
    for start, page in _pages(projections):
        progress("compared", start, len(projections))
        stand_still.longer()
        different += rebuilding.differing(redis, page)
    stopped = [table for each in partitions for table in frozen(redis, each, fresh)]
    # Records before the banks that tell which of them have left the store: a reader finds them here or there.
    for start, page in _pages(projections[::-1]):
        progress("replaced", start, len(projections))
        stand_still.longer()
        rebuilding.switch(redis, page, fresh.writer)
    rebuilding.switch(redis, rebuilding.errors(partitions), fresh.writer)
    cold.list_again(redis, partitions)  # What had left the store is here again.
    return Comparison(_lines(projections, different), sorted(each.name for each in different), stopped)


class _StandStill:
    """The projections stand still from now on, as long as we say so often enough. Raises Held."""

    def __init__(self, redis: Redis, partitions: Sequence[str], writer: str) -> None:
        self._hold = partial(rebuilding.hold, redis, partitions, writer)
        self._hold()
        self._said = time.monotonic()

    def longer(self) -> None:
        """Say so again, if it is time."""
        if time.monotonic() - self._said > rebuilding.HOLD_MS / 4000:
            self._hold()
            self._said = time.monotonic()


def _bring_both(redis: Redis, partition: str, fresh: Space) -> None:
    """Bring the live and the fresh projections of a partition to the same versions, which nobody now passes."""
    end = outbox.log_ends(redis, [partition])[partition]
    tables = history.tables_of(redis, partition)
    for start in range(0, len(tables), TABLES_MAX):
        versions = outbox.last_versions(redis, tables[start : start + TABLES_MAX])
        for space in (LIVE._replace(writer=fresh.writer), fresh):
            seen = checkpoints(redis, [partition], space)[partition]
            steps = projected(redis, versions, space, thaw=True)
            write(redis, [Advance(partition, seen, "", steps)], space)
    for space in (LIVE._replace(writer=fresh.writer), fresh):
        seen = checkpoints(redis, [partition], space)[partition]
        write(redis, [Advance(partition, seen, end, [])], space)


def _pages(
    projections: Sequence[rebuilding.Projection],
) -> Iterator[tuple[int, Sequence[rebuilding.Projection]]]:
    for start in range(0, len(projections), rebuilding.PAGE):
        yield start, projections[start : start + rebuilding.PAGE]


def _lines(
    projections: Sequence[rebuilding.Projection], different: Sequence[rebuilding.Projection]
) -> list[Line]:
    compared = Counter(each.kind for each in projections)
    unlike = Counter(each.kind for each in different)
    return [Line(kind, count, unlike[kind]) for kind, count in sorted(compared.items())]

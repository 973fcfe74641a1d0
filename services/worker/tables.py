"""The tables that an owner holds in memory, and how they are read from the store: a long past a part at a time.

Between two parts he handles what others have sent to other partitions. One that is killed while he reads leaves a
snapshot on the way, from which the next owner goes on.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from redis import Redis

from engine.table import at_rest
from services.store import history, keys, snapshots
from services.store.snapshots import BadSnapshot, Snapshot
from services.worker.build import TAG
from services.worker.held import UNOPENED, Held, from_snapshot, gone_on, snapshot

HELD_MAX = 4096
PART_ENTRIES = 2_000
"""A part of a long past: some 50 ms of a processor, and what the next owner reads again at most."""

_log = logging.getLogger(__name__)


class StillReading(Exception):
    """The past of a table is long: it is read on in the next turn."""


class Progress(NamedTuple):
    """A table that was read as far as `held`, and rested last as `rest` if that is to be kept; `seen` as in
    `snapshots.Found`."""

    held: Held
    rest: Held | None
    seen: bytes
    is_done: bool = False


class Tables:
    """The tables used last, at most `held_max` of them. `pulse` is called now and then while one is read, `fence_of`
    gives the fence of its partition, without which nothing is kept on the way."""

    def __init__(
        self, redis: Redis, held_max: int = HELD_MAX, pulse: Callable[[], None] = lambda: None,
        fence_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._redis = redis
        self.pulse = pulse
        self._fence_of = fence_of
        self._max = held_max
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._unfinished: dict[str, Progress] = {}
        self._has_read = False

    def begin_turn(self) -> None:
        """From now on one more part of a long past may be read."""
        self._has_read = False

    def get(self, table: str) -> Held:
        """The table now, read from the store if need be.

        Raises StillReading, BrokenStream, NewerEvent, StoreUnavailable.
        """
        held = self._held.get(table)
        if held is None:
            held = self._read(table)
            self.put(table, held)
        else:
            self._held.move_to_end(table)
        return held

    def wait_for_turn(self, table: str) -> None:
        """Raises StillReading where `get` would, without reading anything."""
        if self._has_read and table in self._unfinished:
            raise StillReading(table)

    def catch_up(self, table: str) -> None:
        """Another process that works for this owner may have read on."""
        mine = self._unfinished.get(table)
        if mine is not None and (found := begun(self._redis, table)).held.version > mine.held.version:
            self._unfinished[table] = found

    def _read(self, table: str) -> Held:
        """A part, after which a past that is short is done: it does not wait for a long one."""
        self.wait_for_turn(table)
        so_far = self._unfinished.pop(table, None) or begun(self._redis, table)
        so_far = further(self._redis, table, so_far, self._fence_of(keys.partition_of(table)))
        if so_far.is_done:
            return so_far.held
        self._unfinished[table], self._has_read = so_far, True
        self.pulse()
        raise StillReading(table)

    def put(self, table: str, held: Held) -> None:
        """The table has gone on."""
        self._held[table] = held
        if len(self._held) > self._max:
            self._held.popitem(last=False)

    def forget(self, table: str) -> None:
        """What is held may be wrong: read it anew next time."""
        self._held.pop(table, None)
        self._unfinished.pop(table, None)

    def forget_all(self) -> None:
        """Give all of their memory back."""
        self._held.clear()
        self._unfinished.clear()

    def forget_partition(self, partition: str) -> None:
        """The tables of a partition may have gone on elsewhere."""
        for table in [table for table in (*self._held, *self._unfinished) if table[2:4] == partition]:
            self.forget(table)


def read(redis: Redis, table: str, tag: str = TAG) -> Held:
    """The table folded from a snapshot with this tag, if there is one, and the entries after it; nothing is kept.

    Raises BrokenStream, NewerEvent, StoreUnavailable.
    """
    so_far = begun(redis, table, tag)
    while not so_far.is_done:
        so_far = further(redis, table, so_far, None)
    return so_far.held


def begun(redis: Redis, table: str, tag: str = TAG) -> Progress:
    """Where to read from: the newest snapshot of this tag, or nothing.

    A snapshot is only a shortcut: one that is broken, or of a version that the table has not reached, is passed over.
    """
    found = snapshots.find(redis, table, tag)
    known = [each for each in (found.rest, found.other) if each is not None]
    for each in sorted(known, key=lambda known: known.version, reverse=True):
        try:
            if each.version > found.last:
                raise BadSnapshot(f"it is of version {each.version}, and the stream ends at {found.last}")
            held = from_snapshot(each)
        except BadSnapshot as error:
            _log.error("a snapshot of %s is passed over: %s", table, error)
        else:
            return Progress(held, None if each is found.rest else held, found.seen)
    return Progress(UNOPENED, None, found.seen)


def further(redis: Redis, table: str, so_far: Progress, fence: str | None) -> Progress:
    """A part further. With the `fence` of the owner, what the next one had better start from is kept.

    The snapshot of the last rest is written with the events: one that has to be made here was not as it should be.
    Raises BrokenStream for an entry that cannot be read, NewerEvent, StoreUnavailable.
    """
    held, rest = so_far.held, so_far.rest
    for entry in islice(history.entries_after(redis, table, held.version), PART_ENTRIES):
        held = gone_on(held, table, entry)
        if at_rest(held.table):
            rest = held
    is_done = held.version < so_far.held.version + PART_ENTRIES
    if fence is not None and rest is not None:
        made = Snapshot(rest.version, TAG, snapshot(rest))
        snapshots.keep(redis, table, fence, made, so_far.seen if is_done else None)
    return Progress(held, rest, so_far.seen, is_done)

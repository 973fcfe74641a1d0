"""A table as its owner holds it in memory: folded from its past, and equal to the full replay at any time."""

import logging
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
from redis import Redis

from engine.table import INITIAL, Table, at_rest, due, fold
from engine.table.events import Event
from schemas.table import dump_table, load_event, load_table
from schemas.upcasters import version_of
from services.store import chain
from services.store.history import PULSE_ENTRIES, BadSnapshot, BrokenStream, History, NewerEvent, Recorded, load
from services.worker.build import TAG, Kept

HELD_MAX = 4096

_log = logging.getLogger(__name__)


class Held(NamedTuple):
    """A table at `version`. `began` and `settled` are the versions at which the running or last deal began, and
    at which the last one ended; 0 before the first. `due` is when the clock has something to do, in ms; 0: at once.
    `chain` is the hash of the last entry, b"" before the first."""

    version: int
    table: Table
    began: int
    settled: int
    due: int | None
    chain: bytes


UNOPENED = Held(0, INITIAL, 0, 0, None, b"")


class Tables:
    """The tables used last, at most `held_max` of them. `pulse` is called now and then while one is read."""

    def __init__(self, redis: Redis, held_max: int = HELD_MAX, pulse: Callable[[], None] = lambda: None) -> None:
        self._redis = redis
        self.pulse = pulse
        self._max = held_max
        self._held: OrderedDict[str, Held] = OrderedDict()

    def get(self, table: str) -> Held:
        """The table now, read from the store if need be. Raises BrokenStream, NewerEvent, StoreUnavailable."""
        held = self._held.get(table)
        if held is None:
            held = read(self._redis, table, pulse=self.pulse)
            self.put(table, held)
        else:
            self._held.move_to_end(table)
        return held

    def put(self, table: str, held: Held) -> None:
        """The table has gone on."""
        self._held[table] = held
        if len(self._held) > self._max:
            self._held.popitem(last=False)

    def forget(self, table: str) -> None:
        """What is held may be wrong: read it anew next time."""
        self._held.pop(table, None)

    def forget_all(self) -> None:
        """Give all of their memory back."""
        self._held.clear()

    def forget_partition(self, partition: str) -> None:
        """The tables of a partition may have gone on elsewhere."""
        for table in [table for table in self._held if table[2:4] == partition]:
            del self._held[table]


def read(redis: Redis, table: str, tag: str = TAG, pulse: Callable[[], None] = lambda: None) -> Held:
    """The table folded from its snapshot, if it has this tag, and the entries after it; `pulse` as of `Tables`.

    A snapshot is only a shortcut: one that is broken, or of a version that the table has not reached, is passed over.
    """
    try:
        return replay(table, load(redis, table, tag, pulse), pulse)
    except BadSnapshot as error:
        _log.error("the snapshot of %s is passed over: %s", table, error)
        return replay(table, load(redis, table, "", pulse), pulse)


def replay(table: str, history: History, pulse: Callable[[], None] = lambda: None) -> Held:
    """The table after its history. Raises BrokenStream for an entry that cannot be read, NewerEvent, BadSnapshot."""
    held = UNOPENED if history.snapshot is None else _from_snapshot(history.snapshot.version, history.snapshot.body)
    for place, entry in enumerate(history.entries):
        if place % PULSE_ENTRIES == 0:
            pulse()
        held = gone_on(held, table, entry)
    return held


def gone_on(held: Held, table: str, entry: Recorded) -> Held:
    """The table one recorded entry later. Raises NewerEvent; BrokenStream, also for an entry with a wrong hash."""
    made = fold(held.table, events_of(table, entry))
    return after(held, made, chain.checked(held.chain, table, entry))


def after(held: Held, table: Table, head: bytes) -> Held:
    """`held` one version on, at which it has become `table`, by an entry with the hash `head`."""
    waits = due(table)
    rested, rests = at_rest(held.table), at_rest(table)
    version = held.version + 1
    return Held(
        version,
        table,
        version if rested and not rests else held.began,
        version if rests and not rested else held.settled,
        None if waits is None else waits.at,
        head,
    )


def snapshot(held: Held) -> bytes:
    """The table at rest, to start from: eight hex digits that prove the version and the rest, then JSON."""
    body = b'{"began":%d,"settled":%d,"due":%s,"chain":"%b","table":%b}' % (
        held.began,
        held.settled,
        b"null" if held.due is None else b"%d" % held.due,
        chain.text(held.chain).encode(),
        dump_table(held.table),
    )
    return _proof(held.version, body) + body


_PROOF_BYTES = 8

_decode_snapshot = msgspec.json.Decoder(Kept).decode
_decode_events = msgspec.json.Decoder(list[dict[str, object]]).decode


def _proof(version: int, body: bytes) -> bytes:
    """Against what was cut off, damaged, or stored as if it were of another version; not against forgers."""
    return b"%08x" % zlib.crc32(body, version & 0xFFFFFFFF)


def _from_snapshot(version: int, stored: bytes) -> Held:
    """Raises BadSnapshot."""
    body = stored[_PROOF_BYTES:]
    if stored[:_PROOF_BYTES] != _proof(version, body):
        raise BadSnapshot(f"its contents are not those of version {version}")
    try:
        kept = _decode_snapshot(body)
        table, head = load_table(bytes(kept.table)), chain.digest(kept.chain)
        return Held(version, table, kept.began, kept.settled, kept.due, head)
    except Exception as error:
        raise BadSnapshot(f"{type(error).__name__}: {error}") from error


def events_of(table: str, entry: Recorded) -> tuple[Event, ...]:
    """The events of an entry, those of earlier builds brought to the present. Raises NewerEvent, BrokenStream."""
    try:
        stored = _decode_events(entry.events)
        _refuse_newer(table, entry.version, stored)
        return tuple(map(load_event, stored))
    except NewerEvent:
        raise
    except KeyError as error:
        raise NewerEvent(f"{table} at version {entry.version}: unknown {error}") from error
    except Exception as error:
        raise BrokenStream(f"{table} at version {entry.version}: {error}") from error


def _refuse_newer(table: str, version: int, stored: Iterable[dict[str, object]]) -> None:
    """A field that came with a later version would be ignored without a word."""
    for event in stored:
        written, known = event.get("v", 1), version_of(str(event["type"]))
        if not isinstance(written, int) or written > known:
            raise NewerEvent(f"{table} at version {version}: {event['type']} v{written}, this build knows v{known}")

"""A table as its owner holds it in memory: folded from its past, and equal to the full replay at any time."""

import zlib
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from engine.table import INITIAL, Table, at_rest, due, fold
from engine.table.events import Event
from schemas.table import dump_table, load_event, load_table
from schemas.upcasters import version_of
from services.store import chain
from services.store.history import BrokenStream, NewerEvent, Recorded
from services.store.snapshots import BadSnapshot, Snapshot
from services.worker.build import Kept


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


def replay(table: str, entries: Iterable[Recorded]) -> Held:
    """The table after its first `entries`. Raises BrokenStream for an entry that cannot be read, NewerEvent."""
    held = UNOPENED
    for entry in entries:
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


def from_snapshot(found: Snapshot) -> Held:
    """The table that `snapshot` was made of. Raises BadSnapshot."""
    version, stored = found.version, found.body
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

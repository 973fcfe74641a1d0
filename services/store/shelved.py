"""What projections made of old deals, in files beside the archived deals, so that a table at rest weighs little.

A deal's fields of the bank and of the records go together; the bank of the table notes up to which deal they went. Who
asks for them is handed them by the reader that was attached to his client, or is told to ask somebody who has one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from redis import Redis

from services.store import keys, scripts
from services.store.wire import Argument

BANK, RECORDS, SEALED = "bank", "records", "sealed"
NAMES: Final = {BANK: keys.bank, RECORDS: keys.records, SEALED: keys.sealed_records}
"""The keys that fields move from."""
MOVED: Final = "moved"
"""The field of a bank that tells up to which deal."""

Shelf: TypeAlias = Mapping[str, Mapping[str, bytes]]
"""The fields and values of a deal, by BANK, RECORDS, SEALED."""
Reader: TypeAlias = Callable[[str, int], Shelf]
"""The shelf of a table's deal. Raises PastMissing."""

_SHELVE = scripts.load("shelve")
_readers: "WeakKeyDictionary[Redis, Reader]" = WeakKeyDictionary()


class Elsewhere(Exception):
    """What is asked for has left the store, and this process has no files: ask one that has."""


def attach(redis: Redis, reader: Reader) -> None:
    """From now on what has left the store is read with `reader`."""
    _readers[redis] = reader


def read(redis: Redis, table: str, deal: int) -> Shelf:
    """The fields of a deal that have left the store. Raises Elsewhere, PastMissing."""
    reader = _readers.get(redis)
    if reader is None:
        raise Elsewhere(f"deal {deal} of {table} has left the store")
    return reader(table, deal)


class Gone(NamedTuple):
    """Of the fields of this kind of a table: those of deals up to `last` have left the store."""

    table: str
    kind: str
    last: int


def gone(table: str, kind: str, moved: bytes | None) -> Gone:
    """What the value of the field MOVED, if there is one, says."""
    return Gone(table, kind, int(moved or 0))


def filled(
    redis: Redis, gone: Gone, asked: Sequence[tuple[int, str]], found: Sequence[bytes | None]
) -> list[bytes | None]:
    """The values `found` for the fields `asked` for, each with its deal, and those that have left the store.

    Raises Elsewhere, PastMissing.
    """
    lost = {deal for (deal, _), value in zip(asked, found, strict=True) if value is None and 0 < deal <= gone.last}
    shelves = {deal: read(redis, gone.table, deal)[gone.kind] for deal in sorted(lost)}
    return [
        shelves[deal].get(field) if value is None and deal in shelves else value
        for (deal, field), value in zip(asked, found, strict=True)
    ]


def take_out(redis: Redis, table: str, last: int, fields: Sequence[tuple[str, str, bytes]]) -> bool:
    """Let go of fields, as (kind, field, value), that lie in files: all that there is of deals up to `last`.

    False, and nothing is done: a rebuild is comparing, or one is no longer what it was.
    """
    kinds = list(NAMES)
    arguments: list[Argument] = [last]
    for kind, field, value in fields:
        arguments += (kinds.index(kind) + 1, field, value)
    named = (keys.hold(f"p{keys.partition_of(table)}"), *(name(table) for name in NAMES.values()))
    return bool(scripts.run(redis, _SHELVE, named, arguments))

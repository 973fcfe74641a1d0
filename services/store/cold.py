"""The past that has left the store: versions of finished deals that were archived and then trimmed from the stream.

Whoever reads a table's history is handed the missing entries as the stream had them, by the reader that was attached
to his client; this package does not know what an archive looks like.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from redis import Redis

from services.store import ended, keys, scripts
from services.store.ended import Waiting
from services.store.wire import Reply, ask, ask_all

RawEntry: TypeAlias = tuple[bytes, Sequence[bytes]]
"""An entry of a stream as the store gives it: its id, and its fields and values in a row."""
Reader: TypeAlias = Callable[[str, int, int], list[RawEntry]]
"""The entries of a table from a first to a last version, as far as they are archived, in order."""

_MARK, _TRIM = scripts.load("archived"), scripts.load("trim")
_readers: "WeakKeyDictionary[Redis, Reader]" = WeakKeyDictionary()


class PastMissing(Exception):
    """Versions are archived and no longer in the store, and the archive is not here or does not hold them."""


class Mark(NamedTuple):
    """Up to where a table is archived and verified: a version at which a deal ended, and the number of that deal."""

    version: int
    deal: int


NOTHING = Mark(0, 0)


def attach(redis: Redis, reader: Reader) -> None:
    """From now on what `redis` no longer has is read with `reader`."""
    _readers[redis] = reader


def filled(redis: Redis, table: str, first: int, last: int | None, found: Sequence[RawEntry]) -> list[RawEntry]:
    """`found`, the stream's entries from `first` to `last` (None: its end), with those that were trimmed before them.

    A hole that trimming does not explain is left, for its reader to see. Raises PastMissing.
    """
    begins = version_of(found[0]) if found else None if last is None else last + 1
    if begins is None or begins <= first:
        return list(found)
    mark = marks(redis, [table])[0]
    gone = min(begins - 1, mark.version)
    if gone < first:
        return list(found)
    return [*past(redis, table, first, gone, mark), *found]


def past(redis: Redis, table: str, first: int, last: int, mark: Mark) -> list[RawEntry]:
    """The archived entries `first` to `last`, without a hole. Raises PastMissing."""
    reader = _readers.get(redis)
    if reader is None:
        raise PastMissing(
            f"{table}: versions {first} to {last} are archived (deals up to {mark.deal}, from deal 1 on) and no "
            "longer in the store. Set MARIAS_ARCHIVE to the archive's folder."
        )
    found = reader(table, first, last)
    if [version_of(entry) for entry in found] != list(range(first, last + 1)):
        raise PastMissing(f"{table}: the archive does not hold versions {first} to {last} without a hole.")
    return found


def version_of(entry: RawEntry) -> int:
    """The version at which an entry was applied."""
    return int(entry[0].partition(b"-")[0])


def entries(redis: Redis, table: str, first: int, count: int) -> list[RawEntry]:
    """The first `count` entries of the stream from version `first` on."""
    reply: Reply = ask(redis, "XRANGE", keys.events(table), f"{first}-0", "+", "COUNT", count)
    return [(id_, flat) for id_, flat in reply]


def marks(redis: Redis, tables: Sequence[str]) -> list[Mark]:
    """How far each table is archived."""
    replies = ask_all(redis, [("HGET", keys.archived(keys.partition_of(table)), table) for table in tables])
    return [Mark(*map(int, reply.split())) if reply else NOTHING for reply in replies]


def set_mark(redis: Redis, table: str, mark: Mark) -> None:
    """`table` is archived and verified up to `mark`; an earlier one than before changes nothing."""
    named = (keys.archived(keys.partition_of(table)),)
    scripts.run(redis, _MARK, named, (table, mark.version, mark.deal))


def trim(redis: Redis, table: str) -> int:
    """Let go of the entries of a table that nobody needs to have here; gives how many went. See `lua/trim.lua`."""
    partition = keys.partition_of(table)
    named = (
        keys.archived(partition),
        keys.unarchived(partition),
        keys.snapshot(table),
        keys.events(table),
        keys.fold(table),
    )
    return int(scripts.run(redis, _TRIM, named, (table,)))


def add_unarchived(redis: Redis, deals: Sequence[tuple[str, int]]) -> None:
    """Deals have ended, given as (table, version); they stay on the list until they are archived and trimmed."""
    ended.add(redis, _WAITING, deals)


def unarchived(redis: Redis, partitions: Sequence[str]) -> dict[str, dict[str, int]]:
    """The list of each partition that has one: table -> version at which its last deal ended, 0: look yourself."""
    replies = ask_all(redis, [("ZRANGE", keys.unarchived(each), 0, -1, "WITHSCORES") for each in partitions])
    found = {}
    for partition, reply in zip(partitions, replies, strict=True):
        flat = iter(reply)
        if listed := {table.decode(): int(score) for table, score in zip(flat, flat, strict=True)}:
            found[partition] = listed
    return found


def list_all(redis: Redis, partitions: Sequence[str]) -> None:
    """Put every table of a partition on the list once: those that were played before there was an archive, or when
    less left the store than does now."""
    ended.add_all_once(redis, _WAITING, partitions)


def list_again(redis: Redis, partitions: Sequence[str]) -> None:
    """Let `list_all` put every table on the list again."""
    ask_all(redis, [("HDEL", *_WAITING.listed(partition)) for partition in partitions])


_WAITING = Waiting(keys.unarchived, lambda partition: (keys.archived(partition), "shelved"))
"""`shelved` is a field that no table is called by; builds that moved nothing but entries had another."""

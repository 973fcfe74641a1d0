"""The past of a table: everything that happened, or that has happened since."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from redis import Redis

from services.store import cold, keys
from services.store.cold import RawEntry
from services.store.wire import ask, ask_all, fields_of

PAGE = 1_000
BACK_PAGE = 100
"""Who looks back mostly finds what he looks for among the last few."""


class BrokenStream(Exception):
    """The stream of a table has a hole: something else wrote to it."""


class NewerEvent(Exception):
    """The stream holds events of a version that this build does not know; only a newer build may go on."""


class Recorded(NamedTuple):
    """One entry of a table's stream. `events` is the JSON array of what happened, `tag` names the build.

    `hash` is the one that it carries (see `chain`), "" where an older build wrote none.
    """

    version: int
    at: int
    actor: str
    key: str
    fingerprint: str
    events: bytes
    tag: str
    hash: str = ""


def entries_after(redis: Redis, table: str, version: int) -> Iterator[Recorded]:
    """All entries after `version`, page by page, from the archive where the stream is trimmed.

    Raises BrokenStream at a hole, PastMissing where the archive is needed and is not here.
    """
    return map(recorded, raw_after(redis, table, version))


def raw_after(redis: Redis, table: str, version: int) -> Iterator[RawEntry]:
    """`entries_after` as the stream has them."""
    while True:
        page = cold.entries(redis, table, version + 1, PAGE)
        ends = len(page) < PAGE
        if page and cold.version_of(page[0]) > version + 1 + PAGE:
            # Of a long archive some at a time, so that its reader can do other things between.
            some = cold.filled(redis, table, version + 1, version + PAGE, [])
            page, ends = (some, False) if some else (page, ends)
        for raw in cold.filled(redis, table, version + 1, None, page):
            found = cold.version_of(raw)
            if found != version + 1:
                raise BrokenStream(f"{table}: version {version + 1} is missing before {found}")
            version = found
            yield raw
        if ends:
            return


def entries_between(redis: Redis, table: str, first: int, last: int) -> list[Recorded]:
    """The entries from version `first` to `last`, from the archive where the stream is trimmed.

    Raises BrokenStream at a hole, PastMissing where the archive is needed and is not here.
    """
    page = ask(redis, "XRANGE", keys.events(table), f"{first}-0", f"{last}-0")
    return list(map(recorded, _between(redis, table, first, last, page)))


def raw_until(redis: Redis, wanted: Mapping[str, tuple[int, int]]) -> dict[str, Iterator[RawEntry]]:
    """The entries of each table after a version and up to another, all in one round trip; of tables that have many of
    them, or are not told up to where, all later ones, page by page. While they are gone through each raises
    BrokenStream at a hole, PastMissing where the archive is needed and is not here.
    """
    few = {table: (after + 1, last) for table, (after, last) in wanted.items() if after < last <= after + PAGE}
    pages = ask_all(
        redis, [("XRANGE", keys.events(table), f"{first}-0", f"{last}-0") for table, (first, last) in few.items()]
    )
    read = dict(zip(few, pages, strict=True))
    return {
        table: _between(redis, table, after + 1, last, read[table])
        if table in read
        else raw_after(redis, table, after)
        for table, (after, last) in wanted.items()
    }


def _between(redis: Redis, table: str, first: int, last: int, page: Sequence[RawEntry]) -> Iterator[RawEntry]:
    for version, raw in enumerate(cold.filled(redis, table, first, last, page), first):
        found = cold.version_of(raw)
        if found != version:
            raise BrokenStream(f"{table}: version {version} is missing before {found}")
        yield raw


def entries_since(redis: Redis, table: str, at: int) -> Iterator[Recorded]:
    """The entries of a table from `at` (ms) on, the last first, from the archive where the stream is trimmed.

    Raises PastMissing where the archive is needed and is not here.
    """
    last = last_version(redis, table)
    while last > 0:
        first = max(1, last - BACK_PAGE + 1)
        asked = [("XRANGE", keys.events(table), f"{first}-0", f"{last}-0")]
        [page] = ask_all(redis, asked, confirmed=True)  # Chips go by what is found, or is not.
        for raw in reversed(cold.filled(redis, table, first, last, page)):
            entry = recorded(raw)
            if entry.at < at:
                return
            yield entry
        last = first - 1


def clock_entries(redis: Redis, partition: str) -> list[tuple[str, int]]:
    """What the clock of a partition waits for: (member, ms), the earliest first."""
    reply = ask(redis, "ZRANGE", keys.due(partition), 0, -1, "WITHSCORES")
    flat = iter(reply)
    return [(member.decode(), int(float(score))) for member, score in zip(flat, flat, strict=True)]


def tables_of(redis: Redis, partition: str) -> list[str]:
    """The tables of a partition, in order."""
    members = ask(redis, "SMEMBERS", keys.tables(partition))
    return sorted(table.decode(errors="backslashreplace") for table in members)


def count_try(redis: Redis, partition: str, command: str) -> int:
    """Count that `command` is about to be tried; kept in the store, so that a crash of the worker counts."""
    return int(ask(redis, "HINCRBY", keys.state(partition), f"tries:{command}", 1))


def cursors(redis: Redis, partitions: list[str]) -> dict[str, str]:
    """The id of the last handled command of each partition."""
    replies = ask_all(redis, [("HGET", keys.state(each), "cur") for each in partitions], confirmed=True)
    return {each: reply.decode() if reply else "0-0" for each, reply in zip(partitions, replies, strict=True)}


def last_version(redis: Redis, table: str) -> int:
    """The last version of a table; 0: there is none."""
    [reply] = ask_all(redis, [("XREVRANGE", keys.events(table), "+", "-", "COUNT", 1)], confirmed=True)
    return cold.version_of(reply[0]) if reply else 0


def recorded(entry: RawEntry) -> Recorded:
    """An entry of a table's stream, read."""
    fields = fields_of(entry[1])
    return Recorded(
        cold.version_of(entry),
        int(fields[b"at"]),
        fields[b"a"].decode(),
        fields[b"k"].decode(),
        fields[b"f"].decode(),
        fields[b"e"],
        fields[b"x"].decode(),
        fields.get(b"h", b"").decode(),
    )

"""The outbox seen from its readers: pointers into tables, what they point at, and how far each process got."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from redis import Redis

from services.store import cold, keys
from services.store.topology import Cluster, is_cluster, replicas_of
from services.store.wire import Reply, Request, ask, ask_all, fields_of, store_ms, streams_of

START = "0-0"
PAGE = 100
LOOK_SECONDS_MIN, LOOK_SECONDS_MAX = 0.005, 0.05
"""Between two looks at the logs of a cluster, which cannot be waited for together."""


class Pointer(NamedTuple):
    """A version of a table that some subscription cares for, by the `kinds` of what happened."""

    id: str
    table: str
    version: int
    kinds: frozenset[str]


class Told(NamedTuple):
    """One entry of a table's stream: the JSON array of what happened at a version, at `at` (ms)."""

    version: int
    at: int
    events: bytes


class Stretch(NamedTuple):
    """Versions `first` to `last` of a table; `last` None: to the end."""

    table: str
    first: int
    last: int | None


def read_log(
    redis: Redis, cursors: Mapping[str, str], block_ms: int | None = None, count: int = 256
) -> dict[str, list[Pointer]]:
    """The pointers after the cursor of each partition, at most `count` of each, in one round trip.

    With `block_ms` it waits that long for the first one to come. Where replicas must confirm, news are read once more,
    together with the confirmation: what only one server has may yet be undone, and nobody may act on it.
    """
    if is_cluster(redis):
        news = _read_apart(redis, cursors, block_ms or 0, count)
    else:
        block = () if block_ms is None else ("BLOCK", block_ms)
        names = [keys.log(partition) for partition in cursors]
        news = _news(ask(redis, "XREAD", "COUNT", count, *block, "STREAMS", *names, *cursors.values()))
    if not news or not replicas_of(redis):
        return news
    return _news_of(ask_all(redis, _reading({each: cursors[each] for each in news}, count), confirmed=True))


def _reading(cursors: Mapping[str, str], count: int) -> list[Request]:
    """A request for each partition."""
    return [("XREAD", "COUNT", count, "STREAMS", keys.log(each), cursor) for each, cursor in cursors.items()]


def _news(reply: Reply) -> dict[str, list[Pointer]]:
    return {
        _partition(stream): [_pointer(id_, flat) for id_, flat in entries] for stream, entries in streams_of(reply)
    }


def _news_of(replies: Sequence[Reply]) -> dict[str, list[Pointer]]:
    return {partition: pointers for reply in replies for partition, pointers in _news(reply).items()}


def _read_apart(redis: Cluster, cursors: Mapping[str, str], block_ms: int, count: int) -> dict[str, list[Pointer]]:
    """Of a cluster, which can wait for one slot only on a connection: looked at again and again, ever less often."""
    end = time.monotonic() + block_ms / 1000
    pause = LOOK_SECONDS_MIN
    requests = _reading(cursors, count)
    while True:
        news = _news_of(ask_all(redis, requests))
        if news or time.monotonic() + pause > end:
            return news
        time.sleep(pause)
        pause = min(1.5 * pause, LOOK_SECONDS_MAX)


@lru_cache(maxsize=512)
def _partition(stream: bytes) -> str:
    return stream[4:6].decode()


def _pointer(id_: bytes, flat: Sequence[bytes]) -> Pointer:
    fields = fields_of(flat)
    kinds = frozenset(fields[b"k"].decode().split(","))
    return Pointer(id_.decode(), fields[b"t"].decode(), int(fields[b"v"]), kinds)


def place(id_: str) -> tuple[int, int]:
    """An id of a stream as what sorts it."""
    milliseconds, _, number = id_.partition("-")
    return int(milliseconds), int(number)


def log_ends(redis: Redis, partitions: Sequence[str]) -> dict[str, str]:
    """The id of the last pointer of each partition's log."""
    asked = [("XREVRANGE", keys.log(each), "+", "-", "COUNT", 1) for each in partitions]
    replies = ask_all(redis, asked, confirmed=True)
    return {
        partition: reply[0][0].decode() if reply else START
        for partition, reply in zip(partitions, replies, strict=True)
    }


def last_versions(redis: Redis, tables: Sequence[str]) -> dict[str, int]:
    """The version of each table now."""
    asked = [("XREVRANGE", keys.events(table), "+", "-", "COUNT", 1) for table in tables]
    replies = ask_all(redis, asked, confirmed=True)
    return {
        table: place(reply[0][0].decode())[0] if reply else 0 for table, reply in zip(tables, replies, strict=True)
    }


def read_events(redis: Redis, stretches: Sequence[Stretch]) -> list[list[Told]]:
    """The entries of each stretch, in one round trip, from the archive where the stream is trimmed.

    Raises PastMissing.
    """
    replies = ask_all(
        redis,
        [
            ("XRANGE", keys.events(table), f"{first}-0", "+" if last is None else f"{last}-0")
            for table, first, last in stretches
        ],
        confirmed=True,
    )
    return [
        [_told(id_, flat) for id_, flat in cold.filled(redis, *stretch, reply)]
        for stretch, reply in zip(stretches, replies, strict=True)
    ]


def _told(id_: bytes, flat: Sequence[bytes]) -> Told:
    fields = fields_of(flat)
    return Told(int(id_.partition(b"-")[0]), int(fields[b"at"]), fields[b"e"])


def due_soon(redis: Redis, partitions: Sequence[str], ahead_ms: int) -> list[str]:
    """Tables for which the clock has something to do in less than `ahead_ms`, some of each partition."""
    end = store_ms(redis) + ahead_ms
    replies = ask_all(
        redis, [("ZRANGEBYSCORE", keys.due(each), "-inf", end, "LIMIT", 0, PAGE) for each in partitions]
    )
    members = [member.decode() for reply in replies for member in reply]
    return [member for member in members if keys.is_table_id(member)]


def handled(redis: Redis, process: str, partitions: Sequence[str]) -> dict[str, str]:
    """How far `process` has handled each partition's log."""
    replies = ask_all(redis, [("HGET", keys.handled(each), process) for each in partitions])
    return {
        partition: reply.decode() if reply else START
        for partition, reply in zip(partitions, replies, strict=True)
    }


def set_handled(redis: Redis, process: str, positions: Mapping[str, str]) -> None:
    """`process` has handled the log of each partition up to these ids."""
    ask_all(redis, [("HSET", keys.handled(each), process, id_) for each, id_ in positions.items()])


def stuck(redis: Redis, partition: str) -> dict[str, bytes]:
    """What processes could not handle: `<process>/<table>/<version>` and the error."""
    found = fields_of(ask(redis, "HGETALL", keys.stuck(partition)))
    return {field.decode(): error for field, error in found.items()}


def set_stuck(redis: Redis, process: str, table: str, version: int, error: str | None) -> None:
    """`process` could not handle a version of a table, for `error`; None: now it could."""
    name, field = keys.stuck(keys.partition_of(table)), f"{process}/{table}/{version}"
    if error is None:
        ask(redis, "HDEL", name, field)
    else:
        ask(redis, "HSET", name, field, error)


def trim_logs(redis: Redis, positions: Mapping[str, str]) -> None:
    """Let go of pointers before these ids, in whole blocks: every reader has passed them."""
    ask_all(redis, [("XTRIM", keys.log(each), "MINID", "~", id_) for each, id_ in positions.items()])

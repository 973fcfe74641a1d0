"""How the store and everything in it stands, read in a few round trips: for operators. Never a card."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.store import keys, scripts
from services.store.outbox import START, place
from services.store.wire import ask, ask_each_master, ask_many

WAITING_COUNTED_MAX = 1_000
READERS = ("projections", "bots", "settlement")
"""What follows the log of a partition: the projections, and the processes by their names."""
TABLE_KEYS = (keys.events, keys.feed, keys.view, keys.receipts, keys.reservations, keys.snapshot)
SAMPLED_MAX = 16

_WAITING = scripts.load("waiting")


class Standing(NamedTuple):
    """One partition. `owner` "": nobody; `oldest_ms`: how long the oldest waiting command waits; `lag_ms`: how old
    the oldest pointer is that a reader of the log has not handled. None: the caller may not know."""

    partition: str
    owner: str
    waiting: int
    oldest_ms: int
    dead: int | None
    tables: int | None
    frozen: int | None
    stuck: int | None
    lag_ms: dict[str, int | None]


class Seen(NamedTuple):
    """A worker and how long ago it was heard of, ms."""

    name: str
    ago_ms: int


def standings(redis: Redis, partitions: Sequence[str], at: int) -> list[Standing]:
    """How each partition stands at `at`, ms. Raises StoreUnavailable."""
    calls = [scripts.Call((keys.commands(each),), (keys.state(each), WAITING_COUNTED_MAX)) for each in partitions]
    waits = scripts.run_all(redis, _WAITING, calls)
    requests = [request for each in partitions for request in (
        ("GET", keys.lease(each)), ("XLEN", keys.dead(each)), ("SCARD", keys.tables(each)),
        ("HLEN", keys.frozen(each)), ("HLEN", keys.stuck(each)),
        ("HGET", keys.checkpoint(f"p{each}"), each), *(("HGET", keys.handled(each), name) for name in READERS[1:]),
    )]
    found = [None if isinstance(reply, ResponseError) else (reply,) for reply in ask_many(redis, requests)]
    size = len(requests) // len(partitions)
    rows = [found[start : start + size] for start in range(0, len(found), size)]
    lags = _lags(redis, partitions, [row[5:] for row in rows], at)
    return [
        _standing(partition, waiting, row, lag, at)
        for partition, waiting, row, lag in zip(partitions, waits, rows, lags, strict=True)
    ]


def _standing(partition: str, waiting: Any, row: Sequence[Any], lag: dict[str, int | None], at: int) -> Standing:
    count, oldest = waiting
    dead, tables, frozen, stuck = map(_number, row[1:5])
    since = max(0, at - _ms(oldest)) if oldest else 0
    return Standing(partition, _owner(row[0]), int(count), since, dead, tables, frozen, stuck, lag)


def workers(redis: Redis, at: int) -> list[Seen]:
    """The workers on the roll, by name."""
    flat = iter(ask(redis, "ZRANGE", keys.workers(), 0, -1, "WITHSCORES"))
    return sorted(Seen(name.decode(), max(0, at - int(float(ms)))) for name, ms in zip(flat, flat, strict=True))


def server_facts(redis: Redis) -> list[dict[str, str]]:
    """What each master says of itself in INFO, and its `appendfsync` if it tells; [] where the caller may not ask."""
    facts: list[dict[str, str]] = []
    try:
        facts = [_facts(text) for text in ask_each_master(redis, "INFO")]
        told = ask_each_master(redis, "CONFIG", "GET", "appendfsync")
    except ResponseError:  # Managed servers and users of few rights have no CONFIG.
        return facts
    return [each | {"appendfsync": fsync[1].decode()} for each, fsync in zip(facts, told, strict=True)]


def table_bytes(redis: Redis, partitions: Sequence[str]) -> int | None:
    """The mean memory of a table, of a sample; None: there is none, or the caller may not look."""
    chosen = ask_many(redis, [("SRANDMEMBER", keys.tables(each)) for each in partitions])
    tables = [table.decode() for table in chosen if isinstance(table, bytes)][:SAMPLED_MAX]
    if not tables:
        return None
    sizes = ask_many(redis, [("MEMORY", "USAGE", key(table)) for table in tables for key in TABLE_KEYS])
    if any(isinstance(size, ResponseError) for size in sizes):
        return None
    return sum(size or 0 for size in sizes) // len(tables)


def _facts(text: Any) -> dict[str, str]:
    if isinstance(text, dict):  # The library reads it where it was asked for by its own name.
        return {str(name): str(value) for name, value in text.items()}
    lines = (line.partition(":") for line in text.decode().splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in lines}


def _lags(
    redis: Redis, partitions: Sequence[str], positions: Sequence[Sequence[Any]], at: int
) -> list[dict[str, int | None]]:
    asked = [
        ("XRANGE", keys.log(partition), f"({_position(each)}", "+", "COUNT", 1)
        for partition, row in zip(partitions, positions, strict=True) for each in row
    ]
    replies = iter(ask_many(redis, asked))
    return [{name: _lag(each, next(replies), at) for name, each in zip(READERS, row, strict=True)} for row in positions]


def _lag(position: tuple[bytes | None] | None, unread: Any, at: int) -> int | None:
    """The age of the first pointer after `position`."""
    if position is None or isinstance(unread, ResponseError):
        return None
    return max(0, at - _ms(unread[0][0])) if unread else 0


def _number(found: tuple[Any] | None) -> int | None:
    return None if found is None else int(found[0])


def _position(found: tuple[bytes | None] | None) -> str:
    return found[0].decode() if found and found[0] else START


def _owner(found: tuple[bytes | None] | None) -> str:
    return found[0].decode().partition(":")[2] if found and found[0] else ""


def _ms(id_: bytes) -> int:
    return place(id_.decode())[0]

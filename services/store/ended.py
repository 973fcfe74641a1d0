"""Lists, one for each partition, of tables whose finished deals wait for something: to be archived, to be logged."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from redis import Redis

from services.store import keys
from services.store.wire import ask, ask_all


class Waiting(NamedTuple):
    """Of a partition: the key of its list, and the key and field that note that all its tables were put on it once."""

    name: Callable[[str], str]
    listed: Callable[[str], tuple[str, str]]


def add(redis: Redis, waiting: Waiting, ended: Sequence[tuple[str, int]]) -> None:
    """Deals have ended, given as (table, version); a later version of a table takes the place of an earlier one."""
    ask_all(
        redis, [("ZADD", waiting.name(keys.partition_of(table)), "GT", version, table) for table, version in ended]
    )


def add_all_once(redis: Redis, waiting: Waiting, partitions: Sequence[str]) -> None:
    """Put every table of a partition on the list, at version 0, unless that was done before."""
    known = ask_all(redis, [("HGET", *waiting.listed(each)) for each in partitions])
    for partition in (each for each, reply in zip(partitions, known, strict=True) if reply is None):
        tables = ask(redis, "SMEMBERS", keys.tables(partition))
        ask_all(
            redis,
            [
                *(("ZADD", waiting.name(partition), "NX", 0, table) for table in tables),
                ("HSET", *waiting.listed(partition), 1),
            ],
        )

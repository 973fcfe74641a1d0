"""Whenever a deal has ended, its table goes on the list of what is to be archived, and stays there until it is."""

import logging
from collections.abc import Callable, Sequence

from redis import Redis
from redis.exceptions import RedisError

from services.store import cold
from services.store.outbox import Pointer

KIND = "record"

_log = logging.getLogger(__name__)

Ask = Callable[[str], object]
"""Ask that what is on the list of a partition be archived; asking again is no second job."""


def note(redis: Redis, pointers: Sequence[Pointer]) -> None:
    """Put the tables at which a deal has ended on the list, before the pointers count as handled."""
    ended = {pointer.table: pointer.version for pointer in pointers if KIND in pointer.kinds}
    if ended:
        cold.add_unarchived(redis, list(ended.items()))


def ask(redis: Redis, partitions: Sequence[str], ask_to_archive: Ask) -> None:
    """Ask for each partition with a list, again and again: a job that was lost is not missed."""
    cold.list_all(redis, partitions)
    try:
        for partition in cold.unarchived(redis, partitions):
            ask_to_archive(partition)
    except RedisError as error:
        _log.warning("the queue of jobs is away, deals are archived later: %s", error)

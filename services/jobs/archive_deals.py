"""The finished deals of a partition go to the archive, some at a time; what is left is asked for again."""

import logging
import random
import time
from pathlib import Path

from redis import Redis

from services.archive.make import archive
from services.jobs.store import archive_folder, archiving_store
from services.store import cold
from services.store.wire import StoreUnavailable

DEALS_MAX = 64
"""Of one table, before we look at the clock and at what else is on the list."""
SECONDS_MAX = 0.25
"""Bots' moves wait behind this job; the clock would play for them after two seconds."""

_log = logging.getLogger(__name__)


def archive_deals(partition: str) -> None:
    """The job. Run twice, at once too, it does the same."""
    work(archiving_store(), archive_folder(), partition)


def work(redis: Redis, folder: Path, partition: str) -> int:
    """Archive what is on the list of `partition`, as long as SECONDS_MAX allows; gives how many deals that were.

    In no particular order, so that tables which cannot be archived do not hold up the others.
    """
    tables = list(cold.unarchived(redis, [partition]).get(partition, ()))
    random.shuffle(tables)
    end = time.monotonic() + SECONDS_MAX
    done = 0
    while tables:
        table = tables.pop()
        archived = _archive(redis, folder, table)
        done += archived
        if archived == DEALS_MAX:  # More may be left of it.
            tables.append(table)
        if time.monotonic() > end:
            break
    return done


def _archive(redis: Redis, folder: Path, table: str) -> int:
    try:
        return archive(redis, folder, table, DEALS_MAX)
    except StoreUnavailable:
        raise
    except Exception:
        _log.exception("%s is not archived", table)
        return 0

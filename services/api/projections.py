"""Reading your own writes: projections follow the tables by some milliseconds, so whoever asks waits for them."""

import time
from collections.abc import Mapping

from services.api.backend import backend
from services.api.problems import Problem
from services.store import keys, outbox, outputs
from services.store.views import Current

BEHIND_SECONDS_MAX = 2.0
PAUSE_SECONDS = 0.002
PAUSE_SECONDS_MAX = 0.05


def wait_for_deal(table: str, now: Current) -> None:
    """Wait until the last deal that has ended at the table is in its books. Raises Problem `unavailable`."""
    if now.settled and _wait({table: now.settled}):
        raise Problem("unavailable", "The books of this table are stopped until an operator has looked at them.")


def wait_for_deals() -> None:
    """Wait until the deals that have ended at any table by now are in the books. Raises Problem `unavailable`."""
    redis = backend().redis
    kept = outputs.checkpoints(redis, keys.all_partitions(backend().config.partitions))
    news = outbox.read_log(redis, {partition: place or outbox.START for partition, place in kept.items()})
    _wait({
        pointer.table: pointer.version
        for pointers in news.values() for pointer in pointers if "bank" in pointer.kinds
    })


def _wait(wanted: Mapping[str, int]) -> set[str]:
    """Wait until each table is projected to its version; gives those whose books are stopped by an error."""
    behind, stopped = dict(wanted), set()
    end = time.monotonic() + BEHIND_SECONDS_MAX
    pause = PAUSE_SECONDS
    while behind:
        for table, memory in zip(list(behind), outputs.remembered(backend().redis, list(behind)), strict=True):
            if memory.version >= behind[table]:
                del behind[table]
            elif memory.error is not None:
                del behind[table]
                stopped.add(table)
        if behind:
            if time.monotonic() + pause > end:
                raise Problem("unavailable", "The last deal is not in the books yet.")
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)
    return stopped

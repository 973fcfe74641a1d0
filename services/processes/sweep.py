"""What is looked after now and then, whether or not the log says so: forgotten bots and chips, and old pointers."""

import logging
import time
from collections.abc import Callable, Sequence

from redis import Redis

from services.processes import archiving, bot_turns, settlement
from services.store.outbox import START, handled, place, trim_logs
from services.store.outputs import checkpoints
from services.store.wire import StoreUnavailable, store_ms

BOTS_SECONDS = 0.5
CHIPS_SECONDS = 10.0
TRIM_SECONDS = 60.0
ARCHIVE_SECONDS = 20.0
"""Deals that go to the archive together cost less, and nobody waits for them."""
PAUSE_SECONDS = 0.25

_log = logging.getLogger(__name__)


def sweep(
    redis: Redis,
    partitions: Sequence[str],
    ask_for: bot_turns.Ask,
    should_stop: Callable[[], bool],
    ask_to_archive: archiving.Ask | None = None,
) -> None:
    """Look around until told to stop; a store that is away is waited for. Nothing is archived without being asked."""
    rounds: list[tuple[float, Callable[[], None]]] = [
        (BOTS_SECONDS, lambda: bot_turns.forgotten(redis, partitions, ask_for)),
        (CHIPS_SECONDS, lambda: chips(redis, partitions)),
        (TRIM_SECONDS, lambda: trim(redis, partitions)),
    ]
    if ask_to_archive is not None:
        rounds.append((ARCHIVE_SECONDS, lambda: archiving.ask(redis, partitions, ask_to_archive)))
    due = [0.0] * len(rounds)
    while not should_stop():
        for number, (seconds, look) in enumerate(rounds):
            if time.monotonic() < due[number]:
                continue
            due[number] = time.monotonic() + seconds
            try:
                look()
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
        time.sleep(PAUSE_SECONDS)


def chips(redis: Redis, partitions: Sequence[str]) -> None:
    """Chips that a dead process has left between an account and a table."""
    now = store_ms(redis)
    for partition in partitions:
        settlement.retry_stuck(redis, partition)
        settlement.forgotten(redis, partition, now)


def trim(redis: Redis, partitions: Sequence[str]) -> None:
    """Let go of the pointers that every reader has passed."""
    readers = [
        checkpoints(redis, partitions),
        handled(redis, bot_turns.PROCESS, partitions),
        handled(redis, settlement.PROCESS, partitions),
    ]
    passed = {each: min((reader[each] or START for reader in readers), key=place) for each in partitions}
    trim_logs(redis, {each: id_ for each, id_ in passed.items() if id_ != START})

"""What is looked after now and then, whether or not the log says so: forgotten bots and chips, and old pointers."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from redis import Redis
from redis.exceptions import RedisError

from services.processes import archiving, bot_turns, idle, nightly, settlement
from services.store.outbox import START, handled, place, trim_logs
from services.store.outputs import checkpoints
from services.store.wire import StoreUnavailable, store_ms

BOTS_SECONDS = 0.5
CHIPS_SECONDS = 10.0
TRIM_SECONDS = 60.0
IDLE_SECONDS = 600.0
NIGHTLY_SECONDS = 60.0
ARCHIVE_SECONDS = 1.0
ARCHIVE_TURNS = 20
"""Deals of a partition that go to the archive together cost less, and nobody waits for them; those of all partitions at
once would keep a busy machine from the moves of players for seconds."""
PAUSE_SECONDS = 0.25

_log = logging.getLogger(__name__)


class Close(NamedTuple):
    """How long a table may stand, and who is asked to close it then."""

    patience: idle.Patience
    ask: idle.Ask


class Nightly(NamedTuple):
    """From which hour (UTC) on everything is audited, and who is asked to."""

    hour: int
    ask: nightly.Ask


class Asked(NamedTuple):
    """Who does what this finds: makes bots move, archives deals, closes tables, audits. None: nobody does."""

    bots: bot_turns.Ask
    archive: archiving.Ask | None = None
    close: Close | None = None
    audit: Nightly | None = None


def sweep(redis: Redis, partitions: Sequence[str], asked: Asked, should_stop: Callable[[], bool]) -> None:
    """Look around until told to stop; a store that is away is waited for."""
    rounds: list[tuple[float, Callable[[], None]]] = [
        (BOTS_SECONDS, lambda: bot_turns.forgotten(redis, partitions, asked.bots)),
        (CHIPS_SECONDS, lambda: chips(redis, partitions)),
        (TRIM_SECONDS, lambda: trim(redis, partitions)),
    ]
    if (archive := asked.archive) is not None:
        some = in_turns(partitions, ARCHIVE_TURNS)
        rounds.append((ARCHIVE_SECONDS, lambda: archiving.ask(redis, next(some), archive)))
    if (close := asked.close) is not None:
        rounds.append((IDLE_SECONDS, lambda: close_idle(redis, partitions, close)))
    if (audit := asked.audit) is not None:
        rounds.append((NIGHTLY_SECONDS, lambda: audit_nightly(redis, audit)))
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


def close_idle(redis: Redis, partitions: Sequence[str], close: Close) -> None:
    """Ask for the end of tables at which nobody starts a deal or goes on with one."""
    try:
        idle.ask(redis, partitions, close.patience, close.ask)
    except RedisError as error:
        _log.warning("the queue of jobs is away, idle tables are closed later: %s", error)


def audit_nightly(redis: Redis, audit: Nightly) -> None:
    """Ask for the audit of this night."""
    try:
        nightly.ask(redis, audit.hour, audit.ask)
    except RedisError as error:
        _log.warning("the queue of jobs is away, the audit begins later: %s", error)


def in_turns(partitions: Sequence[str], count: int) -> Iterator[Sequence[str]]:
    """Some of `partitions` at a time, all of them after `count` times, for ever."""
    return cycle([partitions[number::count] for number in range(count)])


def chips(redis: Redis, partitions: Sequence[str]) -> None:
    """Chips that a dead process has left between an account and a table."""
    now = store_ms(redis)
    for partition in settlement.concerned(redis, partitions):
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

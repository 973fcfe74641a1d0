"""The queue of jobs: what is put in, by ids only, under a name made from its cause."""

import hashlib
import time
from collections.abc import Sequence

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

BOTS = "bots"
BOT_MOVES = "services.jobs.bot_moves.bot_moves"
QUEUE_MAX = 1_000
"""With more waiting nobody works, or far too few: the clock plays for the bots instead."""
QUEUE_SHORT = 2
"""With so many waiting, turns that come meanwhile had better go into one job than into many."""
PATIENCE_SECONDS = 0.05
PAUSE_SECONDS = 0.003
TURNS_MAX = 64
"""Bots of so many tables think in one job: on a busy system each step to the disk is shared by all of them."""
SECONDS_MAX = 5
"""A bot's move is worth nothing later: the clock has long played for it."""

DEALS = "deals"
ARCHIVE_DEALS = "services.jobs.archive_deals.archive_deals"
ARCHIVE_SECONDS_MAX = 30
"""A job whose worker was killed is asked for again after so long."""

CLOSE_TABLES = "services.jobs.close_tables.close_tables"
CLOSE_SECONDS_MAX = 30

NIGHTLY_AUDIT = "services.jobs.nightly.nightly_audit"
NIGHTLY_SECONDS_MAX = 30
"""Of the job, which only starts a process; while that runs it is asked for again and does nothing."""

Turn = tuple[str, int]
"""A table, and the version at which a bot is to act."""


def bots(redis: Redis) -> Queue:
    """The queue of bots' moves. Jobs are JSON, as a pickle would let whoever writes here run code."""
    return Queue(BOTS, connection=redis, serializer=JSONSerializer)


def deals(redis: Redis) -> Queue:
    """The queue of deals that are to be archived."""
    return Queue(DEALS, connection=redis, serializer=JSONSerializer)


def put_archive_deals(queue: Queue, partition: str) -> bool:
    """Ask that the finished deals of a partition be archived; False when that waits or runs already."""
    return _put(queue, ARCHIVE_DEALS, partition, f"archive-{partition}", ARCHIVE_SECONDS_MAX)


def put_close_tables(queue: Queue, idle: Sequence[Turn]) -> bool:
    """Ask that tables which stand still at these versions be closed; False when just that waits already."""
    return _put(queue, CLOSE_TABLES, idle, f"close-{_digest(idle)}", CLOSE_SECONDS_MAX)


def put_nightly_audit(queue: Queue, night: str) -> bool:
    """Ask for the audit of a night; False when that waits already."""
    return _put(queue, NIGHTLY_AUDIT, night, f"audit-{night}", NIGHTLY_SECONDS_MAX)


def put_bot_moves(queue: Queue, turns: Sequence[Turn]) -> bool:
    """Ask for the moves that bots have; False when just these still wait, or too much does.

    A queue that is not short is waited for, a moment: the caller then finds more turns for its next job.
    """
    if not _has_room(queue):
        return False
    for start in range(0, len(turns), TURNS_MAX):
        asked = turns[start : start + TURNS_MAX]
        if not _put(queue, BOT_MOVES, asked, _name(asked), SECONDS_MAX):
            return False
    return True


def _put(queue: Queue, job: str, about: object, name: str, seconds_max: int) -> bool:
    """Ask for a job `about` something, worth nothing after `seconds_max`; False when `name` is there already."""
    try:
        queue.enqueue_call(
            job, args=(about,), job_id=name, unique=True, timeout=seconds_max, ttl=seconds_max, description=""
        )
    except DuplicateJobError:
        return False
    return True


def _has_room(queue: Queue) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while (waiting := len(queue)) >= QUEUE_SHORT and time.monotonic() < end:
        time.sleep(PAUSE_SECONDS)
    return waiting < QUEUE_MAX


def _name(turns: Sequence[Turn]) -> str:
    """From the cause, so that asking again is no second job."""
    if len(turns) == 1:
        return f"bot-{turns[0][0]}-{turns[0][1]}"
    return f"bots-{_digest(turns)}"


def _digest(turns: Sequence[Turn]) -> str:
    return hashlib.sha256(repr(turns).encode()).hexdigest()[:32]

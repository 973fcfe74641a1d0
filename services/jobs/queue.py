"""The queue of jobs: what is put in, by ids only, under a name made from its cause."""

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

BOTS = "bots"
BOT_MOVE = "services.jobs.bot_move.bot_move"
QUEUE_MAX = 10_000
"""With more waiting nobody works, or far too few: the clock plays for the bots instead."""
BOT_SECONDS_MAX = 5
"""A bot's move is worth nothing later: the clock has long played for it."""
FAILED_SECONDS = 3600


def bots(redis: Redis) -> Queue:
    """The queue of bots' moves. Jobs are JSON, as a pickle would let whoever writes here run code."""
    return Queue(BOTS, connection=redis, serializer=JSONSerializer)


def put_bot_move(queue: Queue, table: str, version: int) -> bool:
    """Ask for the move that a bot has at `version`; False when it was asked for before, or too much waits."""
    if len(queue) >= QUEUE_MAX:
        return False
    try:
        queue.enqueue_call(
            BOT_MOVE,
            args=(table, version),
            job_id=f"bot-{table}-{version}",
            unique=True,
            timeout=BOT_SECONDS_MAX,
            ttl=BOT_SECONDS_MAX,
            result_ttl=0,
            failure_ttl=FAILED_SECONDS,
            description="",
        )
    except DuplicateJobError:
        return False
    return True

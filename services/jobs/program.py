"""The role `jobs`: one worker of rq, as long as it is not told to stop."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from redis.exceptions import RedisError
from rq import Queue

from services.config import Config
from services.envelope import sender_of
from services.intake import attach
from services.jobs import nightly
from services.jobs.queue import bots, deals
from services.jobs.quick import QuickWorker
from services.jobs.store import use, use_auditor
from services.store.connect import connect

WORKER_SECONDS = 30
"""A worker is known to live for so long; it waits for a job half of that at a time, and then looks around."""
MAINTENANCE_SECONDS = 15
PAUSE_SECONDS = 1.0

_log = logging.getLogger(__name__)


def run(config: Config) -> None:
    """Work until SIGTERM or Ctrl-C. When its store goes away rq gives up, or fails; then we begin again."""
    assert config.redis_url is not None, "a role is run with the address of its store"
    assert config.jobs_redis_url is not None, "the role `jobs` is run with the address of its queue"
    redis = attach(connect(config.redis_url, replicas=config.replicas), sender_of(config.keys))
    use(redis, config.archive, connect(config.archive_redis_url or config.redis_url, replicas=config.replicas))
    use_auditor(_auditor_settings(config))
    jobs_store = connect(config.jobs_redis_url, blocking=True)
    queue = bots(jobs_store)
    # Bots come first: somebody waits for them. Without a folder here, another's worker archives.
    queues = [queue] if config.archive is None else [queue, deals(jobs_store)]
    try:
        while not _work(queues):
            time.sleep(PAUSE_SECONDS)
    finally:
        nightly.end()


def _auditor_settings(config: Config) -> dict[str, str]:
    """The variables of an audit: a login that reads everything and changes nothing, and no other login."""
    url = config.nightly_redis_url or config.redis_url
    told = replace(config, redis_url=url, jobs_redis_url=None, archive_redis_url=None, nightly_redis_url=None)
    return told.to_environment()


def _work(queues: Sequence[Queue]) -> bool:
    """Work as long as the store is there; True when told to stop."""
    try:
        worker = QuickWorker(
            queues,
            connection=queues[0].connection,
            serializer=queues[0].serializer,
            worker_ttl=WORKER_SECONDS,
            maintenance_interval=MAINTENANCE_SECONDS,
        )
        worker.log_job_description = False
        worker.work(logging_level="WARNING")
    except (RedisError, OSError) as error:
        _log.warning("the store of the jobs is away: %s", error)
        return False
    return worker.is_told_to_stop

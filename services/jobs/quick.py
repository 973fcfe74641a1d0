"""A worker of rq for jobs that take a millisecond and may be lost."""

import logging
import time
from types import FrameType
from typing import Any

from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job
from rq.timeouts import JobTimeoutException
from rq.worker import WorkerStatus

HEARTBEAT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class QuickWorker(SimpleWorker):
    """Runs a job and forgets it.

    rq writes some forty times to its store around each job, so that one of a dead worker is found again. A bot's
    move is not worth that: the clock plays for it sooner. What fails is logged, and the job is gone.
    """

    is_told_to_stop = False
    _beaten = 0.0

    def work(self, *args: Any, **given: Any) -> bool:
        """As rq's, which does not sign off when it is told to leave between its birth and listening to signals."""
        try:
            return bool(super().work(*args, **given))
        except SystemExit:
            self.register_death()  # type: ignore[no-untyped-call]
            raise

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run `job` in this process and take it out of the store."""
        self._state = WorkerStatus.BUSY
        try:
            with self.death_penalty_class(job.timeout, JobTimeoutException, job_id=job.id):
                job.perform()
        except Exception:
            _log.exception("job %s failed", job.id)
        finally:
            with self.connection.pipeline() as pipeline:
                pipeline.lrem(queue.intermediate_queue_key, 1, job.id)
                pipeline.delete(job.key)
                pipeline.execute()
            self._state = WorkerStatus.IDLE

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """A stop signal waits for the end of the job."""
        self.is_told_to_stop = self._stop_requested = True
        if self._state != WorkerStatus.BUSY:
            raise StopRequested

    def set_state(self, state: str, pipeline: Any = None) -> None:
        """Known to this process only: nobody asks whether it rests between two jobs."""
        self._state = state

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Not at each job, but often enough."""
        if time.monotonic() - self._beaten > HEARTBEAT_SECONDS:
            super().heartbeat(timeout, pipeline)
            self._beaten = time.monotonic()

    def subscribe(self) -> None:
        """Not told anything by others: a job ends sooner than it could be stopped."""

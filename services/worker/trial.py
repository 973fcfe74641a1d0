"""A command that workers may have died of, tried by a child process first.

A worker that is gone tells nobody of what it died: it may have been killed from outside, by chance as often as one
likes. A child that is gone was looked at meanwhile, and had nothing else to do.
"""

import os
import signal
import time
from collections.abc import Callable
from typing import NoReturn

from services.worker.watchdog import TookTooLong

TRIALS = 2
TRIAL_SECONDS_MAX = 30
"""By the clock on the wall, after which the child ends itself; that it was slow proves nothing."""
LOOK_SECONDS = 0.005
DIED = 1


def dies(decide: Callable[[], object], stay: Callable[[], None]) -> bool:
    """Does a process end at `decide`, each time? What it raises a worker survives.

    `stay` is called meanwhile, to keep what is owned. Only for processes of one thread. Raises what `stay` does.
    """
    return all(_child_dies(decide, stay) for _ in range(TRIALS))


def end_without(parent: int) -> None:
    """For the child: end if the worker `parent` is gone, who alone may hear what is found out."""
    if os.getppid() != parent:
        os._exit(0)


def _child_dies(decide: Callable[[], object], stay: Callable[[], None]) -> bool:
    child = os.fork()
    if not child:
        _try(decide)
    try:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status) not in (0, -signal.SIGALRM)
            stay()
            time.sleep(LOOK_SECONDS)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _try(decide: Callable[[], object]) -> NoReturn:
    """The child's whole life."""
    said = DIED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TRIAL_SECONDS_MAX)
        decide()
        said = 0
    except (Exception, TookTooLong, SystemExit, KeyboardInterrupt):  # Told to leave, as everybody is, or as above.
        said = 0
    finally:
        os._exit(said)

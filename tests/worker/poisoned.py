"""A worker whose rules have a fault: commands under certain keys crash it, loop, eat memory or kill the process.

Run as a program: `python -m tests.worker.poisoned`, with the environment of `marias worker`.
"""

import itertools
import os
import signal
import sys
from contextlib import suppress

from services.config import Config
from services.serve.role import run_role
from services.worker import batch, watchdog

REAL = batch.handle


def raises() -> None:
    raise ZeroDivisionError("a planted fault")


def loops() -> None:
    while True:
        with suppress(Exception):  # The loop swallows what it can, as bad code does.
            sum(range(1000))


def loops_in_c() -> None:
    sum(itertools.repeat(1))  # No handler of Python's runs before it is done.


def eats() -> None:
    eaten = [b""]
    while True:
        eaten.append(bytes(2**20) + eaten[-1][:1])


def eats_crumbs() -> None:
    eaten = []
    while True:
        eaten.append(bytes(450))


def kills() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS = {each.__name__: each for each in (raises, loops, loops_in_c, eats, eats_crumbs, kills)}


def handle(held, command, place, desk):
    """As the real one, but for the keys that name a fault."""
    FAULTS.get(command.key, lambda: None)()
    return REAL(held, command, place, desk)


if __name__ == "__main__":
    batch.handle = handle
    watchdog.HARD_SECONDS_MAX = 0.75  # Four processes die of it, and a test need not wait for each as long as people.
    run_role("worker", Config.from_environment())
    sys.exit(0)

"""Limits on what one command may cost: a decision that never ends or eats the memory is an error like any other.

Time is counted as this process's own work, not by the clock on the wall: a store that is slow, a process that was
paused or a busy machine condemns no command.
"""

import ctypes
import gc
import resource
import signal
import threading
import traceback
from types import FrameType

TICK_SECONDS = 0.25
DECIDE_TICKS_MAX = 4
READ_TICKS_MAX = 80  # A table may have a long past.
HARD_SECONDS_MAX = 3.0
"""Python's handlers wait for the end of a call into C; one that takes this long ends the process instead, and
whoever takes the partition over notices that."""


class TookTooLong(BaseException):
    """The decision was interrupted. No `except Exception` in between may take it for its own."""


_on_duty: "list[Watchdog]" = []  # Whose the signal's handler is: to set it takes as long as all the rest.


class Watchdog:
    """Looks after the commands of one worker in a `with`. It only bites in the main thread, where signals arrive."""

    def __init__(self) -> None:
        self._left = 0  # How many ticks what is being done may still take; 0: nothing is watched.
        self._bites = False

    def __enter__(self) -> None:
        """Tick while a batch is decided: some microseconds for the whole of it."""
        self._bites = threading.current_thread() is threading.main_thread()
        if self._bites:
            if _on_duty != [self]:
                signal.signal(signal.SIGPROF, self._tick)
                _on_duty[:] = [self]
            signal.setitimer(signal.ITIMER_VIRTUAL, HARD_SECONDS_MAX)
            signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)

    def __exit__(self, *_: object) -> None:
        self._left = 0
        if self._bites:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def allow(self, ticks: int) -> None:
        """What follows may take so many ticks, then it is interrupted by TookTooLong; 0: it is not watched."""
        self._left = ticks

    def _tick(self, number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, HARD_SECONDS_MAX)
        if self._left:
            self._left -= 1
            if not self._left:
                self._left = 1  # Should somebody swallow this one, the next follows.
                raise TookTooLong("the decision took too long")


def limit_memory(mebibytes: int) -> None:
    """Let this process have no more than `mebibytes` of its own; 0: as much as it likes.

    Only Linux holds a process to it. What asks for more meets a MemoryError.
    """
    if mebibytes:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def told(error: BaseException) -> str:
    """The traceback of `error`. What a MemoryError still holds in its frames is let go first, or there were no
    room for words."""
    if not isinstance(error, MemoryError):
        return traceback.format_exc()
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        traceback.clear_frames(error.__traceback__)
        text = traceback.format_exc()
        gc.collect()
        _give_back()
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    return text


def _give_back() -> None:
    """Hand freed memory to the system, where its library offers that: it counts as ours until then."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)

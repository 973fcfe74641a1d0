"""One child process: started so that it cannot outlive us, read line by line, started again when it dies."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

HEALTHY_SECONDS = 10.0
BACK_OFF_SECONDS = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)
TAIL_LINES = 20
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(slots=True, kw_only=True)
class Child:
    """A program that is kept running.

    `before` runs ahead of each start; `keep` are files it inherits; `chatty` children are shown only when
    they die; `silent` says that it has closed its output.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    keep: tuple[int, ...] = ()
    chatty: bool = False
    before: Callable[[], object] = lambda: None
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    due: float | None = None
    silent: bool = False
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    _half: bytes = b""

    def start(self) -> None:
        """Start it. Its output is one pipe that never blocks us."""
        self.before()
        self.due = None
        self.silent = False
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            _guarded(self.command),
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=self.keep,
            process_group=0,  # Ctrl-C reaches us alone: we stop the children in their order.
            preexec_fn=_die_with_parent(os.getpid()),  # noqa: PLW1509  This process has one thread.
        )
        os.set_blocking(self.output, False)

    @property
    def output(self) -> int:
        """The file descriptor of its output."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self.process.pid if self.process is not None else None

    def lines(self) -> list[str]:
        """The whole lines it has written since the last call."""
        try:
            data = os.read(self.output, 65536)
        except BlockingIOError:
            return []
        *whole, self._half = (self._half + data).split(b"\n")
        if not data:
            self.silent = True
            whole, self._half = [self._half] if self._half else [], b""
        found = [line.decode(errors="replace") for line in whole]
        self.tail.extend(found)
        return found

    def died(self) -> int | None:
        """The exit status when it has ended by itself since it was started, else None."""
        return None if self.process is None else self.process.poll()

    def bury(self) -> float:
        """Forget the dead process; in how many seconds it is started again: at once, then later and later."""
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None
        now = time.monotonic()
        self.deaths = 1 if now - self.started > HEALTHY_SECONDS else self.deaths + 1
        wait = BACK_OFF_SECONDS[min(self.deaths, len(BACK_OFF_SECONDS)) - 1]
        self.due = now + wait
        return wait

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it still runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)


def _guarded(command: Sequence[str]) -> list[str]:
    """`command`, with a guard in front where the system has no signal for the death of a parent."""
    if _libc is not None:
        return list(command)
    return [sys.executable, "-P", "-m", "services.serve.guard", *command]


def _die_with_parent(parent: int) -> Callable[[], None]:
    def arrange() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # It died between the fork and the line above.
            os._exit(1)

    return arrange

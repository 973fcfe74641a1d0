"""The parent of all children: one loop that prints their lines, restarts the dead and stops them in order."""

import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from services.serve.child import Child
from services.serve.errors import CannotServe
from services.serve.probe import Probe

TICK_SECONDS = 0.5
READY_SECONDS_MAX = 120.0
EARLY_DEATHS_MAX = 4
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_SECONDS = 1.0  # for each of the four stages of a stop, so that the whole stays below five seconds


class CannotStart(CannotServe):
    """A child kept dying, or the program did not become ready; the message holds its last lines."""


class Supervisor:
    """Keeps `children` running until a stop signal comes. The order of the list is the order of the start."""

    def __init__(self, children: Sequence[Child], say: Callable[[str], None], *, verbose: bool) -> None:
        self.children = children
        self.say = say
        self.verbose = verbose
        self.ready = False
        self.stopping = False
        self.selector = selectors.DefaultSelector()

    def run(self, probe: Probe, when_ready: Callable[[], None], stop_order: Sequence[Sequence[str]]) -> None:
        """Start everything, call `when_ready` once, and return when all has stopped. Raises CannotStart."""
        with self._signals():
            try:
                for child in self.children:
                    self._start(child)
                self._become_ready(probe)
                if not self.stopping:
                    when_ready()
                while not self.stopping:
                    self._turn(self._pause())
            finally:
                probe.close()
                self._stop(stop_order)

    def _become_ready(self, probe: Probe) -> None:
        end = time.monotonic() + READY_SECONDS_MAX
        while not self.stopping and not self.ready:
            self._turn(0.01)
            self.ready = probe.poll()
            if time.monotonic() > end:
                raise CannotStart(f"Not ready after {READY_SECONDS_MAX:.0f} seconds.\n{self._last_words()}")

    def _turn(self, seconds: float) -> None:
        """Wait for something to happen, then print, bury and start what is due."""
        for key, _ in self.selector.select(seconds):
            if isinstance(key.data, Child):
                self._print(key.data)
            else:
                key.fileobj.recv(4096)  # type: ignore[union-attr]  # The wake-up of a signal; the rest looks for itself.
        now = time.monotonic()
        for child in self.children:
            if (status := child.died()) is not None:
                self._bury(child, status)
            if child.due is not None and child.due <= now and not self.stopping:
                self._start(child)

    def _pause(self) -> float:
        now = time.monotonic()
        waits = (child.due - now for child in self.children if child.due is not None)
        return max(0.0, min([TICK_SECONDS, *waits]))

    def _start(self, child: Child) -> None:
        child.start()
        self.selector.register(child.output, selectors.EVENT_READ, child)

    def _print(self, child: Child) -> None:
        lines = child.lines()
        if child.silent:
            self.selector.unregister(child.output)
        if self.verbose or not child.chatty:
            for line in lines:
                self.say(f"{child.name:9} | {line}")

    def _bury(self, child: Child, status: int) -> None:
        while not child.silent:
            self._print(child)
        wait = child.bury()
        if self.stopping:
            return
        if not self.ready and child.deaths >= EARLY_DEATHS_MAX:
            raise CannotStart(f"{child.name} ended {child.deaths} times before all was up.\n{_words(child)}")
        if child.chatty and not self.verbose:
            for line in child.tail:
                self.say(f"{child.name:9} | {line}")
        again = "at once" if wait == 0 else f"in {wait:.1f} s"
        self.say(f"{child.name} ended ({_reason(status)}); it is started again {again}")

    def _stop(self, order: Sequence[Sequence[str]]) -> None:
        """Stop stage by stage: first what takes commands, last the store."""
        self.stopping = True
        for stage in order:
            children = [child for child in self.children if child.name.split("-", maxsplit=1)[0] in stage]
            for child in children:
                child.due = None
                child.signal(signal.SIGTERM)
            self._await_end(children)
            for child in children:
                child.signal(signal.SIGKILL)
            self._await_end(children)
        self.selector.close()

    def _await_end(self, children: Sequence[Child]) -> None:
        end = time.monotonic() + STOP_SECONDS
        while any(child.process is not None for child in children) and time.monotonic() < end:
            self._turn(0.01)

    def _last_words(self) -> str:
        return "\n".join(_words(child) for child in self.children if child.tail)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop on Ctrl-C, SIGTERM and a closed terminal; wake up when a child ends; undo it in the end.

        Under nohup a closed terminal is ignored, and stays so.
        """
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)
        self.selector.register(reader, selectors.EVENT_READ)
        handlers = {**dict.fromkeys(STOP_SIGNALS, self._ask_stop), signal.SIGCHLD: _nothing}
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            del handlers[signal.SIGHUP]
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            reader.close()
            writer.close()

    def _ask_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True


def _nothing(number: int, frame: FrameType | None) -> None:
    """A handler must be set for the signal to wake the loop."""


def _words(child: Child) -> str:
    return "\n".join(f"{child.name:9} | {line}" for line in child.tail)


def _reason(status: int) -> str:
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"

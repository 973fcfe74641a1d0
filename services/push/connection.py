"""An open socket that is written to without ever waiting: what the client does not take is queued, up to a bound."""

import logging
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gevent import get_hub, monkey
from gevent.event import Event

QUEUED_MESSAGES_MAX = 64
STALLED_SECONDS_MAX = 30.0  # A client that takes nothing for so long is gone.
SEND_BUFFER_BYTES = 65_536  # The system would keep up to 4 MB for each client that sleeps.
RECEIVE_BYTES_MAX = 8_192
READ, WRITE = 1, 2

_log = logging.getLogger(__name__)
_native_socket = monkey.get_original("socket", "socket")


class Connection:
    """One client's socket, served by the event loop alone: an idle client costs neither a thread nor a greenlet.

    `on_data` gets what the client sends and must not wait. `on_gone` is called once, when the socket is closed.
    """

    __slots__ = (
        "_drained", "_finishing", "_flushing", "_queue", "_read", "_sock", "_write", "on_data", "on_gone",
        "stalled_since",
    )

    def __init__(self, fd: int, on_data: Callable[[bytes], None], on_gone: Callable[[], None]) -> None:
        self._sock: socket.socket | None = _tuned(fd)
        self._queue: deque[bytes] = deque()
        self._flushing = False
        self._finishing = False
        self._write: Any = None
        self._drained: Event | None = None
        self.stalled_since: float | None = None
        self.on_data = on_data
        self.on_gone = on_gone
        self._read: Any = get_hub().loop.io(fd, READ)
        self._read.start(self._readable)

    @property
    def closed(self) -> bool:
        """Is the socket given back to the system?"""
        return self._sock is None

    def send(self, data: bytes) -> bool:
        """Send `data` when the caller next lets the loop run, together with all else that is sent until then.

        False: the connection is closed, or its queue is full; `data` is dropped.
        """
        if self._sock is None or self._finishing:
            return False
        if len(self._queue) >= QUEUED_MESSAGES_MAX:
            self._flush_now()
            if self._sock is None or len(self._queue) >= QUEUED_MESSAGES_MAX:
                return False
        self._queue.append(data)
        if not self._flushing:
            self._flushing = True
            get_hub().loop.run_callback(self._flush)
        return True

    def finish(self, data: bytes = b"") -> None:
        """Send `data` instead of what the client has not begun to receive, then close when the client has taken it."""
        if self._sock is None or self._finishing:
            return
        if self._write is not None and self._write.active:
            while len(self._queue) > 1:
                self._queue.pop()
        if data:
            self.send(data)
        self._finishing = True
        self._flush_now()

    def drain(self, seconds: float = STALLED_SECONDS_MAX) -> bool:
        """Wait until the client has taken everything. False: it is gone, or took too long and was dropped."""
        self._flush_now()
        if self._queue:
            self._drained = Event()
            if not self._drained.wait(seconds):
                self.close()
            self._drained = None
        return self._sock is not None

    def is_stalled(self, now: float) -> bool:
        """Has the client taken nothing for so long that it must be gone? `now` on the monotonic clock."""
        return self.stalled_since is not None and now - self.stalled_since > STALLED_SECONDS_MAX

    def close(self) -> None:
        """Give the socket back. May be called again."""
        if self._sock is None:
            return
        for watcher in (self._read, self._write):
            if watcher is not None:
                watcher.stop()
                watcher.close()
        self._read = self._write = None
        self._sock.close()
        self._sock = None
        self._queue.clear()
        if self._drained is not None:
            self._drained.set()
        self.on_gone()

    def _flush(self) -> None:
        self._flushing = False
        self._flush_now()

    def _flush_now(self) -> None:
        if self._sock is not None and (self._write is None or not self._write.active):
            self._writable()

    def _writable(self) -> None:
        queue = self._queue
        assert self._sock is not None
        try:
            while queue:
                data = queue[0] if len(queue) == 1 else b"".join(queue)
                taken = self._sock.send(data)
                if taken == len(data):
                    queue.clear()
                else:
                    self._took(taken)
                self.stalled_since = None
        except BlockingIOError:
            self._wait_for_room()
            return
        except OSError:
            self.close()
            return
        self._all_taken()

    def _took(self, count: int) -> None:
        queue = self._queue
        while queue and count >= len(queue[0]):
            count -= len(queue.popleft())
        if count:
            queue[0] = queue[0][count:]

    def _wait_for_room(self) -> None:
        if self.stalled_since is None:
            self.stalled_since = time.monotonic()
        if self._write is None:
            assert self._sock is not None
            self._write = get_hub().loop.io(self._sock.fileno(), WRITE)
        if not self._write.active:
            self._write.start(self._writable)

    def _all_taken(self) -> None:
        if self._write is not None:
            self._write.stop()
        self.stalled_since = None
        if self._drained is not None:
            self._drained.set()
        if self._finishing:
            # The client closes when it has read this; closing first could take from it what it has not read yet.
            self.stalled_since = time.monotonic()
            assert self._sock is not None
            with suppress(OSError):  # It is gone already, which is seen when its end is read.
                self._sock.shutdown(socket.SHUT_WR)

    def _readable(self) -> None:
        assert self._sock is not None
        try:
            data = self._sock.recv(RECEIVE_BYTES_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
        elif not self._finishing:
            try:
                self.on_data(data)
            except Exception:  # One client's fault must not reach the loop, which serves them all.
                _log.exception("a connection failed and is closed")
                self.close()


def _tuned(fd: int) -> socket.socket:
    sock: socket.socket = _native_socket(fileno=fd)
    sock.setblocking(False)
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # A client that vanished without a word is noticed when a heartbeat stays unacknowledged.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(STALLED_SECONDS_MAX * 1000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return sock

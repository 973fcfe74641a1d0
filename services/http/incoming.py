"""What a client sends on a connection, taken from its socket in as few reads as it came in."""

import re
from time import monotonic
from typing import Protocol

from services.http.heads import LINE_BYTES_MAX, BadHead, TooLong

HEAD_BYTES_MAX = 32_768
BODY_BYTES_MAX = 65_536
TOO_LARGE = bytes(BODY_BYTES_MAX + 1)
"""Stands for a body that is larger than anybody takes: it is refused for its size, and none of it was kept."""

RECEIVE_BYTES_MAX = 16_384
REQUEST_SECONDS_MAX = 30.0
"""A request that has not come whole by then comes byte by byte from somebody who only wants to hold a connection."""

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?")
_METHOD = re.compile(rb"[A-Za-z]+")


class Socket(Protocol):
    """What is needed of a socket."""

    def recv(self, size: int, /) -> bytes: ...  # noqa: D102


class HungUp(Exception):
    """The client has closed its side in the middle of a request, or sends it too slowly to be waited for."""


class Incoming:
    """The bytes of one connection. `unread`: some of a body was left behind, so no other request can follow."""

    def __init__(self, sock: Socket) -> None:
        self._sock = sock
        self._buffer = b""
        self._end: float | None = None
        self.unread = False

    def head(self) -> str | None:
        """The next request's head without its empty line; None: the client has gone.

        Raises BadHead, TooLong, HungUp.
        """
        self._end = None
        while (end := self._buffer.find(b"\r\n\r\n")) < 0 or end > HEAD_BYTES_MAX:
            self._check_begun()
            if self._buffer:
                self._hurry()
            data = self._sock.recv(RECEIVE_BYTES_MAX)
            if not data:
                return None
            self._buffer += data
        head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
        return head.decode("latin-1")

    def _check_begun(self) -> None:
        """Who speaks another language, or without end, is told so before his head is whole."""
        if len(self._buffer.partition(b"\r\n")[0]) > LINE_BYTES_MAX:
            raise TooLong
        if len(self._buffer) > HEAD_BYTES_MAX:
            raise BadHead("a head without end")
        if self._buffer and _METHOD.match(self._buffer) is None:
            raise BadHead("not HTTP")

    def has_body(self, length: int) -> bool:
        """Has the whole of a body come with its head?"""
        return len(self._buffer) >= length

    def body(self, length: int) -> bytes:
        """A body of so many bytes, or TOO_LARGE. Raises HungUp."""
        if length > BODY_BYTES_MAX:
            self.unread = True
            return TOO_LARGE
        while len(self._buffer) < length:
            self._receive()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return body

    def chunks(self) -> bytes:
        """A body in chunks (RFC 9112 §7.1), or TOO_LARGE. Raises HungUp, BadHead."""
        body = bytearray()
        while size := self._chunk_size():
            if len(body) + size > BODY_BYTES_MAX:
                self.unread = True
                return TOO_LARGE
            body += self.body(size)
            if self.body(2) != b"\r\n":
                raise BadHead("a chunk that does not end where it said")
        while self._line():
            pass  # Trailers mean nothing here.
        return bytes(body)

    def _chunk_size(self) -> int:
        size = _CHUNK.fullmatch(self._line())
        if size is None:
            raise BadHead("a chunk without a size")
        return int(size[1], 16)

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > LINE_BYTES_MAX:
                raise BadHead("a line without end")
            self._receive()
        line, self._buffer = self._buffer[:end], self._buffer[end + 2 :]
        return line

    def _hurry(self) -> None:
        """Called before each further read of a request. Raises HungUp when it takes too long."""
        now = monotonic()
        if self._end is None:
            self._end = now + REQUEST_SECONDS_MAX
        elif now > self._end:
            raise HungUp

    def _receive(self) -> None:
        self._hurry()
        data = self._sock.recv(RECEIVE_BYTES_MAX)
        if not data:
            raise HungUp
        self._buffer += data

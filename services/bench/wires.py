"""Two ways of a player to a table, as lean as they can be: a load client must not be what is measured."""

import base64
import os
import socket
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec

TIMEOUT_SECONDS = 10.0
_SMALL, _MIDDLE = 126, 65536


class Receipt(msgspec.Struct):
    """What became of a command."""

    status: str
    code: str = ""


class Wrong(msgspec.Struct):
    """Why a command was not taken in."""

    code: str


class Fairness(msgspec.Struct):
    """The seats whose numbers the shuffle of `deal` waits for."""

    deal: int
    awaiting: list[int] = []


class View(msgspec.Struct):
    """Of the view, or of a patch of it, only what a player needs who does not think; None: as before."""

    legal: list[msgspec.Raw] | None = None
    fairness: Fairness | None = None


class Message(msgspec.Struct):
    """A version with its view or what changed in it, or a receipt, or an error."""

    version: int = 0
    view: View | None = None
    patch: View | None = None
    receipt: Receipt | None = None
    error: Wrong | None = None


_message = msgspec.json.Decoder(Message).decode


class Wire(Protocol):
    """A connected player: `sockets` to wait for, `heard` bytes so far."""

    heard: int

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """What to wait for."""

    def read(self, sock: socket.socket) -> Iterator[Message]:
        """The messages that have come on `sock`. Raises ConnectionError when the server hung up."""

    def send(self, key: str, command: bytes) -> None:
        """Send a command under an idempotency key."""


class Place(NamedTuple):
    """Where a player plays, and as whom."""

    url: str
    table: str
    token: str

    def connect(self) -> socket.socket:
        """A fresh connection to the server."""
        parts = urlsplit(self.url)
        sock = socket.create_connection((parts.hostname or "", parts.port or 80), TIMEOUT_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def request(self, method: str, what: str, *headers: str) -> bytes:
        """The head of a request about the table."""
        lines = [
            f"{method} /v1/tables/{self.table}/{what} HTTP/1.1", f"Host: {urlsplit(self.url).netloc}",
            f"Authorization: Bearer {self.token}", *headers,
        ]
        return "\r\n".join([*lines, "", ""]).encode()


class SocketWire:
    """A WebSocket. `after` is the last version that is known; `views` whole or patch."""

    def __init__(self, place: Place, after: int, views: str) -> None:
        sock = place.connect()
        self.sockets = (sock,)
        key = base64.b64encode(os.urandom(16)).decode()
        sock.sendall(place.request(
            "GET", f"socket?views={views}", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: marias.v1",
        ))
        self._buffer = _after_head(sock, b"101")
        self.heard = len(self._buffer)
        sock.sendall(_masked(b'{"resume":%d}' % after))
        sock.setblocking(False)

    def send(self, key: str, command: bytes) -> None:
        """As in Wire."""
        self.sockets[0].sendall(_masked(b'{"id":"%b","command":%b}' % (key.encode(), command)))

    def read(self, sock: socket.socket) -> Iterator[Message]:
        """As in Wire."""
        data = _receive(sock)
        self.heard += len(data)
        buffer = self._buffer + data if self._buffer else data
        start = 0
        while (found := _frame(buffer, start)) is not None:
            begin, start = found
            yield _message(memoryview(buffer)[begin:start])
        self._buffer = buffer[start:]


class HttpWire:
    """A stream for what happens, and a kept connection for commands."""

    def __init__(self, place: Place, after: int, views: str) -> None:
        stream, calls = place.connect(), place.connect()
        self.sockets = (stream, calls)
        stream.sendall(place.request("GET", f"stream?views={views}&after={after}"))
        self._buffer = _after_head(stream, b"200")
        self.heard = len(self._buffer)
        self._place = place
        self._answers = b""
        stream.setblocking(False)
        calls.setblocking(False)

    def send(self, key: str, command: bytes) -> None:
        """As in Wire."""
        self.sockets[1].sendall(self._place.request(
            "POST", "commands", "Content-Type: application/json", f"Idempotency-Key: {key}",
            f"Content-Length: {len(command)}",
        ) + command)

    def read(self, sock: socket.socket) -> Iterator[Message]:
        """As in Wire."""
        data = _receive(sock)
        self.heard += len(data)
        return self._blocks(data) if sock is self.sockets[0] else self._refusals(data)

    def _blocks(self, data: bytes) -> Iterator[Message]:
        *blocks, self._buffer = (self._buffer + data).split(b"\n\n")
        for block in blocks:
            _, found, item = block.partition(b"data: ")
            if found:
                yield _message(item)

    def _refusals(self, data: bytes) -> Iterator[Message]:
        """202 says nothing yet; anything else says that the command was not taken."""
        self._answers += data
        while (head := self._answers.find(b"\r\n\r\n")) >= 0:
            lines = self._answers[:head].lower().split(b"\r\n")
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            if len(self._answers) < head + 4 + length:
                return
            self._answers = self._answers[head + 4 + length :]
            if b" 202 " not in lines[0]:
                yield Message(receipt=Receipt("refused", lines[0].decode()))


WIRES: dict[str, Callable[[Place, int, str], Wire]] = {"ws": SocketWire, "http": HttpWire}


def _after_head(sock: socket.socket, status: bytes) -> bytes:
    """Read the head of an answer; what came behind it. Raises ConnectionError when it is not `status`."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            raise ConnectionError("the server hung up")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1] != status:
        raise ConnectionError(data.decode(errors="replace"))
    return rest


def _receive(sock: socket.socket) -> bytes:
    try:
        data = sock.recv(262_144)
    except BlockingIOError:
        return b""
    if not data:
        raise ConnectionError("the server hung up")
    return data


def _masked(payload: bytes) -> bytes:
    """A text frame of a client. The mask of nothing but zeros is a mask, and costs nothing."""
    size = len(payload)
    if size < _SMALL:
        return b"\x81%c\0\0\0\0%b" % (0x80 | size, payload)
    return b"\x81\xfe%b\0\0\0\0%b" % (size.to_bytes(2, "big"), payload)


def _frame(buffer: bytes, start: int) -> tuple[int, int] | None:
    """Where the payload of the frame at `start` begins and ends; None if it has not come whole."""
    if len(buffer) < start + 2:
        return None
    if buffer[start] != 0x81:
        raise ConnectionError(f"the server closed: {buffer[start:]!r}")
    size, begin = buffer[start + 1], start + 2
    if size >= _SMALL:
        digits = 2 if size == _SMALL else 8
        if len(buffer) < begin + digits:
            return None
        size, begin = int.from_bytes(buffer[begin : begin + digits], "big"), begin + digits
    return (begin, begin + size) if len(buffer) >= begin + size else None

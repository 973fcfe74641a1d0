"""Clients that take the wire at its word: bytes in, bytes out."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

from websockets.sync.client import ClientConnection, connect

SECONDS = 60.0
OPEN = ExitStack()  # What is to be closed after each test.


class Message(NamedTuple):
    """A block of a stream: its `id`, its kind of event, its data; `comment` of a block that is none."""

    id: str
    event: str
    data: str
    comment: str


class Stream:
    """A GET of /stream on a socket of its own. `status` and `headers` are there at once; iterate for messages."""

    def __init__(self, port: int, path: str, token: str | None, *, receive_bytes: int = 0, **headers: str) -> None:
        self.sock = socket.socket()
        OPEN.enter_context(self.sock)
        if receive_bytes:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.sock.settimeout(SECONDS)
        self.sock.connect(("127.0.0.1", port))
        if token:
            headers["Authorization"] = f"Bearer {token}"
        lines = [f"GET {path} HTTP/1.1", "Host: test", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        self.heard = b""
        head = self._until(b"\r\n\r\n").decode().split("\r\n")
        self.status = int(head[0].split()[1])
        self.headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)

    def problem(self) -> dict:
        """The problem document of a refused request."""
        length = int(self.headers["content-length"])
        while len(self.heard) < length:
            self.heard += self._receive()
        return json.loads(self.heard[:length])

    def __iter__(self) -> Iterator[Message]:
        while True:
            try:
                block = self._until(b"\n\n").decode()
            except EOFError:
                return
            fields = dict.fromkeys(("id", "event", "data", ""), "")
            for line in block.strip("\n").split("\n"):
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            yield Message(fields["id"], fields["event"], fields["data"], fields[""])

    def messages(self, count: int) -> list[Message]:
        """The next `count` messages; beats and greetings do not count."""
        found = []
        for message in self:
            if message.data:
                found.append(message)
            if len(found) == count:
                break
        return found

    def versions(self, count: int) -> list[int]:
        """The ids of the next `count` messages."""
        return [int(message.id) for message in self.messages(count)]

    def close(self) -> None:
        """Hang up."""
        self.sock.close()

    def _until(self, mark: bytes) -> bytes:
        while mark not in self.heard:
            self.heard += self._receive()
        found, _, self.heard = self.heard.partition(mark)
        return found

    def _receive(self) -> bytes:
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        return data


def socket_of(port: int, table: str, token: str | None, *, query: str = "") -> ClientConnection:
    """A WebSocket to a table, its token in the header."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return OPEN.enter_context(connect(
        f"ws://127.0.0.1:{port}/v1/tables/{table}/socket{query}", additional_headers=headers,
        subprotocols=["marias.v1"], compression=None, open_timeout=SECONDS,
    ))


def hear(connection: ClientConnection, member: str) -> dict:
    """The next message that has `member`."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        message = json.loads(connection.recv(timeout=SECONDS))
        if member in message:
            return message
    raise TimeoutError(member)


def decided(connection: ClientConnection) -> dict:
    """The next receipt that says how a command ended: on a slow machine it is said before that it is queued."""
    while (receipt := hear(connection, "receipt")["receipt"])["status"] == "queued":
        pass
    return receipt

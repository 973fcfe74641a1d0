"""Many clients that come and go: what they took is given back, and nobody else notices (bug classes of SSE servers)."""

import json
import os
import socket
import time

import pytest

from tests.cast import ANA, BARA
from tests.push.clients import SECONDS, Stream, hear, socket_of
from tests.push.conftest import Push
from tests.push.writer import TABLE, Writer

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted in /proc"),
]
STORE_FILES = 20  # Connections to the store, which stay open.
PATH = f"/v1/tables/{TABLE}/stream"


def settles(push: Push, files: int) -> bool:
    """Does the process come down to so many open files?"""
    end = time.monotonic() + SECONDS
    while push.files() > files and time.monotonic() < end:
        time.sleep(0.05)
    return push.files() <= files


def test_files_return_when_clients_come_and_go(push: Push, writer: Writer) -> None:
    writer.change()
    token = push.token(ANA)
    before = push.files()
    for number in range(2_000):
        drop(push, token, number)
    assert settles(push, before + STORE_FILES), f"{push.files()} files are open, {before} were before"
    stream = Stream(push.port, PATH + "?after=0", push.token(BARA))
    assert stream.versions(1) == [1]


def drop(push: Push, token: str, number: int) -> None:
    """Connect and vanish: politely, in the middle, with a reset, or before the request is whole."""
    client = socket.create_connection(("127.0.0.1", push.port), SECONDS)
    request = f"GET {PATH}?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    match number % 4:
        case 0:
            client.sendall(request)
            client.recv(64)
        case 1:
            client.sendall(request)
        case 2:
            client.sendall(request)
            client.recv(64)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # Ends in a reset.
        case 3:
            client.sendall(request[:40])
    client.close()


def test_sockets_give_their_files_back(push: Push, writer: Writer) -> None:
    writer.change()
    token = push.token(ANA)
    socket_of(push.port, TABLE, token).close()
    before = push.files()
    for number in range(40):
        connection = socket_of(push.port, TABLE, token)
        connection.send(json.dumps({"resume": 0}))
        hear(connection, "version")
        if number % 2:
            connection.socket.shutdown(socket.SHUT_RDWR)
        else:
            connection.close()
    assert settles(push, before + STORE_FILES)


def test_a_hundred_watchers_hear_the_same(push: Push, writer: Writer) -> None:
    writer.change()
    streams = [Stream(push.port, PATH + "?after=1", push.token(BARA)) for _ in range(100)]
    for stream in streams:
        next(iter(stream))
    for _ in range(20):
        writer.change()
    heard = {tuple(message.data for message in stream.messages(20)) for stream in streams}
    assert len(heard) == 1

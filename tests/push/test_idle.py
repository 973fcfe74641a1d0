"""Thousands of clients who only listen: what each costs, that all hear, and that those who have gone are found.

MARIAS_TEST_CLIENTS says how many; `pytest -rP` shows the figures.
"""

import contextlib
import ctypes
import os
import resource
import select
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cast import BARA
from tests.push.clients import OPEN, SECONDS
from tests.push.conftest import Push
from tests.push.writer import TABLE, Writer

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted in /proc"),
]
CLIENTS = int(os.environ.get("MARIAS_TEST_CLIENTS", "5000"))
CLIENT_BYTES_MAX = 12_000
VANISHED = min(CLIENTS, 500)
FOUND_SECONDS_MAX = 60.0
BESIDE_FILES = 40  # Of the process itself: its store, its listener, its libraries.
CLONE_NEWNET = 0x40000000

STREAM = "GET /v1/tables/{table}/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
SOCKET = (
    "GET /v1/tables/{table}/socket?views=patch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many open files as the system allows this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CLIENTS + 500:
        pytest.skip(f"ONLY {hard} OPEN FILES ARE ALLOWED HERE: set MARIAS_TEST_CLIENTS lower")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    OPEN.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def follow(address: tuple[str, int], token: str, count: int) -> list[socket.socket]:
    """So many clients, streams and sockets by turns, each of whom has been let in."""
    clients: list[socket.socket] = []
    for number in range(count):
        client = OPEN.enter_context(socket.create_connection(address, SECONDS))
        client.sendall((SOCKET if number % 2 else STREAM).format(table=TABLE, token=token).encode())
        clients.append(client)
        if number >= 50:  # Some at a time, as more than the backlog would be turned away.
            let_in(clients[number - 50])
    for client in clients[-50:]:
        let_in(client)
    return clients


def let_in(client: socket.socket) -> None:
    """Read the answer up to the end of its head."""
    heard = b""
    while b"\r\n\r\n" not in heard:
        data = client.recv(4096)
        assert data, "hung up on"
        heard += data
    assert heard.split(b" ", 2)[1] in (b"101", b"200"), heard


def resident(pid: int) -> int:
    """Bytes of memory that a process really has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def all_hear(clients: list[socket.socket], word: bytes) -> int:
    """How many of the clients hear `word` in time."""
    poll = select.poll()
    waiting = {client.fileno(): client for client in clients}
    for number in waiting:
        poll.register(number, select.POLLIN)
    end = time.monotonic() + 2 * SECONDS
    while waiting and time.monotonic() < end:
        for number, _ in poll.poll(500):
            if word in waiting[number].recv(65_536):
                poll.unregister(number)
                del waiting[number]
    return len(clients) - len(waiting)


def settles(push: Push, files: int, seconds_max: float) -> float:
    """The seconds until the process has no more open files than that. Raises TimeoutError."""
    began = time.monotonic()
    while push.files() > files:
        if time.monotonic() - began > seconds_max:
            raise TimeoutError(f"{push.files()} files are still open")
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.usefixtures("many_files")
def test_thousands_listen_for_little_and_all_hear(launch: Callable[..., Push], writer: Writer) -> None:
    push = launch(4.0)
    writer.change()
    token = push.token(BARA)
    address = ("127.0.0.1", push.port)
    for client in follow(address, token, 50):  # What the process needs for the first ones is not what one costs.
        client.close()
    settles(push, BESIDE_FILES, SECONDS)
    files, memory = push.files(), resident(push.pid)
    began = time.monotonic()
    clients = follow(address, token, CLIENTS)
    print(f"{CLIENTS} clients came in {time.monotonic() - began:.1f} s")
    each = (resident(push.pid) - memory) / CLIENTS
    print(f"files for each {(push.files() - files) / CLIENTS:.3f}, bytes of memory for each {each:,.0f}")
    assert CLIENTS <= push.files() - files <= CLIENTS + BESIDE_FILES
    assert each < CLIENT_BYTES_MAX

    writer.change()
    assert all_hear(clients, b'"secret":"1-2"') == CLIENTS
    assert all_hear(clients[::2], b":\n\n") == len(clients[::2])
    assert all_hear(clients[1::2], b'{"ping":') == len(clients[1::2])
    for client in clients:
        client.close()
    print(f"all were given back in {settles(push, files + BESIDE_FILES, 4 * SECONDS):.1f} s")


@pytest.fixture
def cut_off() -> Iterator[Callable[[], None]]:
    """A network of its own at 10.213.7.2, which sees us as 10.213.7.1, and a function that cuts the cable."""
    ip = shutil.which("ip")
    names = [["netns", "add", "marias-idle"], ["link", "add", "marias0", "type", "veth", "peer", "name", "marias1"]]
    if ip is None or any(
        subprocess.run([ip, *name], check=False, stderr=subprocess.DEVNULL).returncode for name in names
    ):
        if ip is not None:
            subprocess.run([ip, "netns", "del", "marias-idle"], check=False, stderr=subprocess.DEVNULL)
        pytest.skip("NO NETWORK NAMESPACES ON THIS MACHINE: nobody can vanish without a word here")

    def run(*words: str) -> None:
        subprocess.run([ip, *words], check=True)

    try:
        run("link", "set", "marias1", "netns", "marias-idle")
        run("addr", "add", "10.213.7.1/30", "dev", "marias0")
        run("link", "set", "marias0", "up")
        run("-n", "marias-idle", "addr", "add", "10.213.7.2/30", "dev", "marias1")
        run("-n", "marias-idle", "link", "set", "marias1", "up")
        yield lambda: run("-n", "marias-idle", "link", "set", "marias1", "down")
    finally:
        subprocess.run([ip, "link", "del", "marias0"], check=False, stderr=subprocess.DEVNULL)
        subprocess.run([ip, "netns", "del", "marias-idle"], check=False, stderr=subprocess.DEVNULL)


def elsewhere(work: Callable[[], object]) -> None:
    """Do `work` in a thread whose sockets belong to the other network."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with open("/run/netns/marias-idle") as there:
                if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


@pytest.mark.usefixtures("many_files")
def test_who_vanishes_without_a_word_is_found(
    launch: Callable[..., Push], writer: Writer, cut_off: Callable[[], None]
) -> None:
    push = launch(3.0, "10.213.7.1")  # In service it beats every 12 s, and finds them 9 s later than this.
    writer.change()
    token = push.token(BARA)
    clients: list[socket.socket] = []
    elsewhere(lambda: clients.extend(follow(("10.213.7.1", push.port), token, VANISHED)))
    assert push.files() > VANISHED
    cut_off()
    print(f"{VANISHED} who vanished were found in {settles(push, BESIDE_FILES, FOUND_SECONDS_MAX):.0f} s")
    with contextlib.suppress(OSError):
        for client in clients:
            client.close()

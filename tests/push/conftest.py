"""A push process of its own, a store beneath it and a hand that writes to the store."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from redis import Redis

from services.signing import Signer
from services.store.connect import connect
from services.tokens import KeyRing
from tests import servers
from tests.cast import Player
from tests.push import clients
from tests.push.writer import Writer

ROOT = Path(__file__).parents[2]


class Push(NamedTuple):
    """A running push process."""

    port: int
    pid: int
    ring: KeyRing
    signer: Signer

    def token(self, player: Player, role: str = "player") -> str:
        """The token by which `player` is known."""
        return self.ring.issue(role=role, sub=player.id, name=player.name)

    def files(self) -> int:
        """How many files the process has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))


@pytest.fixture(scope="module")
def launch(
    tmp_path_factory: pytest.TempPathFactory, running_servers: dict[str, servers.Server]
) -> Iterator[Callable[..., Push]]:
    """Start push processes with a heartbeat of so many seconds over the embedded store; all end with the module."""
    folder = tmp_path_factory.mktemp("push")
    if "valkey" not in running_servers:
        running_servers["valkey"] = servers.Server(servers.program("valkey"))
        running_servers["valkey"].start()
    started: list[subprocess.Popen[bytes]] = []

    def start(
        beat_seconds: float, host: str = "127.0.0.1", stalled_seconds: float = 0.0, first_seconds: float = 0.0
    ) -> Push:
        listening = socket.create_server((host, 0), backlog=1024)
        environment = os.environ | {"REDIS_URL": running_servers["valkey"].url, "MARIAS_DATA": str(folder)}
        started.append(subprocess.Popen(
            [sys.executable, "-m", "tests.push.process", str(listening.fileno()), str(beat_seconds),
             str(stalled_seconds), str(first_seconds)],
            cwd=ROOT, env=environment, pass_fds=[listening.fileno()],
        ))
        port = listening.getsockname()[1]
        listening.close()
        return Push(port, started[-1].pid, KeyRing(folder / "keys"), Signer(folder / "keys" / "receipts"))

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
    for process in started:
        assert process.wait(60) == 0, "the push process did not end well"


@pytest.fixture(scope="module")
def push(launch: Callable[..., Push]) -> Push:
    """A push process whose heart beats as in service."""
    return launch(12.0)


@pytest.fixture
def store(server_url: str) -> Iterator[Redis]:
    """The store beneath it, emptied before each test."""
    client = connect(server_url)
    yield client
    client.close()


@pytest.fixture
def writer(store: Redis) -> Writer:
    """The owner of the table's partition; nothing is written yet."""
    return Writer(store)


@pytest.fixture(autouse=True)
def hang_up() -> Iterator[None]:
    """No client of one test is left for the next."""
    yield
    clients.OPEN.close()

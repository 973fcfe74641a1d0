"""Real store servers for tests: each in a folder of its own, with the settings of the embedded store."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from services.serve import embedded, torn
from services.serve.binary import NoServer, find_server


class Server:
    """A Valkey or Redis that a test may kill and start again; its data folder stays until `remove`."""

    def __init__(self, program: Path, *, fsync: str = "always", environment: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="marias-"))  # Short: the path of a socket is limited.
        self.path = self.folder / "s.sock"
        self.command = embedded.command(program, self.folder, self.path, fsync=fsync)
        self.environment = {**os.environ, **(environment or {})}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of database 0."""
        return embedded.url(self.path)

    @property
    def jobs_url(self) -> str:
        """The address of database 1."""
        return embedded.url(self.path, 1)

    def client(self) -> Redis:
        """A client of database 0; an error of the store is raised as it comes."""
        return Redis.from_url(self.url, retry=Retry(NoBackoff(), 0))

    def start(self) -> None:
        """Start it and wait until it answers."""
        torn.mend(Path(self.command[0]), self.folder)
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment
        )
        log.close()
        end = time.monotonic() + 60
        while not embedded.is_ready(self.path):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.01)

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def remove(self) -> None:
        """kill -9, and no data is left."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def program(kind: str) -> Path:
    """The server program of a kind: "valkey" is what `marias serve` would start, "redis" is the system's.

    Skips the test, aloud, where there is none; on CI a skip fails the run.
    """
    if kind == "valkey":
        try:
            return find_server()
        except NoServer as error:
            pytest.skip(f"NO STORE SERVER ON THIS MACHINE: {error}")
    found = shutil.which(os.environ.get("MARIAS_TEST_REDIS", "redis-server"))
    if found is None:
        pytest.skip("NO redis-server ON THIS MACHINE: apt install redis-server")
    return Path(found)

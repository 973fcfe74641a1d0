"""An embedded store and workers for an hour: started, watched and ended by a bench."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from services.cli.temporary import NotStarted
from services.envelope import sender_of
from services.intake import attach
from services.serve import embedded
from services.serve.binary import find_server
from services.store import leases
from services.store.connect import connect

START_SECONDS_MAX = 60.0


class Store:
    """A running store: its client, and the workers that were started on it."""

    def __init__(self, url: str, folder: Path, pid: int) -> None:
        self.redis: Redis = attach(connect(url), sender_of(folder / "keys"))
        self.pid = pid
        self._url = url
        self._folder = folder
        self._workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """A worker process of that name, once it is on the roll. Raises NotStarted."""
        log = self._folder / f"{name}.log"
        settings = {**os.environ, "REDIS_URL": self._url, "MARIAS_WORKER_NAME": name}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "services.cli", "worker", "--data", str(self._folder)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=settings,
            )
        self._workers.append(process)
        wait_until(lambda: any(each.startswith(f"{name}.") for each in leases.heartbeat(self.redis, "").workers))
        return process

    def end(self, process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> None:
        """End a worker and wait for that."""
        process.send_signal(how)
        process.wait()
        self._workers.remove(process)

    def close(self) -> None:
        """End all workers."""
        for process in list(self._workers):
            self.end(process, signal.SIGKILL)
        self.redis.close()


@contextmanager
def own_store(fsync: str) -> Iterator[Store]:
    """A fresh embedded store for the length of the block. Raises NotStarted."""
    folder = Path(tempfile.mkdtemp(prefix="marias-"))  # Short: the path of a socket is limited.
    path = folder / "store.sock"
    with (folder / "store.log").open("wb") as output:
        process = subprocess.Popen(
            embedded.command(find_server(), folder, path, fsync=fsync),
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )
    try:
        wait_until(lambda: embedded.is_ready(path))
        store = Store(embedded.url(path), folder, process.pid)
        try:
            yield store
        finally:
            store.close()
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def wait_until(happened: Callable[[], bool], seconds_max: float = START_SECONDS_MAX) -> None:
    """Wait for something that is looked for every few milliseconds. Raises NotStarted."""
    end = time.monotonic() + seconds_max
    while not happened():
        if time.monotonic() > end:
            raise NotStarted(f"It did not come in {seconds_max:.0f} s.")
        time.sleep(0.005)

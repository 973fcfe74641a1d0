"""The embedded store of a data folder by itself, for as long as a command of an operator needs it."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.config import Config
from services.serve import embedded, folder
from services.serve.binary import find_server
from services.serve.errors import CannotServe

START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 30.0


@contextmanager
def running_store(config: Config) -> Iterator[str]:
    """Start the store, give its address, and stop it. Raises FolderInUse while a `marias serve` runs, NoServer,
    CannotServe."""
    server = find_server()
    folder.prepare(config.data)
    with folder.lock(config.data), folder.lock_store(config.data) as kept:
        path = folder.prepare_socket(config.data)
        command = embedded.command(server, config.data / "store", path, fsync=config.fsync)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(kept.fileno(),),
        )
        try:
            _await(process, lambda: embedded.is_ready(path))
            yield embedded.url(path)
        finally:
            process.terminate()  # It writes what is left to the disk before it ends.
            process.wait(STOP_SECONDS_MAX)


def _await(process: "subprocess.Popen[bytes]", is_ready: Callable[[], bool]) -> None:
    end = time.monotonic() + START_SECONDS_MAX
    while not is_ready():
        if process.poll() is not None or time.monotonic() > end:
            raise CannotServe("The store in the data folder does not start; run marias serve -v to see why.")
        time.sleep(0.02)

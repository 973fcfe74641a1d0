"""A `marias serve` for an hour: on a free port, in a folder that is gone afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from services.serve.folder import read_running

START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 15.0


class NotStarted(Exception):
    """The server did not come up; the message holds what it said."""


class Temporary(NamedTuple):
    """A running server: where it answers, its store, and the process whose children are all of it."""

    url: str
    redis_url: str
    pid: int
    data: Path


@contextmanager
def served(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Temporary]:
    """Run `marias serve` with `arguments` for the length of the block. Raises NotStarted."""
    data = Path(tempfile.mkdtemp(prefix="marias-"))
    log = data / "serve.log"
    settings = {**os.environ, **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", "serve", "--port", "0", "--data", str(data), *arguments],
            stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=settings, start_new_session=True,
        )
    try:
        yield _await(process, data, log)
    finally:
        _stop(process)
        shutil.rmtree(data, ignore_errors=True)


def _await(process: subprocess.Popen[bytes], data: Path, log: Path) -> Temporary:
    end = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < end and process.poll() is None:
        running = read_running(data)
        if running is not None:
            return Temporary(running.http, running.redis_url, process.pid, data)
        time.sleep(0.02)
    raise NotStarted(f"The server did not start.\n{log.read_text(errors='replace')[-4000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """It was given a session of its own, so that a Ctrl-C in the terminal reaches it through us alone."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

"""`marias serve` in a process of its own, on a free port, for tests that talk to it or kill it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from tests import sources

SECONDS_MAX = 120.0
UNTIL_SECONDS_MAX = 120.0

Found = TypeVar("Found")


class Running:
    """A server over the folder `data`; `with Running(data) as server` starts it and leaves nothing behind."""

    def __init__(self, data: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        self.data = data
        self.options = options
        unset = {"REDIS_URL", "JOBS_REDIS_URL", "MARIAS_DATA", "MARIAS_PORT"}
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        self.environment = {**kept, **(environment or {})}
        self.http = ""
        self.process: subprocess.Popen[str] | None = None
        self.log = data.parent / f"{data.name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Running":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The parent's process id."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start it and wait for the line that says where it is ready."""
        with self.log.open("a") as log:
            place = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.cli", "serve", "--port", "0", "--data", str(self.data),
                 *self.options],
                cwd=sources.ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True,
            )
        end = time.monotonic() + SECONDS_MAX
        while (found := re.search(r"^ready on (\S+)", self.said(place), re.MULTILINE)) is None:
            assert self.process.poll() is None, self.said(place)
            assert time.monotonic() < end, self.said(place)
            time.sleep(0.02)
        self.http = found[1]

    def said(self, place: int = 0) -> str:
        """What it has printed since `place`."""
        return self.log.read_text()[place:]

    def children(self) -> dict[str, int]:
        """The children's process ids by role: front, worker, projector, jobs, and store."""
        found = {}
        for pid in _children_of(self.pid):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # It has ended in the meantime.
            name = words[words.index(b"services.cli") + 1].decode() if b"services.cli" in words else "store"
            found[name] = pid
        return found

    def kill(self) -> list[int]:
        """kill -9 of the parent alone; the process ids that must end with it."""
        orphans = list(self.children().values())
        os.kill(self.pid, signal.SIGKILL)
        self._await()
        return orphans

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int | None:
        """Stop it as a service manager would (or by Ctrl-C); the exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self._await()

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict]:
        """One HTTP call: the status and the JSON answer."""
        request = urllib.request.Request(
            self.http + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json",
                     **{name.replace("_", "-"): value for name, value in headers.items()}},
        )
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.load(refused)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict]:
        """As `call`, and again while the answer is 503: what a slow machine cannot tell yet."""
        return until(lambda: (told := self.call(method, path, body, **headers))[0] != 503 and told)

    def _await(self) -> int:
        assert self.process is not None
        try:
            status = self.process.wait(SECONDS_MAX)
        finally:
            self.process.kill()
            self.process.wait()
            self.process = None
        return status


def _children_of(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but is not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def await_end(pids: list[int], seconds_max: float = 60.0) -> list[int]:
    """Those of `pids` that still run after `seconds_max`."""
    end = time.monotonic() + seconds_max
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def marias(data: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command of the program over a folder of data, with the store that runs there."""
    return subprocess.run([sys.executable, "-m", "services.cli", *words, "--data", str(data)], cwd=sources.ROOT,
                          env={**os.environ, "REDIS_URL": ""}, capture_output=True, text=True, timeout=120, check=False)


def until(is_so: Callable[[], Found]) -> Found:
    """What `is_so` gives as soon as it gives anything."""
    end = time.monotonic() + UNTIL_SECONDS_MAX
    while not (found := is_so()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found

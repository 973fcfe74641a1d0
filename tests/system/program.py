"""`marias serve` as an operator runs it: a process of its own, whose children a test may kill."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.system.client import Client
from tests.topologies import free_port

ROOT = Path(__file__).resolve().parents[2]


class Serve:
    """A running server over `data`; stop it with `stop()`."""

    def __init__(self, data: Path, port: int | None = None) -> None:
        self.data, self.port = data, port or free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Serve":
        environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL",)}
        self.log = (self.data.parent / f"serve-{self.port}.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", "serve", "--port", str(self.port), "--data", str(self.data)],
            cwd=ROOT, env=environment, stdout=self.log, stderr=self.log, start_new_session=True,
        )
        self.wait_ready()
        return self

    def wait_ready(self, seconds: float = 90) -> None:
        """Until the health check says ready. Raises TimeoutError with the end of the log."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if Client(self.port).call("GET", "/v1/health/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise TimeoutError(Path(self.log.name).read_text()[-4000:])

    def children(self) -> dict[int, str]:
        """Process ids below the parent with their command lines."""
        assert self.process is not None
        parents, lines = {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    status = (entry / "status").read_text()
                    lines[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:
                    continue
                parents[int(entry.name)] = int(re.search(r"PPid:\s+(\d+)", status).group(1))
        below, found = {self.process.pid}, {}
        grown = True
        while grown:
            grown = False
            for pid, parent in parents.items():
                if parent in below and pid not in below:
                    below.add(pid)
                    found[pid] = lines[pid]
                    grown = True
        return found

    def kill_role(self, pattern: str) -> bool:
        """kill -9 of the children whose command line matches; False when none is running."""
        victims = [pid for pid, line in self.children().items() if re.search(pattern, line)]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        return bool(victims)

    def token(self, role: str) -> str:
        """A token of a role, as the operator makes it."""
        done = subprocess.run(
            [sys.executable, "-m", "services.cli", "token", "--role", role, "--data", str(self.data)],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )
        return done.stdout.strip()

    def stop(self, signal_number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """The exit status of the parent after the signal."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        try:
            return self.process.wait(seconds)
        finally:
            self.log.close()

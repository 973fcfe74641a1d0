"""The system under test as an operator would run it apart: a store and roles, each a process that may be killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from services.serve import embedded
from services.serve.binary import find_server
from tests import sources
from tests.topologies import free_port

START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 15.0
PARTITIONS = 16
OPENING_CHIPS = 10**12

# Without it a harness that is killed itself would leave its processes behind.
_GUARD = [path, "--pdeathsig", "KILL", "--"] if (path := shutil.which("setpriv")) else []


class Store(Protocol):
    """What tables are kept in. `url` and `jobs_url` are addresses; `programs` are the processes it is made of."""

    url: str
    jobs_url: str
    programs: "Sequence[Program]"

    def is_ready(self) -> bool:
        """Does it answer?"""

    def can_confirm(self) -> bool:
        """Are the replicas there without which nothing is answered?"""


@dataclass
class Program:
    """One process, started again by `System.keep` whenever it is not there; `held` says that this is meant."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    held: bool = False
    paused: bool = False
    retired: bool = False
    starts: int = 0
    killed: set[int] = field(default_factory=set)

    @property
    def kind(self) -> str:
        """What it is: `worker` for worker-2."""
        return self.name.rpartition("-")[0] or self.name

    @property
    def lives(self) -> bool:
        """Does it run, and is it not paused?"""
        return self.process is not None and self.process.poll() is None and not self.paused

    def start(self) -> None:
        """Start it; from the main thread, whose end is its own."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*_GUARD, *self.command], cwd=sources.ROOT, env=dict(self.environment), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )
        self.starts += 1
        self.paused = False

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; False when it does not run."""
        if self.process is None or self.process.poll() is not None:
            return False
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.killed.add(self.process.pid)
        self.process.send_signal(number)
        if number is signal.SIGSTOP:
            self.paused = True
        elif number is signal.SIGCONT:
            self.paused = False
        return True

    def ended_by_itself(self) -> int | None:
        """The exit status of a process that nobody killed, once; None: it runs, or was killed."""
        if self.process is None or (status := self.process.poll()) is None:
            return None
        mine = self.process.pid not in self.killed
        self.killed.discard(self.process.pid)
        self.process = None
        return status if mine else None

    def stop(self) -> None:
        """In order, or by force when that takes too long."""
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def said(self, words: str) -> int:
        """How many lines of its log hold `words`."""
        if not self.log.exists():
            return 0
        return sum(words.encode() in line for line in self.log.read_bytes().splitlines())

    def tail(self, lines: int = 12) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class LocalStore:
    """One embedded server on a socket, that writes each command to the disk before it answers."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str] | None = None, fsync: str = "always") -> None:
        self.path = folder / "s.sock"
        self.url, self.jobs_url = embedded.url(self.path), embedded.url(self.path, 1)
        command = embedded.command(find_server(), folder, self.path, fsync=fsync)
        self.programs = [Program("store", command, {**os.environ, **(environment or {})}, folder / "store.log")]

    def is_ready(self) -> bool:
        """Does it answer?"""
        return embedded.is_ready(self.path)

    def can_confirm(self) -> bool:
        """It has no replicas."""
        return True


@dataclass(frozen=True)
class Node:
    """Where a client may go: the ports of HTTP and of WebSocket, and who serves them."""

    http: int
    socket: int


class System:
    """A store, two API nodes (one `front`, one `api` with a `push` of its own), workers, projector and jobs."""

    def __init__(
        self, store: Store, folder: Path, *, workers: int = 2, jobs: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.store, self.folder = store, folder
        self.unexpected: list[str] = []
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MARIAS_")},
            "REDIS_URL": store.url, "JOBS_REDIS_URL": store.jobs_url, "MARIAS_DATA": str(folder / "data"),
            "MARIAS_ARCHIVE": str(self.archive),
            "MARIAS_PARTITIONS": str(PARTITIONS), "MARIAS_OPENING_CHIPS": str(OPENING_CHIPS), **(environment or {}),
        }
        first, second, third = (free_port() for _ in range(3))
        self.nodes = (Node(first, first), Node(second, third))
        self.programs: dict[str, Program] = {each.name: each for each in store.programs}
        for number in range(1, workers + 1):
            self.add(f"worker-{number}", "worker")
        self.add("front-1", "front", "--port", str(first))
        self.add("api-1", "api", "--port", str(second))
        self.add("push-1", "push", "--port", str(third))
        self.add("projector-1", "projector")
        for number in range(1, jobs + 1):
            self.add(f"jobs-{number}", "jobs")

    @property
    def archive(self) -> Path:
        """Where finished deals go, while everything around is killed."""
        return self.folder / "archive"

    def add(self, name: str, role: str, *options: str, root: Path | None = None) -> Program:
        """One more process, of this tree or of another at `root`; `keep` starts it."""
        code = [] if root is None else ["-c", _FROM_ELSEWHERE, str(root)]
        command = [sys.executable, *(code or ["-m", "services.cli"]), role, *options]
        program = Program(name, command, self._environment, self.folder / f"{name}.log")
        self.programs[name] = program
        return program

    def of(self, kind: str) -> list[Program]:
        """The processes of a kind that are not taken out of service."""
        return [each for each in self.programs.values() if each.kind == kind and not each.retired]

    def keep(self) -> None:
        """Start whatever has died; call it often, from the main thread."""
        for program in list(self.programs.values()):
            status = program.ended_by_itself()
            if status is not None and not program.retired:
                self.unexpected.append(f"{program.name} ended by itself with {status}:\n{program.tail()}")
            if program.process is None and not program.held and not program.retired:
                program.start()

    def start(self) -> None:
        """Start all and wait until both nodes answer. Raises TimeoutError."""
        end = time.monotonic() + START_SECONDS_MAX
        (self.folder / "data").mkdir(exist_ok=True)
        while not (self.store.is_ready() and all(map(listens, self._ports()))):
            self.keep()
            if time.monotonic() > end or len(self.unexpected) > 5:
                raise TimeoutError("\n".join([*self.unexpected, *(each.tail() for each in self.programs.values())]))
            time.sleep(0.05)

    def _ports(self) -> set[int]:
        return {port for node in self.nodes for port in (node.http, node.socket)}

    def can_play(self, roll: Sequence[str]) -> bool:
        """Is there a worker that has begun to work (it is on the `roll`), still runs and is not paused, a node that
        takes commands, and whoever must confirm?"""
        signed = {name.partition(".")[0].rpartition("-")[2] for name in roll}
        works = any(each.lives and each.process and str(each.process.pid) in signed for each in self.of("worker"))
        return works and self.store.can_confirm() and any(
            any(each.lives for each in self.of(kind)) and listens(node.http)
            for kind, node in zip(("front", "api"), self.nodes, strict=True)
        )

    def stop_roles(self) -> None:
        """End all but the store."""
        for program in self.programs.values():
            if program not in self.store.programs:
                program.stop()

    def stop(self) -> None:
        """End everything."""
        self.stop_roles()
        for program in self.store.programs:
            program.stop()


# A build beside the installed one: its tree comes first, whatever the environment says.
_FROM_ELSEWHERE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from services.cli import main; sys.exit(main())"


def listens(port: int) -> bool:
    """Does anybody take connections there?"""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def scratch_folder() -> Path:
    """A fresh folder with a short name: the path of a socket is limited."""
    return Path(tempfile.mkdtemp(prefix="marias-"))

"""A store and the roles of `marias`, each on a machine of its own, and players who write down what they were told."""

import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

from redis import Redis

from services.envelope import sender_of
from services.intake import Submitted, attach, submit
from services.store import keys, views
from services.store.connect import connect
from services.store.wire import StoreUnavailable
from tests import servers, sources
from tests.faults.history import Operation
from tests.faults.shim.machine import Machine

PARTITIONS = keys.all_partitions(4)
PLAYERS = tuple(f"u-0{seat}-000000000000000{seat}" for seat in range(3))
HARMLESS = {"already_ready", "deal_running", "wrong_phase", "deal_over"}


class Rig:
    """A store of `kind` on the machine `disk`; roles are started and ended one by one. `with` leaves nothing behind."""

    def __init__(self, folder: Path, kind: str = "valkey", *, fsync: str = "always") -> None:
        self.folder = folder
        self.disk = Machine(_fresh(folder / "store"))
        self.server = servers.Server(servers.program(kind), fsync=fsync, environment=self.disk.environment)
        self.machines: dict[str, Machine] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.log = folder / "roles.log"
        self.redis = connect(self.server.url)

    def __enter__(self) -> "Rig":
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.processes):
            self.end(name)
        self.redis.close()
        self.server.remove()

    def start(self, role: str, name: str = "", *options: str) -> None:
        """Start `marias ROLE`, known here as `name`, on the machine of that name."""
        name = name or role
        machine = self.machines.setdefault(name, Machine(_fresh(self.folder / name)))
        unset = {"REDIS_URL", "JOBS_REDIS_URL", "MARIAS_PORT"}
        environment = {
            **{name: value for name, value in os.environ.items() if name not in unset},
            **machine.environment,
            "REDIS_URL": self.server.url, "JOBS_REDIS_URL": self.server.jobs_url,
            "MARIAS_DATA": str(self.folder / "data"), "MARIAS_PARTITIONS": str(len(PARTITIONS)),
        }
        with self.log.open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "services.cli", role, *options],
                cwd=sources.ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def end(self, name: str) -> None:
        """kill -9 of a role."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()


def _fresh(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Party:
    """Three players at a table, who play until `stop`, through intake and by their views.

    `taken` are the keys that intake acknowledged, `operations` what became of them. While the store is away they
    repeat a command under its key if they are `patient`, else they go.
    """

    def __init__(self, rig: Rig, number: int, *, patient: bool = True, **options: Any) -> None:
        self.table = f"t-{number % len(PARTITIONS):02x}-{uuid.uuid4().hex[:12]}"
        self.taken: list[tuple[str, str]] = []
        self.operations: list[Operation] = []
        self.patient = patient
        self.options = options
        self.failed: list[str] = []
        self.over = False
        self._redis = attach(connect(rig.server.url), sender_of(rig.folder / "data" / "keys"))
        self._chance = random.Random(number)
        self._thread: Thread | None = None

    def open(self) -> None:
        """Open the table and sit down; a worker must run."""
        self.say(PLAYERS[0], {"type": "open", "game": "voleny", "auto_ready": True, **self.options})
        for player in PLAYERS:
            self.say(player, {"type": "sit"})
        for player in PLAYERS:
            self.say(player, {"type": "ready"})

    def start(self) -> None:
        """Go on playing, in a thread."""
        self.over = False
        self._thread = Thread(target=self._play, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Play no further; a command under way is brought to its end."""
        self.over = True
        if self._thread is not None:
            self._thread.join(90)
            assert not self._thread.is_alive(), f"{self.table} hangs"
            self._thread = None

    def view(self, seat: int | None = None) -> dict[str, Any]:
        """The table as a seat sees it."""
        current = self._persist(lambda: views.current(self._redis, self.table))
        assert current is not None, f"{self.table} is gone"
        found: dict[str, Any] = json.loads(views.view_bytes(current, seat))
        return found

    def say(self, actor: str, body: dict[str, Any]) -> Operation:
        """One command with its outcome. Raises StoreUnavailable if not patient; it is written down as unknown."""
        key = uuid.uuid4().hex
        operation = Operation(self.table, actor, key, body, time.monotonic(), None, "unknown")
        try:
            taken = self._persist(lambda: submit(self._redis, Submitted(self.table, actor, actor[:4], key, body)))
            assert taken.status in ("new", "dup"), taken
            self.taken.append((actor, key))
            operation = _answered(operation, self._receipt(actor, key))
        finally:
            self.operations.append(operation)
        return operation

    def _play(self) -> None:
        try:
            while not self.over:
                self._turn()
        except StoreUnavailable:
            pass  # Whoever is not patient goes.
        except Exception as error:
            self.failed.append(f"{self.table}: {error!r}")

    def _turn(self) -> None:
        view = self.view()
        if not view["to_act"]:
            time.sleep(0.002)
            return
        [seat] = view["to_act"]
        legal = self.view(seat)["legal"]
        if legal:
            said = self.say(PLAYERS[seat], self._chance.choice(legal))
            if said.outcome == "refused" and said.code not in HARMLESS:
                self.failed.append(f"{self.table}: {said.code} at version {view['version']}")

    def _receipt(self, actor: str, key: str) -> dict[str, Any]:
        while True:
            found = self._persist(lambda: views.receipt(self._redis, self.table, actor, key))
            if found is None or found["s"] != "queued":
                return found or {"s": "lost"}
            time.sleep(0.002)

    def _persist(self, request: Callable[[], Any]) -> Any:
        end = time.monotonic() + 120
        while True:
            try:
                return request()
            except StoreUnavailable:
                if not self.patient or time.monotonic() > end:
                    raise
                time.sleep(0.02)


def _answered(operation: Operation, receipt: dict[str, Any]) -> Operation:
    now = time.monotonic()
    if receipt["s"] == "applied":
        return operation._replace(answered=now, outcome="ok", version=receipt["v"])
    if receipt["s"] == "refused":
        return operation._replace(answered=now, outcome="refused", code=receipt["c"])
    return operation  # Taken in, and forgotten: `missing` finds it.


def missing(redis: Redis, party: Party) -> list[str]:
    """What was acknowledged at a party's table and is not in the store: as taken in, or with its outcome."""
    reserved = redis.hkeys(keys.reservations(party.table))
    receipts = redis.hgetall(keys.receipts(party.table))
    lost = [f"{actor}/{key}" for actor, key in party.taken if f"{actor}/{key}".encode() not in reserved]
    for operation in party.operations:
        receipt = receipts.get(f"{operation.actor}/{operation.key}".encode())
        if operation.outcome != "unknown" and (receipt is None or not _says(receipt, operation)):
            lost.append(f"{operation.actor}/{operation.key} ({operation.outcome}): {receipt!r}")
    return lost


def _says(receipt: bytes, operation: Operation) -> bool:
    found = json.loads(receipt)
    if operation.outcome == "ok":
        return found["s"] == "applied" and found["v"] == operation.version
    return found["s"] == "refused" and found["c"] == operation.code

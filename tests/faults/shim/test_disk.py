"""The disk is slow, fails or is full while people play: no false answer, no 500, and play goes on by itself after."""

import errno
import http.client
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from redis import Redis

from services.store import keys
from tests.faults.checker import await_quiet, check
from tests.faults.history import Operation
from tests.faults.shim.machine import cut_power
from tests.faults.shim.rig import PARTITIONS, Party, Rig, missing
from tests.program.running import Running
from tests.system.client import Client
from tests.system.play import play_all
from tests.topologies import free_port

PATIENCE = 90.0  # For whatever must come; nothing is asserted about how soon within it.

pytestmark = pytest.mark.server


class Caller(Client):
    """A player who counts how he was answered, and insists on being told when to come again."""

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, dict]:
        status, found, answer = super().call(method, path, body, **headers)
        self.statuses = {**getattr(self, "statuses", {}), status: getattr(self, "statuses", {}).get(status, 0) + 1}
        assert status < 500 or (status == 503 and int(found["retry-after"]) > 0), (status, found, answer)
        return status, found, answer


def seated(port: int) -> tuple[str, list[Caller]]:
    """Three players at a table, in seat order, all ready."""
    callers = [Caller(port) for _ in range(3)]
    for caller in callers:
        caller.token = caller.persist("POST", "/v1/players", {"name": "Ana"}, seconds=PATIENCE)["token"]
    table = callers[0].persist("POST", "/v1/tables", {"game": "voleny", "auto_ready": True}, seconds=PATIENCE)["table"]
    for kind in ("sit", "ready"):
        for seat, caller in enumerate(callers):
            caller.command(table, {"type": kind} | ({"seat": seat} if kind == "sit" else {}))
    return table, callers


def operations(table: str, redis: Redis, callers: list[Caller]) -> list[Operation]:
    """What the callers were told at a table, for the checker."""
    who = redis.hget(keys.view(table), "q").split(b"\0")[1].decode().split("|")
    return [
        Operation(table, actor, key, {}, 0.0, 0.0, outcome)
        for actor, caller in zip(who, callers, strict=True)
        for outcome, told in (("ok", caller.applied), ("refused", caller.refused))
        for key in told
    ]


def test_a_slow_disk_makes_play_slow_and_nothing_else(tmp_path):
    with Rig(tmp_path) as rig:
        port = free_port()
        rig.start("worker")
        rig.start("projector")
        rig.start("front", "front", "--port", str(port))
        await_ready(port)
        table, callers = seated(port)
        with playing(callers, table):
            for milliseconds, seconds in ((5, 1.0), (50, 1.5), (2_000, 6.0)):
                before = applied(callers)
                rig.disk.set(fsync_milliseconds=milliseconds)
                time.sleep(seconds)
                statuses = sum((Counter(caller.statuses) for caller in callers), Counter())
                moves = applied(callers) - before
                print(f"fsync +{milliseconds} ms: {moves} moves in {seconds} s; answers so far {dict(statuses)}")
            rig.disk.set(fsync_milliseconds=0)
            await_moves(callers, 6)
        assert await_quiet(rig.redis, PARTITIONS)
        for name in list(rig.processes):
            rig.end(name)
        verdict = check(rig.redis, PARTITIONS, operations(table, rig.redis, callers), projections=False)
        assert verdict.ok, verdict.lines()


@contextmanager
def playing(callers: list[Caller], table: str) -> Iterator[None]:
    """Play meanwhile; whatever was answered wrongly is raised at the end."""
    done, over = Event(), []
    players = Thread(target=lambda: over.extend(play_all(callers, table, done.is_set)))
    players.start()
    try:
        yield
    finally:
        done.set()
        players.join()
    assert over == []


def applied(callers: list[Caller]) -> int:
    """How many commands were answered as applied."""
    return sum(len(caller.applied) for caller in callers)


def await_moves(callers: list[Caller], count: int) -> None:
    """Play goes on by itself."""
    before, end = applied(callers), time.monotonic() + PATIENCE
    while applied(callers) < before + count:
        assert time.monotonic() < end, "play has not recovered"
        time.sleep(0.05)


def await_ready(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError, http.client.HTTPException):
            if Client(port).call("GET", "/v1/health/ready")[0] == 200:
                return
        assert time.monotonic() < end, "not ready"
        time.sleep(0.05)


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_after_the_first_failed_fsync_nothing_is_acknowledged(kind, tmp_path):
    with Rig(tmp_path, kind) as rig:
        rig.start("worker")
        parties = [Party(rig, number, patient=False) for number in range(4)]
        for party in parties:
            party.open()
        for party in parties:
            party.start()
        time.sleep(0.5)
        rig.disk.set(fsync_errno=errno.EIO)
        for party in parties:
            party.stop()  # Each goes by itself when the store does not answer.
            assert party.failed == []
        assert rig.disk.read("fsyncs_failed") > 0
        taken = sum(len(party.taken) for party in parties)
        rig.server.kill()
        gone = cut_power(rig.disk, rig.server.folder / "appendonlydir")
        rig.disk.set(fsync_errno=0)
        rig.server.start()
        assert [each for party in parties for each in missing(rig.redis, party)] == []
        print(f"{kind}: EIO after {taken} acknowledged: 0 lost, {gone} unsynced bytes cut off")


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A file system of so many megabytes at `place`. Skips, aloud, where it may not be mounted."""
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)],
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        pytest.skip(f"NO FULL DISK: mounting a tmpfs needs root: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_is_told_as_503_and_play_goes_on_when_there_is_room_again(tmp_path):
    with small_disk(tmp_path / "disk", 16) as disk, Running(disk / "data") as server:
        port = int(server.http.rpartition(":")[2])
        table, callers = seated(port)
        opener = Caller(port, callers[0].token)
        fill(disk)
        opened, refused = open_until_refused(opener)
        with playing(callers, table):
            for _ in range(10):  # Still full: whatever is answered with yes must be true.
                opened += open_one(opener)
                time.sleep(0.1)
            (disk / "filler").unlink()
            await_moves(callers, 6)
        for each in opened:
            assert opener.persist("GET", f"/v1/tables/{each}")["version"] == 1
        redis = Redis.from_url(json.loads((server.data / "run.json").read_text())["redis_url"])
        told = operations(table, redis, callers)
        written = {fields[b"k"].decode() for _, fields in redis.xrange(keys.events(table))}
        assert {each.key for each in told if each.outcome == "ok"} <= written
        assert not {each.key for each in told if each.outcome == "refused"} & written
        print(f"full disk: {refused} times 503, {len(opened)} tables opened and {len(told)} moves answered, all there")


def fill(disk: Path) -> None:
    """No room is left for a single block."""
    with (disk / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(random.randbytes(4096))


def open_one(caller: Caller) -> list[str]:
    """The table that was opened, if the answer said so."""
    with suppress(OSError, http.client.HTTPException):
        status, _, answer = caller.call("POST", "/v1/tables", {"game": "voleny"})
        assert status in (201, 503), answer
        return [answer["table"]] if status == 201 else []
    return []


def open_until_refused(caller: Caller) -> tuple[list[str], int]:
    """Open tables until the last block of the log is full; which, and how often 503 was said in the end."""
    opened: list[str] = []
    end = time.monotonic() + PATIENCE
    while getattr(caller, "statuses", {}).get(503, 0) < 3:
        assert time.monotonic() < end, "the disk is full and nobody says so"
        opened += open_one(caller)
    return opened, caller.statuses[503]

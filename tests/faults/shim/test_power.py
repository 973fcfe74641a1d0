"""The power goes while people play: what was acknowledged is on the disk, and the store starts by itself.

kill -9 of a store loses nothing that it wrote, synced or not: only a cut to the last completed fsync can tell.
"""

import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.checker import await_quiet, check
from tests.faults.shim.machine import cut_power
from tests.faults.shim.rig import PARTITIONS, Party, Rig, missing

CUTS = int(os.environ.get("MARIAS_TEST_POWER_CUTS", "4"))
"""How often the power goes, for each kind of store: a few on CI, two hundred in a night."""
TABLES = 4

pytestmark = pytest.mark.server


@contextmanager
def playing(rig: Rig) -> Iterator[list[Party]]:
    """Tables in play."""
    parties = [Party(rig, number, patient=False) for number in range(TABLES)]
    for party in parties:
        party.open()
    for party in parties:
        party.start()
    yield parties
    for party in parties:
        party.stop()


def await_play(parties: Sequence[Party]) -> None:
    """Until a few moves were acknowledged, beside what opens a table."""
    before, end = sum(len(party.taken) for party in parties), time.monotonic() + 120
    while sum(len(party.taken) for party in parties) < before + 2 * TABLES:
        assert time.monotonic() < end, "nobody plays"
        time.sleep(0.01)


def cut(rig: Rig, chance: random.Random, *, torn: bool) -> int:
    """The power goes and comes back: the store must start unaided. Gives how many bytes went."""
    rig.server.kill()
    gone = cut_power(rig.disk, rig.server.folder / "appendonlydir", torn=chance if torn else None)
    rig.server.start()
    return gone


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_no_acknowledged_command_is_lost_with_the_power(kind, tmp_path):
    chance = random.Random(1)
    operations, acknowledged, gone = [], 0, 0
    with Rig(tmp_path, kind) as rig:
        rig.start("worker")
        rig.start("projector")
        rig.disk.set(fsync_milliseconds=10)  # So that a cut falls between a write and its fsync, not beside it.
        for number in range(CUTS):
            with playing(rig) as parties:
                await_play(parties)
                time.sleep(chance.uniform(0.0, 0.6))
                gone += cut(rig, chance, torn=bool(number % 2))
            assert lost_of(rig, parties) == []
            assert [each for party in parties for each in party.failed] == []
            acknowledged += sum(len(party.taken) for party in parties)
            operations += [each for party in parties for each in party.operations]
        assert await_quiet(rig.redis, PARTITIONS)
        rig.end("worker")
        rig.end("projector")
        verdict = check(rig.redis, PARTITIONS, operations, projections=False)
        assert verdict.ok, verdict.lines()
    print(f"{kind}, always: {CUTS} power cuts, {acknowledged} acknowledged, 0 lost, {gone} unsynced bytes cut off")


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_with_everysec_the_loss_is_seen_and_play_goes_on(kind, tmp_path):
    """The proof that the test above can fail: the same load and cut, but the store answers before its fsync."""
    chance = random.Random(2)
    lost: list[str] = []
    acknowledged = 0
    with Rig(tmp_path, kind, fsync="everysec") as rig:
        rig.start("worker")
        for _ in range(30):  # A busy machine may let the next fsync come before the cut.
            with playing(rig) as parties:
                await_fsync(rig)
                time.sleep(0.6)
                cut(rig, chance, torn=False)
            lost += lost_of(rig, parties)
            acknowledged += sum(len(party.taken) for party in parties)
            if lost:
                break
        assert lost, "no acknowledged command was lost: the cut cuts nothing"
        after = Party(rig, 1)
        after.open()  # The owner remembers more than the store does: it reads anew.
        assert {each.outcome for each in after.operations} == {"ok"}
    print(f"{kind}, everysec: {acknowledged} acknowledged, {len(lost)} of them or of their outcomes lost")


def lost_of(rig: Rig, parties: Sequence[Party]) -> list[str]:
    """What was acknowledged to anybody and is gone."""
    return [each for party in parties for each in missing(rig.redis, party)]


def await_fsync(rig: Rig) -> None:
    """Until the next fsync in the background has ended."""
    seen, end = rig.disk.read("fsyncs"), time.monotonic() + 30
    while rig.disk.read("fsyncs") == seen:
        assert time.monotonic() < end, "the store does not sync"
        time.sleep(0.005)


@pytest.mark.parametrize("kind", ["valkey", "redis"])
@pytest.mark.parametrize("garbage", [bytes(4096), b"\xff" * 512], ids=["zeros", "noise"])
def test_a_store_with_garbage_at_the_end_stays_down_aloud_until_it_is_repaired(kind, garbage, tmp_path):
    """A file system may leave a block that was never written. To guess what it meant would be to invent history."""
    with Rig(tmp_path, kind) as rig:
        rig.start("worker")
        party = Party(rig, 1, patient=False)
        party.open()
        rig.server.kill()
        [log] = (rig.server.folder / "appendonlydir").glob("*.incr.aof")
        with log.open("ab") as file:
            file.write(garbage)
        with pytest.raises(RuntimeError, match="Bad file format reading the append only file"):
            rig.server.start()
        repair(Path(rig.server.command[0]), log)
        rig.server.start()
        assert missing(rig.redis, party) == []


def repair(program: Path, log: Path) -> None:
    """As the README tells it: the server's own program, called by its other name, cuts the garbage off."""
    kind = "valkey" if "valkey" in program.name else "redis"
    checker = log.parent / f"{kind}-check-aof"
    checker.symlink_to(program)
    subprocess.run([str(checker), "--fix", str(log)], input="y\n", text=True, check=True, capture_output=True)
    checker.unlink()


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_a_transaction_torn_anywhere_never_comes_back(kind, tmp_path):
    """A server that leaves its first part in the log would join it to the next one, at the start after the next."""
    with Rig(tmp_path, kind) as rig:
        rig.redis.set("before", 1)
        [log] = (rig.server.folder / "appendonlydir").glob("*.incr.aof")
        start = log.stat().st_size
        for place in range(3, 80, 7):
            rig.redis.eval("redis.call('SET', 'ghost', 1) redis.call('SET', 'other', ARGV[1])", 0, "$1")
            rig.server.kill()
            os.truncate(log, start + place)
            rig.server.start()
            rig.redis.eval("redis.call('SET', KEYS[1], 1) redis.call('SET', KEYS[1] .. 'b', 1)", 1, f"after-{place}")
            rig.server.kill()
            rig.server.start()
            assert rig.redis.get("ghost") is None
            assert rig.redis.get(f"after-{place}") == rig.redis.get(f"after-{place}b") == b"1"
            start = log.stat().st_size

"""Row 12: what a newer build has written is refused loudly by an older one, and only that partition waits."""

import json
import os
import signal
from functools import partial
from pathlib import Path

from services.intake import Submitted, submit
from services.store import history, keys, views
from tests.faults.processes import PARTITIONS, Program
from tests.faults.registry import Scene, fault

REFUSED_SECONDS_MAX = 30.0
HEALED_SECONDS_MAX = 60.0  # A partition that was refused is left alone for a while.
BESIDE_SECONDS = 4.0
OLDER_WORKERS_MAX = 5
REFUSAL = "needs a newer build"
OLDER_TREE = "MARIAS_FAULTS_OLDER"
SENDER = "u-00-00000000000000ff"


@fault("12", stores=("embedded",))
def newer_event(scene: Scene) -> None:
    """An event of a newer version stands in a table: its partition waits, the others go on, and it can be healed."""
    table = _fresh_table(scene)
    if table is None:
        return
    name = keys.events(table)
    [(id_, fields)] = scene.redis.xrevrange(name, count=1)
    version = int(id_.partition(b"-")[0])
    kept = scene.redis.dump(name)  # A stream does not forget that an entry was there: it is put back whole.
    newer = [{"type": "became_ready", "seat": 0, "v": 99}]
    scene.redis.xadd(name, {**fields, b"e": json.dumps(newer), b"k": "newer", b"a": "newer"}, id=f"{version + 1}-0")
    before = _refusals(scene)
    submit(scene.redis, Submitted(table, SENDER, "", "asks", {"type": "sit"}))
    refused = scene.until(lambda: _refusals(scene) > before, REFUSED_SECONDS_MAX)
    if scene.redis.xlen(name) != version + 1 or views.receipt(scene.redis, table, SENDER, "asks") != {"s": "queued"}:
        scene.complain(f"{table}: something was decided on an event that this build does not know")
    elif not refused:
        scene.complain(f"{table}: an event of a newer version was not refused loudly")
    else:
        scene.count("partitions with a newer event refused")
    scene.redis.restore(name, 0, kept, replace=True)
    if not scene.until(lambda: _is_answered(scene, table), HEALED_SECONDS_MAX):
        scene.complain(f"{table}: the partition did not go on after the newer event was gone")


def _fresh_table(scene: Scene) -> str | None:
    """A table where nobody plays; None when all partitions are played in."""
    played = {keys.partition_of(table) for table in scene.tables}
    free = [each for each in keys.all_partitions(PARTITIONS) if each not in played]
    if not free:
        return None
    table = f"t-{scene.chance.choice(free)}-{scene.chance.getrandbits(48):012x}"
    submit(scene.redis, Submitted(table, SENDER, "", "open", {"type": "open", "game": "voleny"}))
    if not scene.until(lambda: history.tables_of(scene.redis, keys.partition_of(table)).count(table) == 1, 30.0):
        scene.complain(f"{table} was not opened")
        return None
    return table


def _refusals(scene: Scene) -> int:
    return sum(each.said(REFUSAL) for each in scene.system.of("worker"))


def _is_answered(scene: Scene, table: str) -> bool:
    receipt = views.receipt(scene.redis, table, SENDER, "asks")
    return receipt is not None and receipt["s"] == "applied"


def _no_older_build() -> str | None:
    return None if os.environ.get(OLDER_TREE) else f"{OLDER_TREE} must name the tree of an older build"


@fault("12", needs=_no_older_build, stores=("embedded",))
def older_build(scene: Scene) -> None:
    """Workers of an older build work beside those of this one, as in a deploy that goes back and forth.

    One after the other, until one has met something newer than itself: which partitions it is given is chance.
    """
    for number in range(1, OLDER_WORKERS_MAX + 1):
        older = scene.system.add(f"older-{number}", "worker", root=Path(os.environ[OLDER_TREE]))
        before = older.said(REFUSAL)
        if not scene.until(partial(_works, scene, older), 30.0):
            scene.complain("the worker of the older build did not begin")
        scene.until(partial(_refused, older, before), BESIDE_SECONDS)
        scene.count("times that a worker of an older build was there")
        older.retired = True
        older.signal(signal.SIGTERM)
        scene.until(partial(_has_ended, older), 10.0)
        refused = older.said(REFUSAL) - before
        scene.count("partitions refused by the older build", refused)
        if refused or scene.over.is_set():
            return


def _works(scene: Scene, older: Program) -> bool:
    return older.process is not None and _is_on_roll(scene, older.process.pid)


def _refused(older: Program, before: int) -> bool:
    return older.said(REFUSAL) > before


def _has_ended(older: Program) -> bool:
    return not older.lives


def _is_on_roll(scene: Scene, pid: int | None) -> bool:
    names = [name.decode() for name in scene.redis.zrange(keys.workers(), 0, -1)]
    return any(name.partition(".")[0].endswith(f"-{pid}") for name in names)

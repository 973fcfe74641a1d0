"""Row 12: what a newer build has written is refused loudly by this one, and only that partition waits."""

import json

from services.intake import Submitted, submit
from services.store import history, keys, views
from tests.faults.processes import PARTITIONS
from tests.faults.registry import Scene, fault

REFUSED_SECONDS_MAX = 30.0
HEALED_SECONDS_MAX = 60.0  # A partition that was refused is left alone for a while.
SENDER = "u-00-00000000000000ff"


@fault("12")
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
    return sum(each.said("needs a newer build") for each in scene.system.of("worker"))


def _is_answered(scene: Scene, table: str) -> bool:
    receipt = views.receipt(scene.redis, table, SENDER, "asks")
    return receipt is not None and receipt["s"] == "applied"

"""Row 13: snapshots that are not what they should be, just before somebody starts from them."""

import signal
from collections.abc import Callable

from services.store import keys
from tests.faults.registry import Scene, fault

Fields = dict[bytes, bytes]


@fault("13", stores=("embedded",))
def truncated_snapshot(scene: Scene) -> None:
    """The snapshot of a table is cut off in the middle."""
    _spoil(scene, lambda kept: {b"b": kept[b"b"][: len(kept[b"b"]) // 2]})


@fault("13", stores=("embedded",))
def foreign_snapshot(scene: Scene) -> None:
    """The snapshot of a table is of another build."""
    _spoil(scene, lambda _: {b"x": b"another", b"b": b'{"what":"ever"}'})


@fault("13", stores=("embedded",))
def future_snapshot(scene: Scene) -> None:
    """The snapshot of a table says that it is of a version that the table has not reached."""
    _spoil(scene, lambda kept: {b"v": b"%d" % (int(kept[b"v"]) + 100_000)})


@fault("13", stores=("embedded",))
def stale_snapshot(scene: Scene) -> None:
    """The snapshot of a table is an old one."""
    table = scene.chance.choice(scene.tables)
    kept = scene.redis.hgetall(keys.snapshot(table))
    scene.wait(scene.chance.uniform(1.0, 3.0))
    if kept:
        _plant(scene, table, kept)


def _spoil(scene: Scene, change: Callable[[Fields], Fields]) -> None:
    table = scene.chance.choice(scene.tables)
    kept = scene.redis.hgetall(keys.snapshot(table))
    if kept:
        _plant(scene, table, kept | change(kept))


def _plant(scene: Scene, table: str, spoilt: Fields) -> None:
    """Whoever owns the table next has to read it. Where it stays until the end the audit would name it."""
    before = scene.redis.hgetall(keys.snapshot(table))
    scene.redis.hset(keys.snapshot(table), mapping=spoilt)

    def put_back() -> None:
        if scene.redis.hgetall(keys.snapshot(table)) == spoilt:
            scene.redis.hset(keys.snapshot(table), mapping=before)

    scene.clean_up.append(put_back)
    for worker in scene.system.of("worker"):
        worker.signal(signal.SIGKILL)

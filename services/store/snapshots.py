"""The snapshots of a table: that of its last rest, and one beside it.

`v x b` are version, tag and contents of the first, which is written with the events (`append`); `ov ox ob` those of
the other: it was made on the way while a long past was read, or is the last one of another shape. The other goes when
the first is made anew in its shape, or when the receipts of the table are forgotten.
"""

from typing import NamedTuple

from redis import Redis

from services.store import cold, keys, scripts
from services.store.wire import ask_all

_KEEP = scripts.load("keep")


class BadSnapshot(Exception):
    """A snapshot is broken, or of a version that its stream has not reached: start without it."""


class Snapshot(NamedTuple):
    """The whole state at `version`, of the shape `tag`."""

    version: int
    tag: str
    body: bytes


class Found(NamedTuple):
    """The snapshots of one shape, `other` being the one that was made on the way or was kept for its shape; `seen` is
    the version of the last rest's, whatever its shape, b"": there is none. `last` is the table's version now."""

    rest: Snapshot | None
    other: Snapshot | None
    seen: bytes
    last: int


def find(redis: Redis, table: str, tag: str) -> Found:
    """The snapshots of `table` with this `tag`: one of another shape is as good as none."""
    kept, last = ask_all(redis, [
        ("HMGET", keys.snapshot(table), "v", "x", "b", "ov", "ox", "ob"),
        ("XREVRANGE", keys.events(table), "+", "-", "COUNT", 1),  # After it: no good one is ahead of this.
    ])
    now = cold.version_of(last[0]) if last else 0
    return Found(_of_shape(kept[:3], tag), _of_shape(kept[3:], tag), kept[0] or b"", now)


def keep(redis: Redis, table: str, fence: str, made: Snapshot, over: bytes | None = None) -> bool:
    """Keep a snapshot that was made on the way; or, with `over` as `Found.seen`, that of the last rest in its place.

    False: the lease is another's, or another snapshot is there than was seen; then nothing has changed.
    """
    named = (keys.lease(keys.partition_of(table)), keys.snapshot(table))
    where = ("way", "") if over is None else ("rest", over)
    return bool(scripts.run(redis, _KEEP, named, (fence, made.version, made.tag, made.body, *where)))


def _of_shape(values: list[bytes | None], tag: str) -> Snapshot | None:
    version, found, body = values
    if version is None or found is None or body is None or found != tag.encode() or not version.isdigit():
        return None
    return Snapshot(int(version), tag, body)

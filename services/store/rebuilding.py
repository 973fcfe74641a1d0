"""Projections written afresh beside the live ones: all stand still, are compared, and the fresh ones take over."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.store import keys, scripts, shelved
from services.store.cold import PastMissing
from services.store.outputs import LOBBY, Held
from services.store.packing import Damaged, unpacked
from services.store.topology import masters
from services.store.wire import Reply, Request, ask, ask_all, ask_many, fields_of

HOLD_MS = 20_000
PAGE = 500
FIELDS = 1_000

_HOLD, _SWITCH = scripts.load("hold"), scripts.load("switch")
_NOT_TOLD = frozenset({"cp", "hold", "frozen"})
"""How far they are, not what they tell."""
_KINDS = {
    "bank": "bank",
    "rec": "records",
    "sec": "whole records",
    "bal": "scores",
    "score": "scores",
    "fold": "positions",
}
_SHELVED = {"bank": shelved.BANK, "records": shelved.RECORDS, "whole records": shelved.SEALED}
_SORTED = frozenset({"score", "order"})


class Projection(NamedTuple):
    """A key of the projections: its live name, its slot, and what it tells."""

    name: str
    slot: str
    kind: str


def hold(redis: Redis, partitions: Sequence[str], writer: str, ms: int = HOLD_MS) -> None:
    """Let nobody but `writer` write projections for so long; again: for so long from now. Raises Held."""
    if not all(_hold(redis, partitions, writer, ms)):
        raise Held


def let_go(redis: Redis, partitions: Sequence[str], writer: str) -> None:
    """Let everybody write again."""
    _hold(redis, partitions, writer, 0)


def _hold(redis: Redis, partitions: Sequence[str], writer: str, ms: int) -> list[int]:
    slots = [LOBBY, *(f"p{partition}" for partition in partitions)]
    return scripts.run_all(redis, _HOLD, [scripts.Call((keys.hold(slot),), (writer, ms)) for slot in slots])


def drop_fresh(redis: Redis) -> None:
    """Forget what an earlier attempt has left beside the live projections."""
    for page in scan_keys(redis, keys.scratch("pj:*")):
        ask_all(redis, [("UNLINK", name) for name in page])


def all_projections(redis: Redis) -> list[Projection]:
    """Every key that projections tell something by, live or fresh, in order; those of a table together, by name."""
    live = {name.decode() for page in scan_keys(redis, "pj:*") for name in page}
    fresh = {keys.live(name.decode()) for page in scan_keys(redis, keys.scratch("pj:*")) for name in page}
    found = [each for name in live | fresh if (each := _projection(name)).kind not in _NOT_TOLD]
    return sorted(found, key=lambda each: (each.slot, _owner(each), each.name))


def _projection(name: str) -> Projection:
    _, slot, kind, *_ = name.split(":")
    slot = slot.strip("{}")
    return Projection(name, slot, kind if kind in _NOT_TOLD else _KINDS.get(kind, "lobby"))


def _owner(projection: Projection) -> str:
    """The table or player that it tells of."""
    return projection.name.rpartition(":")[2]


def errors(partitions: Sequence[str]) -> list[Projection]:
    """Where the errors that stop tables are kept: they go with the projections they belong to."""
    return [Projection(keys.frozen(each), f"p{each}", "frozen") for each in partitions]


def differing(redis: Redis, projections: Sequence[Projection]) -> Iterator[Projection]:
    """Those whose live and fresh contents are not the same bytes."""
    left_of = lru_cache(maxsize=1)(partial(_left, redis))  # Keys of a table that follow each other share its files.
    for start in range(0, len(projections), PAGE):
        page = projections[start : start + PAGE]
        replies = ask_many(redis, [request for each in page for request in _both(each)])
        for each, live, fresh in zip(page, replies[::2], replies[1::2], strict=True):
            left = left_of(_owner(each)) if each.kind in _SHELVED else {}
            if left is None or not _is_same(each, live, fresh, left.get(each.kind, {})):
                yield each


def _is_sorted(projection: Projection) -> bool:
    return projection.name.split(":")[2] in _SORTED


def _both(projection: Projection) -> tuple[Request, Request]:
    name, fresh = projection.name, keys.scratch(projection.name)
    if _is_sorted(projection):
        return ("ZRANGE", name, 0, -1), ("ZRANGE", fresh, 0, -1)
    return ("HGETALL", name), ("HGETALL", fresh)


def _is_same(projection: Projection, live: Reply, fresh: Reply, left: Mapping[bytes, bytes]) -> bool:
    """The same bytes, in the store or `left` it; in a hash their order means nothing, and a key of another type is the
    same as none."""
    if isinstance(live, ResponseError) or isinstance(fresh, ResponseError):
        return False
    if _is_sorted(projection):
        return bool(live == fresh)
    told = {**left, **_told(live)}
    told.pop(shelved.MOVED.encode(), None)
    return told == _told(fresh)


def _left(redis: Redis, table: str) -> Mapping[str, Mapping[bytes, bytes]] | None:
    """The fields of a table's live projections that have left the store, by kind; None: they cannot be read."""
    try:
        last = shelved.gone(table, "", ask(redis, "HGET", keys.bank(table), shelved.MOVED)).last
        shelves = [shelved.read(redis, table, deal) for deal in range(1, last + 1)]
    except (PastMissing, shelved.Elsewhere, ResponseError, ValueError):
        return None
    return {
        kind: {field.encode(): value for shelf in shelves for field, value in shelf[moved].items()}
        for kind, moved in _SHELVED.items()
    }


def _told(flat: Reply) -> dict[bytes, bytes]:
    """The fields of a hash; the same record may be packed otherwise by another version of the packer."""
    return {field: _plain(value) for field, value in fields_of(flat).items()}


def _plain(value: bytes) -> bytes:
    try:
        return unpacked(value)
    except Damaged:
        return value  # Not a record, or one that somebody has damaged.


def switch(redis: Redis, projections: Iterable[Projection], writer: str) -> None:
    """Put the fresh projections in the place of the live ones. Raises Held when the hold is lost."""
    by_slot: dict[str, list[str]] = {}
    for projection in projections:
        by_slot.setdefault(projection.slot, []).append(projection.name)
    for slot, names in by_slot.items():
        for start in range(0, len(names), PAGE):
            pairs = [name for each in names[start : start + PAGE] for name in (keys.scratch(each), each)]
            if scripts.run(redis, _SWITCH, (keys.hold(slot), *pairs), (writer,)) < 0:
                raise Held


def scan_keys(redis: Redis, pattern: str) -> Iterator[list[bytes]]:
    """The names of all keys that match, of every master, page by page; one may come twice."""
    for master in masters(redis):
        cursor = b"0"
        while True:
            cursor, page = ask(master, "SCAN", cursor, "MATCH", pattern, "COUNT", PAGE)
            if page:
                yield page
            if cursor == b"0":
                break


def key_names(redis: Redis, pattern: str) -> Iterator[str]:
    """The same as texts; what is no text is written so that it can be read, and is then no key of ours."""
    return (name.decode(errors="backslashreplace") for page in scan_keys(redis, pattern) for name in page)


def scan_fields(redis: Redis, key: str) -> Iterator[tuple[bytes, bytes]]:
    """The fields of a hash with their values, read page by page; one may come twice."""
    cursor = b"0"
    while True:
        cursor, flat = ask(redis, "HSCAN", key, cursor, "COUNT", FIELDS)
        yield from fields_of(flat).items()
        if cursor == b"0":
            break

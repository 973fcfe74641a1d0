"""The log of finished deals: a Merkle tree (RFC 9162) that only grows. Whatever is told of it names no card."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from redis import Redis

from engine import merkle
from engine.merkle import HASH_SIZE, Span, Subtree
from services.store import ended, keys, log_keys, scripts
from services.store.ended import Waiting
from services.store.wire import Argument, ask, ask_all, fields_of

BLOCK: Final = 65_536
"""So many hashes are in one string of the store."""

_GROW, _HEAD, _UNLIST = scripts.load("grow"), scripts.load("head"), scripts.load("unlist")


class State(NamedTuple):
    """The log has `size` leaves; the last signed head (JSON, b"": none) covers `signed` of them, since `at` (ms).

    `wrong` tells why no later head is signed, "": nothing is wrong; `stuck` is how many tables cannot be logged.
    """

    size: int
    signed: int
    at: int
    head: bytes
    wrong: str
    stuck: int


NO_LOG = State(0, 0, 0, b"", "", 0)


class Place(NamedTuple):
    """How far a table is logged: the last deal, the version at which it ended, the hash there ("": nothing yet)."""

    deal: int
    version: int
    hash: str


class Leaf(NamedTuple):
    """A finished deal to be logged: what the log says of it, as bytes, and where its table then stands."""

    table: str
    place: Place
    data: bytes


def state(redis: Redis) -> State:
    """How the log stands. Raises StoreUnavailable."""
    (size, signed, at, head, wrong), stuck = ask_all(
        redis, [("HMGET", log_keys.state(), "n", "size", "at", "head", "wrong"), ("HLEN", log_keys.stuck())]
    )
    return State(int(size or 0), int(signed or 0), int(at or 0), head or b"", (wrong or b"").decode(), int(stuck))


def places(redis: Redis, tables: Sequence[str]) -> list[Place]:
    """How far each table is logged."""
    replies = ask_all(redis, [("HMGET", log_keys.table(table), "d", "v", "h") for table in tables])
    return [Place(int(deal or 0), int(version or 0), (head or b"").decode()) for deal, version, head in replies]


def index_of(redis: Redis, table: str, deal: int) -> int | None:
    """Where the leaf of a deal stands; None: it is not logged."""
    found = ask(redis, "HGET", log_keys.table(table), deal)
    return None if found is None else int(found)


def leaves(redis: Redis, first: int, count: int) -> list[bytes]:
    """At most `count` leaves from index `first` on, up to a hole if there is one."""
    found = ask(redis, "XRANGE", log_keys.leaves(), f"{first + 1}-0", f"{first + count}-0")
    told = []
    for number, (id_, flat) in enumerate(found, first + 1):
        if id_ != b"%d-0" % number:
            break
        told.append(fields_of(flat)[b"d"])
    return told


def grow(redis: Redis, added: Sequence[Leaf]) -> bool:
    """Append leaves, all or none; those of one table in the order of its deals.

    False: somebody else has appended meanwhile, or these are there. Raises StoreUnavailable: look whether they are.
    """
    size = int(ask(redis, "HGET", log_keys.state(), "n") or 0)
    made, _ = merkle.grown(size, peaks(redis, size), [merkle.leaf_hash(leaf.data) for leaf in added])
    names: dict[str, int] = {log_keys.state(): 1, log_keys.leaves(): 2}
    arguments: list[Argument] = [size, len(added)]
    for table, place, data in added:
        name = names.setdefault(log_keys.table(table), len(names) + 1)
        arguments += (name, place.deal - 1, place.deal, place.version, place.hash, data)
    for subtree, node in made:
        key, offset = _where(subtree)
        arguments += (names.setdefault(key, len(names) + 1), offset, node)
    return bool(scripts.run(redis, _GROW, list(names), arguments, confirmed=True))


def root(redis: Redis, size: int) -> bytes:
    """The root over the first `size` leaves, from the stored sub-trees."""
    return _hashes(redis, [Span(0, size)])[0] if size else merkle.root([])


def peaks(redis: Redis, size: int) -> list[bytes]:
    """The hashes of the full sub-trees of the first `size` leaves, largest first."""
    return nodes(redis, merkle.subtrees(Span(0, size)))


def inclusion(redis: Redis, index: int, size: int) -> list[bytes]:
    """The proof that leaf `index` is among the first `size`; O(log size) reads, one round trip. Raises IndexError."""
    return _hashes(redis, merkle.inclusion_spans(index, size))


def inclusions(redis: Redis, wanted: Sequence[tuple[int, int]]) -> list[list[bytes]]:
    """`inclusion` for each (index, size), together in one round trip. Raises IndexError."""
    spans = [merkle.inclusion_spans(index, size) for index, size in wanted]
    found = iter(_hashes(redis, [span for each in spans for span in each]))
    return [[next(found) for _ in each] for each in spans]


def consistency(redis: Redis, first: int, second: int) -> list[bytes]:
    """The proof that the log of `first` leaves grew into that of `second`, likewise. Raises IndexError."""
    return _hashes(redis, merkle.consistency_spans(first, second))


def keep_head(redis: Redis, size: int, at: int, head: bytes) -> None:
    """A head was signed at `at`, ms, and what was wrong is so no longer."""
    scripts.run(redis, _HEAD, (log_keys.state(),), (size, at, head), confirmed=True)
    ask(redis, "HDEL", log_keys.state(), "wrong")


def set_wrong(redis: Redis, why: str) -> None:
    """Nothing is signed any more, for this reason."""
    ask(redis, "HSET", log_keys.state(), "wrong", why)


def set_stuck(redis: Redis, table: str, why: str | None) -> None:
    """The finished deals of a table cannot be logged, for this reason; None: now they can."""
    if why is None:
        ask(redis, "HDEL", log_keys.stuck(), table)
    else:
        ask(redis, "HSET", log_keys.stuck(), table, why)


def add_unlogged(redis: Redis, deals: Sequence[tuple[str, int]]) -> None:
    """Deals have ended, given as (table, version); they stay on the list until they are logged."""
    ended.add(redis, _WAITING, deals)


def unlogged(redis: Redis, partitions: Sequence[str], most: int) -> dict[str, int]:
    """The list, at most `most` of each partition: table -> version at which its last deal ended, 0: look yourself."""
    replies = ask_all(redis, [("ZRANGE", keys.unlogged(each), 0, most - 1, "WITHSCORES") for each in partitions])
    flat = iter([part for reply in replies for part in reply])
    return {table.decode(): int(float(version)) for table, version in zip(flat, flat, strict=True)}


def take_off(redis: Redis, logged: Sequence[tuple[str, int]]) -> None:
    """All deals of these tables up to a version, each as the list had it, are logged."""
    calls = [scripts.Call((keys.unlogged(keys.partition_of(table)),), (table, version)) for table, version in logged]
    scripts.run_all(redis, _UNLIST, calls)


def list_all(redis: Redis, partitions: Sequence[str]) -> None:
    """Put every table of a partition on the list once: those that were played before there was a log."""
    ended.add_all_once(redis, _WAITING, partitions)


_WAITING = Waiting(keys.unlogged, lambda partition: (log_keys.state(), f"listed:{partition}"))


def _hashes(redis: Redis, spans: Sequence[Span]) -> list[bytes]:
    parts = [merkle.subtrees(span) for span in spans]
    found = iter(nodes(redis, [subtree for part in parts for subtree in part]))
    return [merkle.fold(next(found) for _ in part) for part in parts]


def nodes(redis: Redis, wanted: Sequence[Subtree]) -> list[bytes]:
    """The hashes of full sub-trees as they are stored; b"" or too short: it is not there."""
    requests = []
    for subtree in wanted:
        key, offset = _where(subtree)
        requests.append(("GETRANGE", key, offset, offset + HASH_SIZE - 1))
    found: list[bytes] = ask_all(redis, requests)
    return found


def _where(subtree: Subtree) -> tuple[str, int]:
    block, place = divmod(subtree.place, BLOCK)
    return log_keys.nodes(subtree.level, block), place * HASH_SIZE

"""What was made of a table, read before its events are: each part with the version that it was made at.

The events are read afterwards, so that they reach at least as far, and each part is compared at its own version. A
table that is played meanwhile is at a later version by then, which changes nothing: no table need stand still, and a
part that is ahead of the events is a fault.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.audit.fault import Fault, Found, said, wrong_type
from services.store import keys
from services.store.cold import RawEntry
from services.store.shelved import MOVED
from services.store.wire import ask_all, ask_many, fields_of

TRIES_MAX = 20


class Projected(NamedTuple):
    """The projections of a table at `version`: what they remember, the balances, and how many fields each has; those
    of deals up to `moved` have left the store."""

    version: int
    state: bytes
    balances: bytes | None
    moved: int
    banked: int
    recorded: int
    sealed: int


class Derived(NamedTuple):
    """All that was made of a table; None where there is nothing. `lobby` is (version, row)."""

    is_listed: bool
    view: Mapping[bytes, bytes]
    snapshot: Mapping[bytes, bytes]
    receipts: Mapping[bytes, bytes]
    reservations: Mapping[bytes, bytes]
    feed: Sequence[RawEntry]
    projected: Projected | None
    frozen: bytes | None
    lobby: tuple[int, bytes | None] | None
    mark: tuple[int, int]


def derived(redis: Redis, table: str) -> Derived:
    """What the store holds of `table` beside its events. Raises Found for a key of a wrong type, StoreUnavailable."""
    partition = keys.partition_of(table)
    named = (
        ("XLEN", keys.events(table)),
        ("SISMEMBER", keys.tables(partition), table),
        ("HGETALL", keys.view(table)),
        ("HGETALL", keys.snapshot(table)),
        ("HGETALL", keys.reservations(table)),  # Before the receipts: both go together, so that these have them.
        ("HGETALL", keys.receipts(table)),
        ("XRANGE", keys.feed(table), "-", "+"),
        ("HGET", keys.frozen(partition), table),
        ("HGET", keys.archived(partition), table),
    )
    replies = ask_many(redis, named)
    for request, reply in zip(named, replies, strict=True):
        if isinstance(reply, ResponseError):
            _refuse(table, str(request[1]), reply)
    _, listed, view, snapshot, reservations, receipts, feed, frozen, mark = replies
    try:
        version, deal = map(int, mark.split()) if mark else (0, 0)
    except ValueError:
        raise Found(_fault(table, keys.archived(partition), table, "a version and a deal", said(mark))) from None
    return Derived(
        bool(listed),
        fields_of(view),
        fields_of(snapshot),
        fields_of(receipts),
        fields_of(reservations),
        [(id_, flat) for id_, flat in feed],
        _projected(redis, table),
        frozen,
        _lobby(redis, table),
        (version, deal),
    )


def _projected(redis: Redis, table: str) -> Projected | None:
    """Read between two looks at the version, until that has not moved meanwhile."""
    fold = keys.fold(table)
    requests = (
        ("HGET", fold, "v"),
        ("HGET", fold, "s"),
        ("HGET", keys.bank(table), "balances"),
        ("HGET", keys.bank(table), MOVED),
        ("HLEN", keys.bank(table)),
        ("HLEN", keys.records(table)),
        ("HLEN", keys.sealed_records(table)),
        ("HLEN", fold),
        ("HGET", fold, "v"),
    )
    for _ in range(TRIES_MAX):
        replies = ask_many(redis, requests)
        for request, reply in zip(requests, replies, strict=True):
            if isinstance(reply, ResponseError):
                _refuse(table, str(request[1]), reply)
        before, state, balances, moved, *counts, fields, after = replies
        if before == after:
            if fields not in (0, 2) or (before is None and (fields or any(counts))):
                raise Found(_fault(table, fold, "v" if before is None else "fields", "v and s", f"{fields} fields"))
            if before is None:
                return None
            last = 0 if moved is None else _version(table, keys.bank(table), moved, MOVED)
            return Projected(_version(table, fold, before), state or b"", balances, last, *counts)
    return None  # It is written to faster than we can look: the next audit sees it.


def _lobby(redis: Redis, table: str) -> tuple[int, bytes | None] | None:
    """The row and since when it is so, read between two looks at that version."""
    requests = (("HGET", keys.lobby_versions(), table), ("HGET", keys.lobby(), table))
    for _ in range(TRIES_MAX):
        before, row, after, _ = ask_all(redis, (*requests, *requests))
        if before == after:
            if before is None:
                return None if row is None else (0, row)
            return _version(table, keys.lobby_versions(), before), row
    return None


class Since(NamedTuple):
    """What was written of a table since: the version of its view, the feed after a version, and receipts by field."""

    view: int
    feed: Sequence[RawEntry]
    receipts: Mapping[bytes, bytes | None]


def since(redis: Redis, table: str, version: int, fields: Sequence[bytes]) -> Since:
    """What there is now of what was not read before, for the entries after `version`."""
    requests: list[Any] = [
        ("XRANGE", keys.feed(table), f"{version + 1}-0", "+"),
        ("HGET", keys.view(table), "v"),
    ]
    if fields:
        requests.append(("HMGET", keys.receipts(table), *fields))
    feed, view, *found = ask_all(redis, requests)
    receipts = dict(zip(fields, found[0] if found else (), strict=True))
    return Since(int(view) if view and view.isdigit() else 0, [(id_, flat) for id_, flat in feed], receipts)


def has_place(redis: Redis, table: str, place: str, since: int) -> bool | None:
    """Does the table stand at `place` in the order of the lobby? None if its row is no longer that of `since`."""
    version, member, again = ask_all(
        redis,
        (
            ("HGET", keys.lobby_versions(), table),
            ("ZSCORE", keys.lobby_order(), place),
            ("HGET", keys.lobby_versions(), table),
        ),
    )
    return member is not None if version == again == b"%d" % since else None


def _version(table: str, place: str, text: bytes, field: str = "v") -> int:
    if not text.isdigit():
        raise Found(_fault(table, place, field, "a number", said(text)))
    return int(text)


def _refuse(table: str, key: str, error: ResponseError) -> None:
    raise Found(_fault(table, key, "type", "the type that this key has", wrong_type(error)))


def _fault(table: str, place: str, field: str, expected: str, found: str) -> Fault:
    return Fault(check="projections", table=table, version=0, field=field, expected=expected, found=found, place=place)

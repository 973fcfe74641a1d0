"""The only write to a table: a command's events, receipt, views and cursor together, or nothing."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.store import keys, scripts
from services.store.channels import publish
from services.store.topology import replicas_of
from services.store.wire import Argument, ask_all

BATCH_MAX = 32

_APPLY = scripts.load("apply")


class Status(StrEnum):
    """What became of an entry; after all but the first two, nothing of it was written."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"  # Its key was answered before; that receipt holds, and the cursor moves on.
    BEHIND = "behind"  # The cursor has passed this command.
    GAP = "gap"  # The command before it has not been handled.
    FENCED = "fenced"  # The lease is another's.
    CONFLICT = "conflict"  # The table is at another version.
    BROKEN = "broken"  # A key has the wrong type: somebody else wrote to it.


class Position(NamedTuple):
    """Where a command stands in its partition, and whose it is to handle."""

    aggregate: str
    fence: str
    previous: str  # The id of the command before it, or the cursor.
    command: str
    actor: str
    key: str
    fingerprint: str


class Answer(NamedTuple):
    """A command without events: refused, or one that changes no table. `expected` None: at any version."""

    position: Position
    expected: int | None
    receipt: bytes
    forget_at: int | None = None
    dead: tuple[str | bytes, ...] = ()  # Fields and values of a dead letter.


class Entry(NamedTuple):
    """An applied command: everything that is written with it, at version `expected` + 1."""

    position: Position
    expected: int
    receipt: bytes
    at: int
    events: bytes
    tag: str
    hash: str  # As `chain.text` writes it.
    shown: tuple[bytes, tuple[bytes | None, ...]]
    brief: bytes  # The part of the public view that moves change.
    private: tuple[bytes, ...]
    about: bytes  # The rest of it.
    who: str
    code: str
    settled: int
    about_changed: bool = True  # False: `about`, `who`, `code` and `settled` are the last version's.
    kinds: str = ""
    due: int | None = None
    due_changed: bool = False
    forget_at: int | None = None
    feed_floor: int | None = None
    snapshot: bytes = b""
    counted: bool = False  # The command's tries were counted.


class Result(NamedTuple):
    """The status of an entry; `detail` is the stored receipt of a duplicate, or what is broken."""

    status: Status
    detail: bytes = b""


def apply_many(redis: Redis, entries: Sequence[Entry | Answer]) -> list[Result]:
    """Write the entries in order, each whole or not at all, in one round trip.

    Within a partition nothing after a failed entry is written, since each names the command before it.
    Raises StoreUnavailable when it is unknown which were written; sending them again is safe. Where replicas must
    confirm, live readers are told after that, in a second round trip.
    """
    told_after = replicas_of(redis) > 0
    calls = [_call(entry, tells=not told_after) for entry in entries]
    results = [_result(reply) for reply in scripts.run_many(redis, _APPLY, calls, confirmed=True)]
    if told_after:
        _tell(redis, entries, results)
    return results


def tell_to_look(redis: Redis, partitions: Iterable[str]) -> None:
    """Live readers may have missed something of these partitions that was written and confirmed: they look it up."""
    ask_all(redis, [publish(redis, keys.push(each), b"") for each in partitions])


def _tell(redis: Redis, entries: Sequence[Entry | Answer], results: Sequence[Result]) -> None:
    """What the script tells by itself where no replica need confirm."""
    told = []
    for entry, result in zip(entries, results, strict=True):
        if result.status in (Status.APPLIED, Status.DUPLICATE):
            aggregate, field = entry.position.aggregate, keys.receipt_field(entry.position.actor, entry.position.key)
            if result.status is Status.APPLIED and isinstance(entry, Entry):
                message = _message(entry, field)
            else:
                receipt = result.detail if result.status is Status.DUPLICATE else entry.receipt
                message = b"\1".join((aggregate.encode(), field.encode(), receipt))
            told.append(publish(redis, keys.push(keys.partition_of(aggregate)), message))
    ask_all(redis, told)


def _result(reply: list[bytes] | ResponseError) -> Result:
    if isinstance(reply, ResponseError):
        return Result(Status.BROKEN, str(reply).encode())
    return Result(_STATUSES[reply[0]], reply[1] if len(reply) > 1 else b"")


_STATUSES = {status.value.encode(): status for status in Status}


@lru_cache(maxsize=8192)
def _keys(aggregate: str) -> tuple[str, ...]:
    partition = keys.partition_of(aggregate)
    return (
        keys.lease(partition),
        keys.state(partition),
        keys.receipts(aggregate),
        keys.events(aggregate),
        keys.feed(aggregate),
        keys.view(aggregate),
        keys.due(partition),
        keys.dead(partition),
        keys.log(partition),
        keys.snapshot(aggregate),
        keys.tables(partition),
    )


_FEW = 6  # So many of the keys are used by an entry that does nothing but append.


def _call(entry: Entry | Answer, *, tells: bool) -> scripts.Call:
    aggregate, fence, previous, command, actor, key, _ = entry.position
    channel = keys.push(keys.partition_of(aggregate)) if tells else ""
    field = keys.receipt_field(actor, key)
    expected = "" if entry.expected is None else entry.expected
    forget = "" if entry.forget_at is None else entry.forget_at
    head = (fence, previous, command, expected, channel, aggregate, field, entry.receipt, forget)
    named = _keys(aggregate)
    if isinstance(entry, Answer):
        return scripts.Call(named, (*head, "", *entry.dead))
    more = _more(entry)
    arguments = (*head, *_writes(entry), *(more or ("",)), *stored_feed(entry.shown))
    return scripts.Call(named if more else named[:_FEW], arguments)


def _message(entry: Entry, field: str) -> bytes:
    """What live readers are told, as the script puts it where no replica need confirm."""
    return b"\1".join(
        (
            *(entry.position.aggregate.encode(), field.encode(), entry.receipt),
            *(b"%d" % (entry.expected + 1), b"%d" % entry.at, *stored_view(entry)),
            b"1" if entry.about_changed else b"",
            *stored_feed(entry.shown),
        )
    )


def stored_view(entry: Entry) -> tuple[bytes, bytes]:
    """The part of the view that moves change, and the rest, as they are stored."""
    about = (entry.about, entry.who.encode(), entry.code.encode(), b"%d" % entry.settled)
    return b"\0".join((entry.brief, *entry.private)), b"\0".join(about)


def _writes(entry: Entry) -> tuple[Argument, ...]:
    _, _, _, _, actor, key, fingerprint = entry.position
    return (
        *(entry.expected + 1, entry.at, actor, key, fingerprint, entry.events, entry.tag, entry.hash),
        *stored_view(entry),
        "1" if entry.about_changed else "",
    )


def _more(entry: Entry) -> tuple[Argument, ...]:
    """What few entries do beside appending; () for the others."""
    special = entry.kinds or entry.due_changed or entry.snapshot or entry.counted or entry.expected == 0
    if not special and entry.forget_at is None and entry.feed_floor is None:
        return ()
    due = "" if not entry.due_changed else "-" if entry.due is None else entry.due
    floor = "" if entry.feed_floor is None else entry.feed_floor
    return ("more", entry.kinds, due, floor, entry.snapshot, "1" if entry.counted else "")


def stored_feed(shown: tuple[bytes, tuple[bytes | None, ...]]) -> tuple[bytes, ...]:
    """The fields and values of the feed's entry, in a row; `shown` as in Entry."""
    public, seats = shown
    if seats == _NOTHING_MORE:
        return (b"e", public)
    told = [(b"e", public), *((b"e%d" % seat, seen) for seat, seen in enumerate(seats) if seen)]
    return tuple(word for pair in told for word in pair)


_NOTHING_MORE = (None, None, None)

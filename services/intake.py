"""The only way in: a command is taken in once per key of its sender, in one round trip."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from services.envelope import SECRET, Sender, spoken
from services.pressure import FEW, WAIT_MS_MAX, WINDOW_SECONDS, Rates, most_waiting
from services.store import keys, scripts

CLOCK = "clock"

_INTAKE = scripts.load("intake")
_OPENING = frozenset({"open", "open_account"})
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Submitted(NamedTuple):
    """A command as its sender gave it, under a `key` of his own; `body` is JSON in canonical form."""

    id: str
    actor: str
    name: str
    key: str
    body: dict[str, Any]
    if_version: int | None = None


_senders: "WeakKeyDictionary[Redis, Sender]" = WeakKeyDictionary()


def attach(redis: Redis, sender: Sender) -> Redis:
    """From now on what is submitted over `redis` is marked and sealed by `sender`; gives `redis`.

    Workers with keys take nothing else.
    """
    _senders[redis] = sender
    return redis


class Taken(NamedTuple):
    """What intake says. `receipt` is there when a command repeated by its key has been answered.

    new: waits for the worker · dup: was taken in before · reused: another body came under this key ·
    unknown: no such table · busy: too many commands of the partition wait · limited: too many of this player's
    came at once; `wait_ms` tells when the next may.
    """

    status: Literal["new", "dup", "reused", "unknown", "busy", "limited"]
    receipt: dict[str, Any] | None = None
    wait_ms: int = 0


def submit(redis: Redis, submitted: Submitted, rates: Rates | None = None) -> Taken:
    """Take one command in. Raises StoreUnavailable: it may be in then; send it again under its key."""
    [taken] = submit_many(redis, [submitted], rates)
    return taken


def submit_many(redis: Redis, submitted: Sequence[Submitted], rates: Rates | None = None) -> list[Taken]:
    """Take commands in, in order, in one round trip. Raises StoreUnavailable as `submit` does.

    `rates`: how many one player may send; None: as many as he likes.
    """
    sender = _senders.get(redis)
    calls = [_call(each, sender, rates) for each in submitted]
    return [_taken(reply) for reply in scripts.run_many(redis, _INTAKE, calls, confirmed=True)]


def fingerprint(submitted: Submitted, body: bytes) -> str:
    """What tells two bodies under one key apart where no sender is attached; else that is his mark."""
    said = b"\0".join((submitted.actor.encode(), submitted.id.encode(), body))
    return hashlib.sha256(said).hexdigest()[:24]


def _call(submitted: Submitted, sender: Sender | None, rates: Rates | None) -> scripts.Call:
    id_, actor, name, key, body, if_version = submitted
    text = _encode(body)
    kind = body.get("type")
    if sender is None:
        mark = fingerprint(submitted, text)
    else:
        mark = sender.mark(spoken(id_, actor, key, name, text))
        if kind in SECRET:
            text = sender.seal(kind, text)
    most = 0 if rates is None else rates.most(actor, keys.partition_of(id_))
    named = _names(id_)
    arguments = (
        named.receipts,
        "" if kind in _OPENING else named.tables,
        named.state,
        named.bell,
        0 if actor == CLOCK else most_waiting(kind),  # Late players must not hold up the clock that frees their table.
        *(id_, actor, key, mark, text, name),
        "" if if_version is None else if_version,
        *(most, 1000 * WINDOW_SECONDS, WAIT_MS_MAX, FEW),
    )
    return scripts.Call((named.commands, named.reservations, named.rates) if most else named[:2], arguments)


class _Names(NamedTuple):
    """What the script is told by name."""

    commands: str
    reservations: str
    rates: str
    receipts: str
    tables: str
    state: str
    bell: str


@lru_cache(maxsize=8192)
def _names(aggregate: str) -> _Names:
    partition = keys.partition_of(aggregate)
    return _Names(
        keys.commands(partition), keys.reservations(aggregate), keys.rates(partition), keys.receipts(aggregate),
        keys.tables(partition), keys.state(partition), keys.bell(partition),
    )


def _taken(reply: list[bytes] | ResponseError) -> Taken:
    if isinstance(reply, ResponseError):
        raise reply
    status = _STATUSES[reply[0]]
    receipt = _decode(reply[1]) if status == "dup" and reply[1] else None
    return Taken(status, receipt, int(reply[1]) if status == "limited" else 0)


_STATUSES: dict[bytes, Literal["new", "dup", "reused", "unknown", "busy", "limited"]] = {
    b"new": "new",
    b"dup": "dup",
    b"reused": "reused",
    b"unknown": "unknown",
    b"busy": "busy",
    b"limited": "limited",
}

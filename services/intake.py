"""The only way in: a command is taken in once per key of its sender, in one round trip."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from services.store import keys, scripts

QUEUE_MAX = 2_000
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


class Taken(NamedTuple):
    """What intake says. `receipt` is there when a command repeated by its key has been answered.

    new: waits for the worker · dup: was taken in before · reused: another body came under this key ·
    unknown: no such table · busy: too many commands of the partition wait.
    """

    status: Literal["new", "dup", "reused", "unknown", "busy"]
    receipt: dict[str, Any] | None = None


def submit(redis: Redis, submitted: Submitted) -> Taken:
    """Take one command in. Raises StoreUnavailable: it may be in then; send it again under its key."""
    [taken] = submit_many(redis, [submitted])
    return taken


def submit_many(redis: Redis, submitted: Sequence[Submitted]) -> list[Taken]:
    """Take commands in, in order, in one round trip. Raises StoreUnavailable as `submit` does."""
    return [_taken(reply) for reply in scripts.run_many(redis, _INTAKE, [_call(each) for each in submitted])]


def fingerprint(submitted: Submitted, body: bytes) -> str:
    """What tells two bodies under one key apart: a digest of sender, table and canonical body."""
    said = b"\0".join((submitted.actor.encode(), submitted.id.encode(), body))
    return hashlib.sha256(said).hexdigest()[:24]


def _call(submitted: Submitted) -> scripts.Call:
    id_, actor, name, key, body, if_version = submitted
    partition = keys.partition_of(id_)
    text = _encode(body)
    arguments = (
        keys.receipts(id_),
        "" if body.get("type") in _OPENING else keys.tables(partition),
        keys.state(partition),
        keys.bell(partition),
        0 if actor == CLOCK else QUEUE_MAX,  # Late players must not hold up the clock that frees their table.
        *(id_, actor, key, fingerprint(submitted, text), text, name),
        "" if if_version is None else if_version,
    )
    return scripts.Call((keys.commands(partition), keys.reservations(id_)), arguments)


def _taken(reply: list[bytes] | ResponseError) -> Taken:
    if isinstance(reply, ResponseError):
        raise reply
    status = _STATUSES[reply[0]]
    receipt = _decode(reply[1]) if status == "dup" and reply[1] else None
    return Taken(status, receipt)


_STATUSES: dict[bytes, Literal["new", "dup", "reused", "unknown", "busy"]] = {
    b"new": "new",
    b"dup": "dup",
    b"reused": "reused",
    b"unknown": "unknown",
    b"busy": "busy",
}

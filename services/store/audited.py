"""What the last nightly audit has found, in short: it names places, and never what was expected or found there."""

import secrets
from typing import Final, NamedTuple

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from services.store.wire import ask, ask_many

LAST: Final = "m:{audit}:last"
"""String: the result of the last audit that came to its end (JSON)."""
LOCK: Final = "m:{audit}:lock"
"""String, expires: who is at it."""
LOCK_MS: Final = 120_000


class Result(msgspec.Struct, frozen=True):
    """An audit of `night` (a date) that `ended`, ms since the epoch. `first` is the first fault, in words without
    values; `missing` counts tables of which something could not be read; `unchecked` says what was not checked."""

    night: str
    ended: int
    tables: int
    deals: int
    entries: int
    faults: int
    first: str
    missing: int
    unchecked: list[str]


class Held(NamedTuple):
    """The right to audit, until it runs out."""

    nonce: str


def last(redis: Redis) -> Result | None:
    """The last result; None where there is none, or the caller may not look."""
    [reply] = ask_many(redis, [("GET", LAST)])
    if reply is None or isinstance(reply, ResponseError):
        return None
    try:
        return msgspec.json.decode(reply, type=Result)
    except msgspec.MsgspecError:
        return None


def keep(redis: Redis, result: Result) -> None:
    """`result` is the last one from now on."""
    ask(redis, "SET", LAST, msgspec.json.encode(result))


def hold(redis: Redis) -> Held | None:
    """Be the one who audits, for a while; None: another is at it."""
    nonce = secrets.token_hex(8)
    return Held(nonce) if ask(redis, "SET", LOCK, nonce, "NX", "PX", LOCK_MS) else None


def longer(redis: Redis, held: Held) -> bool:
    """Go on being the one; False: it ran out, and another may be at it."""
    if ask(redis, "GET", LOCK) != held.nonce.encode():
        return False
    return bool(ask(redis, "SET", LOCK, held.nonce, "XX", "PX", LOCK_MS))


def let_go(redis: Redis, held: Held) -> None:
    """Let the next one audit at once."""
    if ask(redis, "GET", LOCK) == held.nonce.encode():
        ask(redis, "DEL", LOCK)

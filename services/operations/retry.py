"""Ending a dead letter: put it again through intake, at most once, or discard it. Both are written down."""

import time
from typing import Any

import msgspec
from redis import Redis

from services.intake import Submitted, submit
from services.operations.letters import Letter, ended, letter, partition_and_id
from services.store import history, keys, views
from services.store.wire import ask, store_ms

WAIT_SECONDS = 10.0
PAUSE_SECONDS = 0.02


class NotRetried(Exception):
    """The letter cannot be put through intake again; the message says why."""


def retry(redis: Redis, name: str, who: str, *, wait_seconds: float = WAIT_SECONDS) -> dict[str, Any]:
    """Put the command of a dead letter through intake once more, and give how that ended (see `letters.ended`).

    It goes under a key made from the letter's name, so that however often this is called it acts once; the answer
    that its sender got stays. Should it be given up again, that is a letter of its own. Without "outcome" in what
    is given it still waits to be decided: call again. Raises NoLetter, NotRetried, StoreUnavailable, and PastMissing
    when only an archive that is not attached can tell.
    """
    begun = ended(redis, name)
    if begun is not None and ("outcome" in begun or begun["did"] == "discard"):
        _remove(redis, name)
        return begun
    dead = letter(redis, name)
    again = _again(dead)
    if begun is None:
        begun = {"did": "retry", "at": store_ms(redis), "who": who, "key": again.key}
        if not _write(redis, name, begun, first=True):
            return retry(redis, name, who, wait_seconds=wait_seconds)
        outcome = None
    else:
        outcome = _applied_before(redis, again, begun["at"])
    if outcome is None:
        outcome = _outcome(redis, again, wait_seconds)
    if outcome is None:
        return begun
    begun |= {"outcome": outcome}
    _write(redis, name, begun)
    _remove(redis, name)
    return begun


def discard(redis: Redis, name: str, who: str, why: str) -> dict[str, Any]:
    """Remove a dead letter, and keep who did it and why. Raises NoLetter and StoreUnavailable."""
    letter(redis, name)
    done = {"did": "discard", "at": store_ms(redis), "who": who, "why": why}
    _write(redis, name, done)
    _remove(redis, name)
    return done


def _again(dead: Letter) -> Submitted:
    partition, id_ = partition_and_id(dead.name)
    known = keys.is_table_id(dead.table) or keys.is_player_id(dead.table)
    if not known or keys.partition_of(dead.table) != partition:
        raise NotRetried(f"{dead.table!r} is no table of partition {partition}: somebody forged this command")
    try:
        body = msgspec.json.decode(dead.body, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise NotRetried("Its body is no command: it can only be discarded") from None
    return Submitted(dead.table, dead.sender, dead.sender_name, f"retry-{id_}", body, dead.if_version)


def _applied_before(redis: Redis, again: Submitted, since: int) -> dict[str, Any] | None:
    """An earlier retry was cut off before it could be written down; its receipt may be forgotten by now."""
    for entry in history.entries_since(redis, again.id, since):
        if (entry.actor, entry.key) == (again.actor, again.key):
            return {"status": "applied", "version": entry.version}
    return None


def _outcome(redis: Redis, again: Submitted, wait_seconds: float) -> dict[str, Any] | None:
    """What became of it; None: not decided yet."""
    taken = submit(redis, again)
    if taken.status not in ("new", "dup"):
        raise NotRetried({
            "reused": "Another command came under the key of the retry",
            "unknown": "Its table does not exist",
        }.get(taken.status, "Too many commands wait in its partition: try again later"))
    end = time.monotonic() + wait_seconds
    while True:
        receipt = taken.receipt or views.receipt(redis, again.id, again.actor, again.key)
        if receipt is not None and receipt["s"] != "queued":
            said = {"status": receipt["s"], "version": receipt["v"]}
            return said | ({"code": receipt["c"]} if receipt["s"] == "refused" else {})
        if time.monotonic() > end:
            return None
        time.sleep(PAUSE_SECONDS)


def _write(redis: Redis, name: str, line: dict[str, Any], *, first: bool = False) -> bool:
    partition, id_ = partition_and_id(name)
    verb = "HSETNX" if first else "HSET"
    return bool(ask(redis, verb, keys.ended(partition), id_, msgspec.json.encode(line))) or not first


def _remove(redis: Redis, name: str) -> None:
    partition, id_ = partition_and_id(name)
    ask(redis, "XDEL", keys.dead(partition), id_)

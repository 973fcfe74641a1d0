"""The scripts that run inside the store, from `lua/`; each tells its keys and arguments in its head."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from redis import Redis
from redis.exceptions import NoScriptError

from services.store.topology import is_cluster
from services.store.wire import Argument, Reply, Request, ask_each_master, ask_many, first_error

_FOLDER = Path(__file__).parent / "lua"


class Script(NamedTuple):
    """A script by its text, and by the digest under which a server that has seen it knows it.

    `sharded` is the same for a cluster, and tells its news only to those who listen at the nodes of its slot.
    """

    text: str
    digest: str
    sharded: "Script | None" = None


class Call(NamedTuple):
    """One run of a script."""

    keys: Sequence[Argument]
    arguments: Sequence[Argument]


def load(name: str) -> Script:
    """The script `lua/<name>.lua`."""
    text = (_FOLDER / f"{name}.lua").read_text(encoding="utf-8")
    return _script(text)._replace(sharded=_script(text.replace("'PUBLISH'", "'SPUBLISH'")))


def _script(text: str) -> Script:
    return Script(text, hashlib.sha1(text.encode()).hexdigest())


def run(
    redis: Redis, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument], *, confirmed: bool = False
) -> Reply:
    """The reply of one run. Raises StoreUnavailable, or ResponseError when the script failed."""
    [reply] = run_all(redis, script, [Call(keys, arguments)], confirmed=confirmed)
    return reply


def run_all(redis: Redis, script: Script, calls: Sequence[Call], *, confirmed: bool = False) -> list[Reply]:
    """`run_many`, where none may fail. Raises StoreUnavailable, or the first ResponseError."""
    replies = run_many(redis, script, calls, confirmed=confirmed)
    first_error(replies)
    return replies


def run_many(redis: Redis, script: Script, calls: Sequence[Call], *, confirmed: bool = False) -> list[Reply]:
    """The replies of all runs in order, in one round trip; for one that failed, its ResponseError.

    A server forgets scripts when it restarts: then the missing runs follow, still in order. `confirmed` as in
    `ask_many`.
    """
    if script.sharded is not None and is_cluster(redis):
        script = script.sharded
    replies = ask_many(redis, [request(script, call) for call in calls], confirmed=confirmed)
    missing = [place for place, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
    if missing:
        ask_each_master(redis, "SCRIPT", "LOAD", script.text)
        again = ask_many(redis, [request(script, calls[place]) for place in missing], confirmed=confirmed)
        for place, reply in zip(missing, again, strict=True):
            replies[place] = reply
    return replies


def request(script: Script, call: Call) -> Request:
    """The request that runs `script` on a server that knows it."""
    return ("EVALSHA", script.digest, len(call.keys), *call.keys, *call.arguments)

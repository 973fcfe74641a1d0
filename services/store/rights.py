"""Least privilege: what the user of each role may do at the store, as data, and as the server spells it.

A key stands where its role needs it and nowhere else: whoever serves clients (api, push, front) reads no events, no
snapshots, no sealed records and no dead letters. Scripts give nothing on top: the server judges each call inside of
one by its caller. A new key, or a new command on an old one, must be added here for the roles that use it.
"""

import hashlib
import secrets
from collections.abc import Mapping
from typing import NamedTuple

OWNER = "owner"
"""Who may do everything: whoever holds the data folder of an embedded store."""


class Rights(NamedTuple):
    """What one role may do: `commands` on the keys it may `read`, or read and `write`, and on `channels`.

    `apart` are further pairs of a command and the only keys on which the role may use it, for reading. Names are
    the server's patterns: `??` is a partition, `*` the id of a table or player.
    """

    commands: frozenset[str]
    read: tuple[str, ...]
    write: tuple[str, ...]
    channels: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _m(*kinds: str) -> tuple[str, ...]:
    return tuple(f"m:{{p??}}:{kind}" for kind in kinds)


def _pj(*kinds: str) -> tuple[str, ...]:
    return tuple(f"pj:{{p??}}:{kind}" for kind in kinds)


# What every connection needs, also on a cluster; none of it tells anything of a table. The library also asks for
# `client setinfo`, which Redis 7.0 does not know: a file that names it would stop that server. It takes a no for it.
_ALL = _words(
    "ping select time info wait role evalsha script|load client|setname client|info command"
    " cluster|slots cluster|shards cluster|nodes readonly asking"
)
_LISTEN = _words("publish subscribe unsubscribe spublish ssubscribe sunsubscribe")
_INTAKE = _words("hget hset hincrby pttl pexpire sismember xlen xtrim xadd xrevrange")
_VIEWS = _words("hget hmget xrange")
_MARK = "m:{*}:mk"
"""Written by whoever waits for replicas to confirm (`services.store.routing`); nobody reads it."""
_TO_INTAKE = (*_m("cmd", "in:*", "rl"), _MARK)
_FROM_INTAKE = _m("st", "dd:*", "tables", "vw:*", "fd:*")
_QUEUE = _words(
    "get set setex del exists expire persist lpush rpush lpop blpop lrem llen lrange lmove blmove lpos hset hget"
    " hgetall hmget hdel hexists hincrby hsetnx sadd srem smembers scard sismember zadd zrem zscore zcard zrange"
    " zrangebyscore zremrangebyscore zremrangebyrank hincrbyfloat rename xread xlen xadd xrevrange watch unwatch multi"
    " exec publish client|list"
)
_INSTALLATION = "m:{installation}"
"""All may know how many partitions there are."""
_RECORDS = "m:{records}:*"
_PUSHED = "m:{p??}:push"
_BELL = "m:{p??}:bell"

_AUDITED = "m:{audit}:last"
"""How the last audit ended: places, and nothing that lies there."""
_LOG = "m:{deals}:*"
"""The log of finished deals: it tells no card."""

_PUSH = Rights(_ALL | _LISTEN | _INTAKE | _VIEWS, _FROM_INTAKE, _TO_INTAKE, (_PUSHED, _BELL))
_QUEUES = (("llen", "rq:queue:*"), ("lindex", "rq:queue:*"), ("zcard", "rq:failed:*"), ("hget", "rq:job:*"))
"""How long the queues of jobs are; a job names tables and versions."""
_API = Rights(
    _PUSH.commands | _words(
        "exists get getrange hgetall hlen scard xread zrange zrangebyscore zrangebylex zrevrangebylex"
    ),
    (
        *_FROM_INTAKE,
        *_m("lease", "log", "hd", "acct:*", "tr:*", "post:*"),
        *("m:{workers}:live", "m:{workers}:sum", _LOG, _AUDITED),
        *_pj("cp", "fold:*", "frozen", "bank:*", "rec:*", "score:*", "bal:*"),
        *("pj:{lobby}:tables", "pj:{lobby}:order"),
    ),
    _TO_INTAKE,
    (_PUSHED, _BELL, _RECORDS),
    (("xlen", "m:{p??}:dlq"), ("hlen", "m:{p??}:stuck"), *_QUEUES),
)
_PROCESSES = _words(
    "get set del exists hget hmget hset hdel hlen hgetall hexists hincrby hsetnx smembers xread xrange xrevrange xlen"
    " xadd xtrim zadd zrem zcard zrange zrangebyscore zrangebylex zrevrangebylex"
)
ROLES: Mapping[str, Rights] = {
    "api": _API,
    "push": _PUSH,
    "front": _API,  # Both in one process: push needs nothing that the API does not.
    "worker": Rights(
        _ALL | _LISTEN | _words(
            "get set del exists pexpire pttl lpush ltrim lrange hget hmget hset hsetnx hdel hincrby hlen"
            " hgetall hexists xadd xlen xrange xrevrange xread xtrim sadd scard sismember smembers"
            " zadd zrem zcard zrange zrangebyscore zremrangebyscore"
        ),
        (),
        ("m:*",),  # One short pattern: the server tries it at every key of every command that is applied.
        (_PUSHED, _BELL, "m:{workers}:bell"),
    ),
    "projector": Rights(
        _ALL | _PROCESSES | _QUEUE | _words("getrange setrange strlen"),
        (*_m("ev:*", "vw:*", "tables", "due", "st"), _AUDITED),
        (
            *_m("log", "hd", "stuck", "buys", "todo", "arch", "unl", "acct:*", "tr:*", "post:*"),
            *(_LOG, _MARK, "pj:*", "rq:*"),
        ),
    ),
    "jobs": Rights(
        _ALL | _INTAKE | _VIEWS | _QUEUE | _words("publish spublish"),
        _FROM_INTAKE,
        (*_TO_INTAKE, "rq:*"),
        (_BELL, "rq:*"),
    ),
    "archive": Rights(
        _ALL | _words("exists hdel hget hgetall hset smembers xrange xrevrange xtrim zadd zrange zrem zscore"),
        _m("tables"),
        # A script wants full rights to all that it is given.
        (*_m("ev:*", "sn:*", "arch", "todo"), _MARK, *_pj("fold:*", "hold", "bank:*", "rec:*", "sec:*")),
    ),
    "auditor": Rights(
        _ALL | _LISTEN | _words("hget hmget xrange xrevrange"),
        (*_m("dlq", "ev:*", "vw:*", "arch"), *_pj("sec:*", "bank:*", "rec:*")), (), (_RECORDS,),
    ),
    "audit": Rights(
        _ALL | _words(
            "get set del exists scan hget hset hmget hgetall hexists hlen hscan smembers sismember xrange xrevrange"
            " xlen zscore zcard getrange"
        ),
        (
            *_m("ev:*", "vw:*", "fd:*", "sn:*", "dd:*", "in:*", "tables", "arch", "acct:*", "tr:*", "post:*", "buys"),
            *_m("hd", "log"), *("pj:*", _LOG),
        ),
        ("m:{audit}:*", _MARK),
    ),
    "status": Rights(
        _ALL | _words("get hget hlen hgetall scard srandmember xlen xrange zcard zrange llen lindex config|get"),
        (
            *_m("log", "tables", "lease", "st", "hd"),
            *_pj("cp", "frozen"), "m:{workers}:live", "m:{workers}:sum", "m:{deals}:st", "m:{deals}:stuck", _AUDITED,
            "rq:*",
        ),
        _m("cmd"),
        (),
        (("xlen", "m:{p??}:dlq"), ("hlen", "m:{p??}:stuck"), ("memory|usage", "m:{p??}:*")),
    ),
    "operator": Rights(
        _ALL | _PROCESSES | _LISTEN | _words(
            "scan unlink rename xdel sismember hstrlen memory|usage srandmember llen lindex config|get"
            " getrange setrange strlen"
        ),
        ("m:*", "rq:*"),
        (*_TO_INTAKE, _LOG, *_m("dlq", "dlh", "arch"), "pj:*", "pjx:*"),
        (_BELL,),
    ),
}


def rule(role: str, password: str) -> str:
    """The line of an ACL file for the user named like its `role`."""
    return f"user {role} {' '.join(words(role, password))}"


def words(role: str, password: str) -> list[str]:
    """The arguments of ACL SETUSER behind the name; of the password they hold the SHA-256 alone."""
    if role == OWNER:
        return ["on", _hashed(password), "~*", "&*", "+@all"]
    rights = ROLES[role]
    return [
        *("on", _hashed(password), "resetkeys", "resetchannels", "-@all"),
        *(f"+{command}" for command in sorted(rights.commands)),
        *(f"%R~{pattern}" for pattern in (*rights.read, _INSTALLATION)),
        *(f"~{pattern}" for pattern in rights.write),
        *(f"&{pattern}" for pattern in rights.channels),
        *(f"(-@all +{command} %R~{pattern})" for command, pattern in rights.apart),
    ]


def nobody() -> str:
    """The line that leaves a caller without a name nothing but to ask whether the server is there."""
    return "user default on nopass resetkeys resetchannels -@all +ping"


def new_password() -> str:
    """256 bits, in letters that need no escape in an address."""
    return secrets.token_hex(32)


def _hashed(password: str) -> str:
    return "#" + hashlib.sha256(password.encode()).hexdigest()

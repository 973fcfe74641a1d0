"""Where in a cluster a request belongs: in the slot of its first key, which its hash tag decides."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from redis.crc import key_slot

Argument: TypeAlias = "str | bytes | int"
Request: TypeAlias = Sequence[Argument]

HOME = "workers"
"""Requests without a key go to the master of this tag: it keeps the time by which leases and deadlines are told."""

_KEYLESS = frozenset({
    *("ACL", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "ECHO", "FLUSHALL", "FUNCTION", "INFO", "KEYS"),
    *("LATENCY", "PING", "PUBLISH", "PUBSUB", "ROLE", "SCAN", "SCRIPT", "SLOWLOG", "TIME", "WAIT"),
})
_COUNTED = frozenset({"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"})
_CONTAINERS = frozenset({"MEMORY", "OBJECT", "XGROUP", "XINFO"})
_STREAMS = frozenset({"XREAD", "XREADGROUP"})


def tag_of(request: Request) -> str | None:
    """The hash tag of the request's first key (the whole key, if it has none); None when it names no key."""
    verb = request[0]
    if verb in _COUNTED:
        return tag_of_key(request[3]) if int(request[2]) else None
    if verb in _KEYLESS:
        return None
    if verb in _STREAMS:
        return tag_of_key(request[list(request).index("STREAMS") + 1])
    place = 2 if verb in _CONTAINERS else 1
    return tag_of_key(request[place]) if len(request) > place else None


def tag_of_key(key: Argument) -> str:
    """What decides the slot of a key."""
    text = key.decode() if isinstance(key, bytes) else str(key)
    start = text.find("{")
    end = text.find("}", start + 2) if start >= 0 else -1
    return text[start + 1 : end] if end > 0 else text


@lru_cache(maxsize=1024)
def slot_of_tag(tag: str) -> int:
    """The slot of a hash tag."""
    return key_slot(tag.encode())

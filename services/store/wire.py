"""One round trip to the store: requests in, raw replies out, each failure told apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hiredis import pack_command
from redis import Redis
from redis.exceptions import ConnectionError, ReadOnlyError, ResponseError, TimeoutError

from services.store.away import StoreUnavailable, is_away, named
from services.store.lines import exchange, hang_up
from services.store.routing import CONFIRMING, ask_nodes, confirmations, confirming, unconfirmed
from services.store.slots import HOME, Argument, Request, tag_of
from services.store.topology import is_cluster, masters, replicas_of, watchers_of

__all__ = [
    "Argument", "Fields", "Reply", "Request", "StoreUnavailable", "ask", "ask_all", "ask_each_master",
    "ask_many", "fields_of", "first_error", "is_away", "store_ms", "streams_of",
]

Reply: TypeAlias = Any
Fields: TypeAlias = dict[bytes, bytes]


def ask(redis: Redis, *request: Argument) -> Reply:
    """The reply to one request. Raises StoreUnavailable, or ResponseError when the request is at fault."""
    [reply] = ask_all(redis, [request])
    return reply


def store_ms(redis: Redis) -> int:
    """The store's time, ms since the epoch. Raises StoreUnavailable."""
    seconds, micros = ask(redis, "TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def ask_many(redis: Redis, requests: Sequence[Request], *, confirmed: bool = False) -> list[Reply]:
    """The replies to all requests in order, in one round trip; to one at fault, its ResponseError.

    On a cluster it is one to each node concerned, all at once. `confirmed`: and only once as many replicas have all
    that was written or read as `redis` asks for. Raises StoreUnavailable: any of them may have taken effect.
    The library's own pipeline spends about twice the time on a request and reshapes its reply.
    """
    if not requests:
        return []
    replicas = replicas_of(redis) if confirmed else 0
    if is_cluster(redis):
        replies = ask_nodes(redis, requests, replicas)
    elif replicas:
        replies = _ask_and_wait(redis, requests)
    else:
        replies = _ask_one(redis, requests)
    for reply in replies:
        if isinstance(reply, ResponseError) and is_away(reply):
            if is_cluster(redis):
                redis.surprised()
            elif isinstance(reply, ReadOnlyError):
                hang_up(redis.connection_pool)  # It was the master: ask the sentinels who is it now.
            raise StoreUnavailable(str(reply)) from reply
    return replies


def ask_all(redis: Redis, requests: Sequence[Request], *, confirmed: bool = False) -> list[Reply]:
    """`ask_many`, where none may be at fault. Raises StoreUnavailable, or the first ResponseError."""
    replies = ask_many(redis, requests, confirmed=confirmed)
    first_error(replies)
    return replies


def ask_each_master(redis: Redis, *request: Argument) -> list[Reply]:
    """The reply of each master of the store to one request. Raises StoreUnavailable, or ResponseError."""
    try:
        return [ask(master, *request) for master in masters(redis)]
    except (ConnectionError, TimeoutError) as error:
        raise named(error) from error


def _ask_one(redis: Redis, requests: Sequence[Request]) -> list[Reply]:
    # The stub of the packer allows one member only.
    packed = b"".join([pack_command(tuple(request)) for request in requests])  # type: ignore[arg-type]
    try:
        return exchange(redis.connection_pool, packed, len(requests))
    except (ConnectionError, TimeoutError) as error:
        raise named(error) from error


def _ask_and_wait(redis: Redis, requests: Sequence[Request]) -> list[Reply]:
    watchers = watchers_of(redis)
    if watchers is not None and not watchers.known:
        _find_master(redis)
    replicas = replicas_of(redis)
    tag = next((tag for tag in map(tag_of, requests) if tag is not None), HOME)
    replies = _ask_one(redis, [*requests, *confirming(tag, replicas)])
    try:
        found = confirmations(replies[-CONFIRMING:])
        if found.confirmed < replicas:
            raise unconfirmed(found, replicas)
    except StoreUnavailable:
        hang_up(redis.connection_pool)  # Perhaps it is cut off, and another is the master now.
        raise
    if watchers is not None:
        watchers.known = max(watchers.known, found.connected)
        if found.confirmed < replicas_of(redis):  # There are more than we knew: the next try waits for all.
            raise unconfirmed(found, replicas_of(redis))
    return replies[:-CONFIRMING]


def _find_master(redis: Redis) -> None:
    """Ask the sentinels, which also tell how many replicas there are. Raises StoreUnavailable."""
    try:
        redis.connection_pool.get_master_address()  # type: ignore[attr-defined]
    except (ConnectionError, TimeoutError) as error:
        raise named(error) from error


def fields_of(pairs: Sequence[bytes] | Mapping[bytes, bytes]) -> Fields:
    """The fields of a hash or of a stream's entry, which arrive flat or paired by the protocol's version."""
    if isinstance(pairs, list):  # As nearly always; to ask whether something is a Mapping costs more than the rest.
        return dict(zip(pairs[::2], pairs[1::2], strict=True))
    if isinstance(pairs, Mapping):
        return dict(pairs)
    flat = iter(pairs)
    return dict(zip(flat, flat, strict=True))


def streams_of(reply: Reply) -> Iterator[tuple[bytes, list[tuple[bytes, Sequence[bytes]]]]]:
    """Pairs of (stream, entries) in a reply to XREAD; an entry is (id, flat fields)."""
    if reply:
        yield from reply.items() if isinstance(reply, Mapping) else reply


def first_error(replies: Iterable[Reply]) -> None:
    """Raise the first ResponseError among `replies`, if any."""
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply

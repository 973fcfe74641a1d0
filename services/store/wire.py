"""One round trip to the store: requests in, raw replies out, each failure told apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hiredis import pack_command
from redis import Redis
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from services.store.lines import exchange

Argument: TypeAlias = "str | bytes | int"
Request: TypeAlias = Sequence[Argument]
Reply: TypeAlias = Any
Fields: TypeAlias = dict[bytes, bytes]

_AWAY = (BusyLoadingError, ReadOnlyError, OutOfMemoryError, AskError, TryAgainError, ClusterDownError)
_AWAY_CODES = frozenset({"NOREPLICAS", "MISCONF", "BUSY", "UNBLOCKED"})


class StoreUnavailable(Exception):
    """The store cannot answer now; the request may have taken effect. Repeat it with the same ids."""


def ask(redis: Redis, *request: Argument) -> Reply:
    """The reply to one request. Raises StoreUnavailable, or ResponseError when the request is at fault."""
    [reply] = ask_many(redis, [request])
    if isinstance(reply, ResponseError):
        raise reply
    return reply


def ask_many(redis: Redis, requests: Sequence[Request]) -> list[Reply]:
    """The replies to all requests in order, in one round trip; to one at fault, its ResponseError.

    The library's own pipeline spends about twice the time on a request and reshapes its reply.
    """
    if not requests:
        return []
    # The stub of the packer allows one member only.
    packed = b"".join([pack_command(tuple(request)) for request in requests])  # type: ignore[arg-type]
    try:
        replies = exchange(redis.connection_pool, packed, len(requests))
    except (ConnectionError, TimeoutError) as error:
        raise _named(error) from error
    for reply in replies:
        if isinstance(reply, ResponseError) and is_away(reply):
            raise StoreUnavailable(str(reply)) from reply
    return replies


def is_away(error: Exception) -> bool:
    """Is this the server's word that it cannot do it now, rather than that the request is wrong?"""
    return isinstance(error, _AWAY) or str(error).split(" ", 1)[0] in _AWAY_CODES


def fields_of(pairs: Sequence[bytes] | Mapping[bytes, bytes]) -> Fields:
    """The fields of a hash or of a stream's entry, which arrive flat or paired by the protocol's version."""
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


def _named(error: Exception) -> Exception:
    """A wrong password does not heal by waiting; everything else about a connection may."""
    if isinstance(error, AuthenticationError):
        return error
    return StoreUnavailable(f"{type(error).__name__}: {error}")

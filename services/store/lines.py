"""Open connections kept ready: taking one from the library's pool and giving it back costs as much as a request."""

import os
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakSet

from hiredis import Reader
from redis import ConnectionPool
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

TRUSTED_SECONDS = 1.0
"""A connection that lay idle for longer is looked at before use: the server may have gone meanwhile."""

Free: TypeAlias = "deque[tuple[Any, float]]"
"""Connections that lie ready, each with when it was used last."""

_FREE = "lines_of_marias"  # Kept in the pool itself: a table beside it would cost a microsecond at each request.
_pools: "WeakSet[ConnectionPool]" = WeakSet()


def _free_of(pool: ConnectionPool) -> Free:
    free: Free | None = pool.__dict__.get(_FREE)
    if free is None:
        free = pool.__dict__.setdefault(_FREE, deque())
        _pools.add(pool)
    return free


def _forget() -> None:
    """A child process must not talk on the connections of its parent."""
    for pool in list(_pools):
        pool.__dict__.pop(_FREE, None)


os.register_at_fork(after_in_child=_forget)


class Exchange(NamedTuple):
    """Packed requests for one node, and how many there are."""

    pool: ConnectionPool
    packed: bytes
    replies: int


class NotSent(Exception):
    """No connection to `pool`: nothing was sent, to no node."""

    def __init__(self, pool: ConnectionPool, why: Exception) -> None:
        super().__init__(str(why))
        self.pool = pool
        self.why = why


def exchange(pool: ConnectionPool, packed: bytes, count: int) -> list[Any]:
    """Send packed requests and read their `count` replies; an error reply is a ResponseError in its place.

    Raises ConnectionError or TimeoutError.
    """
    free = _free_of(pool)
    connection = _take(pool, free)
    try:
        connection.send_packed_command((packed,))
        replies = _replies(connection, count)
    except BaseException:
        connection.disconnect()  # Replies may be left in it; the next user must not take them for his own.
        free.append((connection, 0.0))
        hang_up(pool)  # What broke one may have broken all; where sentinels watch, another may be the master now.
        raise
    free.append((connection, time.monotonic()))
    return replies


def exchange_all(exchanges: Sequence[Exchange]) -> "list[list[Any] | Exception]":
    """`exchange` with several nodes at once: all is sent, then all is read. What failed at a node stands in its place.

    Raises NotSent.
    """
    unread = _take_all(exchanges)
    outcomes: list[list[Any] | Exception] = []
    try:
        sent = [_sent(connection, each.packed) for connection, each in zip(unread, exchanges, strict=True)]
        for each, error in zip(exchanges, sent, strict=True):
            outcomes.append(error if error is not None else _read(unread[0], each.replies))
            _keep(each.pool, unread.popleft(), is_broken=isinstance(outcomes[-1], Exception))
    except BaseException:
        for connection in unread:
            connection.disconnect()  # Nobody else may read what was meant for us.
        raise
    return outcomes


def hang_up(pool: ConnectionPool) -> None:
    """Close the connections that lie ready; the next request makes a new one."""
    free = _free_of(pool)
    closed = []
    while free:
        with suppress(IndexError):  # Another thread may take the last one.
            closed.append(free.popleft()[0])
            closed[-1].disconnect()
    free.extend((connection, 0.0) for connection in closed)


def _take_all(exchanges: Sequence[Exchange]) -> deque[Any]:
    """A connection to each node, or to none."""
    taken: deque[Any] = deque()
    for each in exchanges:
        connection = None
        try:
            connection = _take(each.pool, _free_of(each.pool))
            connection.connect()  # Nothing is done by one that is connected.
        except (ConnectionError, TimeoutError) as error:
            if connection is not None:
                _keep(each.pool, connection, is_broken=True)
            for other, at in zip(taken, exchanges, strict=False):
                _keep(at.pool, other, is_broken=False)
            raise NotSent(each.pool, error) from error
        taken.append(connection)
    return taken


def _sent(connection: Any, packed: bytes) -> Exception | None:
    try:
        connection.send_packed_command((packed,))
    except (ConnectionError, TimeoutError) as error:
        return error
    return None


def _read(connection: Any, count: int) -> "list[Any] | Exception":
    try:
        return _replies(connection, count)
    except (ConnectionError, TimeoutError) as error:
        return error


def _keep(pool: ConnectionPool, connection: Any, *, is_broken: bool) -> None:
    if is_broken:
        connection.disconnect()
    _free_of(pool).append((connection, 0.0 if is_broken else time.monotonic()))
    if is_broken:
        hang_up(pool)


def _take(pool: ConnectionPool, free: deque[tuple[Any, float]]) -> Any:
    try:
        connection, used = free.pop()
    except IndexError:
        return pool.get_connection()
    if time.monotonic() - used > TRUSTED_SECONDS and _is_stale(connection):
        connection.disconnect()  # It connects anew when it is used.
    return connection


def _is_stale(connection: Any) -> bool:
    """Nothing was asked, so whatever can be read is the end of the connection."""
    try:
        return bool(connection.can_read(0))
    except (ConnectionError, TimeoutError):
        return True


def _replies(connection: Any, count: int) -> list[Any]:
    replies: list[Any] = []
    while len(replies) < count:
        try:
            replies.append(connection.read_response())
        except ResponseError as error:
            replies.append(error)
        replies += read_already(connection, count - len(replies))
    return replies


def read_already(connection: Any, most: int) -> list[Any]:
    """Up to `most` replies that came together with one before; to a request at fault, its ResponseError.

    The library needs as long to hand out each of them as the parser to read ten. Raises ConnectionError.
    """
    reader = getattr(connection._parser, "_reader", None)
    found: list[Any] = []
    if not isinstance(reader, Reader):
        return found  # Not this parser, or none.
    while len(found) < most and (reply := reader.gets()) is not NOT_ENOUGH_DATA:
        if isinstance(reply, ConnectionError):
            raise reply
        found.append(reply)
    return found

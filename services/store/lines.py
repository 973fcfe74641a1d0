"""Open connections kept ready: taking one from the library's pool and giving it back costs as much as a request."""

import os
import time
from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

from redis import ConnectionPool
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

TRUSTED_SECONDS = 1.0
"""A connection that lay idle for longer is looked at before use: the server may have gone meanwhile."""

_free: "WeakKeyDictionary[ConnectionPool, deque[tuple[Any, float]]]" = WeakKeyDictionary()

# A child process must not talk on the connections of its parent.
os.register_at_fork(after_in_child=_free.clear)


def exchange(pool: ConnectionPool, packed: bytes, count: int) -> list[Any]:
    """Send packed requests and read their `count` replies; an error reply is a ResponseError in its place.

    Raises ConnectionError or TimeoutError.
    """
    free = _free.get(pool)
    if free is None:
        free = _free.setdefault(pool, deque())
    connection = _take(pool, free)
    try:
        connection.send_packed_command((packed,))
        replies = [_reply(connection) for _ in range(count)]
    except BaseException:
        connection.disconnect()  # Replies may be left in it; the next user must not take them for his own.
        others = [free.popleft()[0] for _ in range(len(free))]
        free.extend((each, 0.0) for each in (*others, connection))  # What broke one may have broken all.
        raise
    free.append((connection, time.monotonic()))
    return replies


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


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error

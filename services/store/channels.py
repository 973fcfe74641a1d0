"""Listening to the channels of all partitions, and knowing when something was missed.

On a cluster each channel belongs to the nodes of its slot (sharded publishing). The plain kind goes from node to node
over the cluster's own links, which may drop a message silently, and costs every node: with three masters and six
replicas 46-66 us of CPU for 1.5 kB, sharded 17-25 us. A sharded message comes straight from its master, so that one can
only be lost with a connection, which is noticed.
"""

import select
import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from redis import ConnectionPool, Redis
from redis.exceptions import ConnectionError, MovedError, ResponseError, TimeoutError
from redis.sentinel import SentinelConnectionPool

from services.store.lines import read_already
from services.store.slots import tag_of_key
from services.store.topology import is_cluster
from services.store.wire import Request, StoreUnavailable

QUIET_SECONDS_MAX = 5.0
"""A connection that is silent for so long is asked for a sign of life, and given up after as long again."""
LOOK_SECONDS = 2.0
"""So often it is asked whether the channels are still at the nodes that we listen to."""


AT_ONCE_MAX = 1_000

_TOLD, _HEARD = frozenset({b"message", b"smessage"}), frozenset({b"subscribe", b"ssubscribe"})


class Message(NamedTuple):
    """What was published to a channel."""

    channel: bytes
    data: bytes


def publish(redis: Redis, channel: str, data: bytes | str) -> Request:
    """The request that tells those who listen to `channel`."""
    return ("SPUBLISH" if is_cluster(redis) else "PUBLISH", channel, data)


class Ears:
    """One connection that listens, or on a cluster one to each master. Messages of a channel come in order and none
    is lost while it lasts; `listening` False means that one broke, or that a channel has moved to another node, and
    that whatever the channels told since must be looked up elsewhere."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lines: dict[ConnectionPool, _Line] = {}
        self._where: dict[str, ConnectionPool] = {}
        self._changes = 0
        self._given_up: set[bytes] = set()
        self._looked = 0.0

    @property
    def listening(self) -> bool:
        """Has `listen` been called, and have the connections held since?"""
        return bool(self._lines)

    def listen(self, channels: Iterable[str]) -> None:
        """Start anew on fresh connections; when this returns, no later message is missed.

        Raises StoreUnavailable.
        """
        self.close()
        self._given_up.clear()
        self._changes = getattr(self._redis, "changes", 0)
        try:
            for pool, wanted in self._by_node(channels).items():
                line = self._lines[pool] = _Line(pool)
                line.send(self._requests("SUBSCRIBE", wanted))
                line.await_replies(len(wanted))
            self._looked = time.monotonic()
        except (ConnectionError, TimeoutError, ResponseError) as error:
            raise self._broken(error) from error

    def add(self, channels: Sequence[str]) -> None:
        """Listen to more. From each comes a message without data, and no later one is missed."""
        self._given_up -= {each.encode() for each in channels}
        self._send("SUBSCRIBE", channels)

    def remove(self, channels: Sequence[str]) -> None:
        """Listen to these no more; some messages may still come."""
        self._given_up |= {each.encode() for each in channels}
        self._send("UNSUBSCRIBE", channels)

    def hear(self, seconds_max: float) -> list[Message]:
        """The messages that have come; waits up to `seconds_max` for the first. Raises StoreUnavailable."""
        messages: list[Message] = []
        try:
            if len(self._lines) == 1:
                [line] = self._lines.values()
                self._take(line, seconds_max, messages)
            else:
                for line in self._ready(seconds_max):
                    self._take(line, 0.0, messages)
            for line in self._lines.values():
                line.prove_alive()
            self._look_around()
        except (ConnectionError, TimeoutError, ResponseError) as error:
            raise self._broken(error) from error
        return messages

    def close(self) -> None:
        """Stop listening."""
        for line in self._lines.values():
            line.close()
        self._lines.clear()
        self._where.clear()

    def _take(self, line: "_Line", seconds_max: float, messages: list[Message]) -> None:
        while replies := line.replies(0.0 if messages else seconds_max):
            for reply in replies:
                kind = reply[0]
                if kind in _TOLD:
                    messages.append(Message(reply[1], reply[2]))
                elif kind in _HEARD:
                    messages.append(Message(reply[1], b""))
                elif kind == b"sunsubscribe" and reply[1] not in self._given_up:
                    raise ConnectionError("a channel has moved to another node")
            if messages and not line.has_more():
                return  # To try and find nothing takes as long as ten messages; we are back at once.

    def _ready(self, seconds_max: float) -> "list[_Line]":
        """The lines from which something can be read, when it can."""
        poll = select.poll()
        by_file = {}
        for line in self._lines.values():
            by_file[line.fileno()] = line
            poll.register(line.fileno(), select.POLLIN)
        return [by_file[file] for file, _ in poll.poll(seconds_max * 1000)]

    def _by_node(self, channels: Iterable[str]) -> dict[ConnectionPool, list[str]]:
        if not is_cluster(self._redis):
            return {self._redis.connection_pool: list(channels)}
        found: dict[ConnectionPool, list[str]] = {}
        for channel in channels:
            pool = self._where[channel] = self._redis.pool_of(tag_of_key(channel))
            found.setdefault(pool, []).append(channel)
        return found

    def _requests(self, verb: str, channels: Sequence[str]) -> list[Request]:
        """A cluster wants the channels of each slot by themselves."""
        if is_cluster(self._redis):
            return [(f"S{verb}", channel) for channel in channels]
        return [(verb, *channels)] if channels else []

    def _send(self, verb: str, channels: Sequence[str]) -> None:
        if not channels or not self._lines:
            return
        try:
            for pool, some in self._by_node(channels).items():
                if pool not in self._lines:
                    self._lines[pool] = _Line(pool)
                self._lines[pool].send(self._requests(verb, some))
        except (ConnectionError, TimeoutError) as error:
            raise self._broken(error) from error

    def _look_around(self) -> None:
        """A server that is cut off from the others says nothing, and answers when it is asked for a sign of life."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        pool = self._redis.connection_pool
        if isinstance(pool, SentinelConnectionPool):
            for line in self._lines.values():
                if line.address != pool.get_master_address():  # type: ignore[no-untyped-call]
                    raise ConnectionError("another server is the master now")
        elif is_cluster(self._redis) and self._changes != self._redis.changes:
            self._changes = self._redis.changes
            if any(self._redis.pool_of(tag_of_key(each)) is not pool for each, pool in self._where.items()):
                raise ConnectionError("a channel is at another node now")

    def _broken(self, error: Exception) -> StoreUnavailable:
        self.close()
        if is_cluster(self._redis):
            if isinstance(error, MovedError):
                self._redis.moved(error)
            else:
                self._redis.surprised()
        return StoreUnavailable(f"{type(error).__name__}: {error}")


class _Line:
    """One connection that listens."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._connection: Any = pool.get_connection()
        self._asked = False
        self.note()

    @property
    def address(self) -> tuple[str, int]:
        """The server at the other end."""
        return self._connection.host, self._connection.port

    def fileno(self) -> int:
        """The file descriptor to wait on. Raises ConnectionError."""
        self._check()
        number: int = self._connection._sock.fileno()
        return number

    def send(self, requests: Sequence[Request]) -> None:
        """Send `requests`; their replies come among the messages."""
        for request in requests:
            self._check()
            self._connection.send_command(*request)

    def _check(self) -> None:
        """The library closes the connections of a node that has left the cluster, and would open one anew when
        something is sent: it would hear nothing. Raises ConnectionError."""
        if self._connection._sock is None:
            raise ConnectionError("the connection was closed")

    def await_replies(self, count: int) -> None:
        """Wait for so many replies; nothing else can come before them, but for messages of what is already heard."""
        while count:
            reply = self._connection.read_response()
            count -= reply[0] in _HEARD

    def replies(self, seconds_max: float) -> list[Any]:
        """The next reply and what came with it; [] when none comes in time. One read takes all that has come; polls
        cost more."""
        self._check()
        connection = self._connection
        if self._is_imitation and not connection.can_read(seconds_max):  # It cannot read for so long only.
            return []
        try:
            first = connection.read_response(timeout=seconds_max, disconnect_on_error=False)
        except TimeoutError:
            return []
        found = [first, *read_already(connection, AT_ONCE_MAX)]
        self.note()
        for reply in found:
            if isinstance(reply, ResponseError):
                raise reply
        return found

    def has_more(self) -> bool:
        """May more have been read already than was given out?"""
        reader: Any = getattr(self._connection._parser, "_reader", None)
        return self._is_imitation or not hasattr(reader, "has_data") or bool(reader.has_data())

    @property
    def _is_imitation(self) -> bool:
        return not isinstance(self._connection._sock, socket.socket)

    def note(self) -> None:
        """Something was heard."""
        self._heard, self._asked = time.monotonic(), False

    def prove_alive(self) -> None:
        """A network that swallows everything looks like silence. Raises ConnectionError."""
        silence = time.monotonic() - self._heard
        if silence > 2 * QUIET_SECONDS_MAX:
            raise ConnectionError("no sign of life")
        self._check()
        if silence > QUIET_SECONDS_MAX and not self._asked:
            self._connection.send_command("PING")
            self._asked = True

    def close(self) -> None:
        """Hang up."""
        self._connection.disconnect()
        self._pool.release(self._connection)

"""Listening to the channels of all partitions on one connection, and knowing when something was missed."""

import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

from services.store.wire import StoreUnavailable

QUIET_SECONDS_MAX = 5.0
"""A connection that is silent for so long is asked for a sign of life, and given up after as long again."""


class Message(NamedTuple):
    """What was published to a channel."""

    channel: bytes
    data: bytes


class Ears:
    """One connection that listens. Messages come in order and none is lost while it lasts; `listening` False
    means that it broke, and that whatever the channels told since must be looked up elsewhere."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._connection: Any = None
        self._heard = 0.0
        self._asked = False

    @property
    def listening(self) -> bool:
        """Has `listen` been called, and has the connection held since?"""
        return self._connection is not None

    def listen(self, channels: Iterable[str]) -> None:
        """Start anew on a fresh connection; when this returns, no later message is missed.

        Raises StoreUnavailable.
        """
        self.close()
        wanted = list(channels)
        try:
            self._connection = self._redis.connection_pool.get_connection()
            self._connection.send_command("SUBSCRIBE", *wanted)
            for _ in wanted:
                self._connection.read_response()
            self._note()
        except (ConnectionError, TimeoutError, ResponseError) as error:
            self.close()
            raise StoreUnavailable(f"{type(error).__name__}: {error}") from error

    def add(self, channels: Sequence[str]) -> None:
        """Listen to more. From each comes a message without data, and no later one is missed."""
        self._send("SUBSCRIBE", channels)

    def remove(self, channels: Sequence[str]) -> None:
        """Listen to these no more; some messages may still come."""
        self._send("UNSUBSCRIBE", channels)

    def hear(self, seconds_max: float) -> list[Message]:
        """The messages that have come; waits up to `seconds_max` for the first. Raises StoreUnavailable."""
        messages: list[Message] = []
        try:
            while (reply := self._reply(0.0 if messages else seconds_max)) is not None:
                messages.extend(_messages(reply))
                self._note()
            self._prove_alive()
        except (ConnectionError, TimeoutError) as error:
            self.close()
            raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
        return messages

    def _reply(self, seconds_max: float) -> Any:
        """The next reply, or None when none comes in time. One read takes all that has come; polls cost more."""
        connection = self._connection
        is_imitation = not isinstance(connection._sock, socket.socket)
        if is_imitation and not connection.can_read(seconds_max):  # It does not know how to read for so long only.
            return None
        try:
            return connection.read_response(timeout=seconds_max, disconnect_on_error=False)
        except TimeoutError:
            return None

    def _send(self, verb: str, channels: Sequence[str]) -> None:
        if not channels or self._connection is None:
            return
        try:
            self._connection.send_command(verb, *channels)
        except (ConnectionError, TimeoutError) as error:
            self.close()
            raise StoreUnavailable(f"{type(error).__name__}: {error}") from error

    def _note(self) -> None:
        self._heard, self._asked = time.monotonic(), False

    def _prove_alive(self) -> None:
        """A network that swallows everything looks like silence."""
        silence = time.monotonic() - self._heard
        if silence > 2 * QUIET_SECONDS_MAX:
            raise ConnectionError("no sign of life")
        if silence > QUIET_SECONDS_MAX and not self._asked:
            self._connection.send_command("PING")
            self._asked = True

    def close(self) -> None:
        """Stop listening."""
        if self._connection is not None:
            self._connection.disconnect()
            self._redis.connection_pool.release(self._connection)
            self._connection = None


def _messages(reply: Sequence[bytes]) -> Iterable[Message]:
    if reply[0] == b"message":
        yield Message(reply[1], reply[2])
    elif reply[0] == b"subscribe":
        yield Message(reply[1], b"")

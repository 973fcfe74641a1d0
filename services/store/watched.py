"""Connections to a master that sentinels watch: each new one asks whether it is one, as sentinels may be behind."""

from typing import Any

from redis.exceptions import ConnectionError, ResponseError
from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection


class _Proving:
    """A replica answers reads, with what it has: one that was the master until now must not be taken for it."""

    def connect_to(self: Any, address: tuple[str, int]) -> None:
        """Connect, and look whether it is a master. Raises ConnectionError."""
        super().connect_to(address)  # type: ignore[misc]
        try:
            self.send_command("ROLE")
            role = self.read_response()[0]
        except ResponseError:
            return  # Not everybody may ask.
        if role != b"master":
            self.disconnect()
            raise ConnectionError(f"{address[0]}:{address[1]} is no master any more")


class WatchedConnection(_Proving, SentinelManagedConnection):
    """A connection to the master."""


class WatchedSSLConnection(_Proving, SentinelManagedSSLConnection):
    """The same over TLS."""

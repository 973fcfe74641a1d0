"""Connections to a master that sentinels watch: each new one asks whether it is one, as sentinels may be behind."""

from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import ConnectionError, ResponseError
from redis.sentinel import Sentinel, SentinelManagedConnection, SentinelManagedSSLConnection


class Watchers(Sentinel):
    """The sentinels. `known` is how many replicas there are: those that the sentinel asked last has ever heard of
    and not been told to forget (SENTINEL RESET), or as many as were connected to the master since, if that is more.
    Any of them may be the next master."""

    def __init__(self, nodes: Sequence[tuple[str, int]], options: Mapping[str, Any]) -> None:
        super().__init__(nodes, sentinel_kwargs=options)  # type: ignore[no-untyped-call]
        self.known = 0

    def check_master_state(self, state: Mapping[str, Any], service_name: str) -> bool:
        """The library's look at a sentinel's word about a master; what it says of replicas is kept."""
        is_good: bool = super().check_master_state(state, service_name)  # type: ignore[no-untyped-call]
        if is_good:
            self.known = state["num-slaves"]
        return is_good


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

"""The heartbeat: a few bytes to every client, so that proxies keep the line open and the dead are found."""

import time
from typing import Protocol

import gevent

from services.push.connection import Connection
from services.push.messages import Transport

BEAT_SECONDS = 12.0  # The contract promises 15.
TOGETHER = 100


class Beating(Protocol):
    """What has a connection and a transport."""

    @property
    def connection(self) -> Connection: ...  # noqa: D102
    @property
    def transport(self) -> Transport: ...  # noqa: D102


class Pulse:
    """All open connections of this process."""

    def __init__(self, seconds: float = BEAT_SECONDS) -> None:
        self.seconds = seconds
        self._members: dict[Beating, None] = {}

    def add(self, member: Beating) -> None:
        """Let `member` beat from now on."""
        self._members[member] = None

    def remove(self, member: Beating) -> None:
        """Forget `member`. May be called again."""
        self._members.pop(member, None)

    def __len__(self) -> int:
        return len(self._members)

    def run(self) -> None:
        """Beat for ever."""
        while True:
            gevent.sleep(self.seconds)
            self.beat()

    def beat(self) -> None:
        """One beat: drop who takes nothing any more, and send a sign of life to the others."""
        for place, member in enumerate(tuple(self._members)):
            connection = member.connection
            if connection.is_stalled(time.monotonic()):
                connection.close()
            else:
                connection.send(member.transport.beat(time.time()))
            if place % TOGETHER == TOGETHER - 1:
                gevent.sleep(0)  # Moves must not wait for thousands of beats.

    def finish(self) -> None:
        """Say goodbye to all: their clients come back to another process, or to this one when it is up again."""
        for member in tuple(self._members):
            member.connection.finish(member.transport.goodbye)

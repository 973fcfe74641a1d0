"""Players that play a random legal move as soon as they see that it is to them; all in one loop."""

import os
import random
import selectors
import time
from collections import Counter
from dataclasses import dataclass, field

import msgspec

from engine.fairness.commitments import commitment_to
from services.bench.wires import Fairness, Message, Wire

NONCE_BYTES = 32
SILENCE_SECONDS_MAX = 15.0
SEATS = 3


class Stalled(Exception):
    """Nothing was heard for so long that somebody must be stuck; the message says where."""


@dataclass(slots=True)
class Tally:
    """What was measured: `latencies` of moves in seconds, from sending until all three had the new state."""

    latencies: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class Table:
    """Three players. It knows when a move was sent, and who has seen what came of it."""

    __slots__ = ("_seen", "_sent", "tally")

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._sent: dict[int, float] = {}
        self._seen: dict[int, int] = {}

    def moved(self, version: int) -> None:
        """The move that makes `version` is being sent."""
        self._sent[version] = time.perf_counter()

    def shown(self, version: int) -> None:
        """One more of the three has the state of `version`."""
        count = self._seen.get(version, 0) + 1
        if count < SEATS:
            self._seen[version] = count
            return
        self._seen.pop(version, None)
        sent = self._sent.pop(version, None)
        if sent is not None:
            self.tally.latencies.append(time.perf_counter() - sent)


class Nonces:
    """The numbers that the player at `seat` gives to the shuffles, one for each deal."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._nonce = os.urandom(NONCE_BYTES)
        self._deal = 0

    def ready(self) -> bytes:
        """The first word at a table."""
        return b'{"type":"ready","nonce_commitment":"%b"}' % self._commitment()

    def reveal(self, asked: Fairness) -> bytes | None:
        """The number, if it is asked for and was not sent; with it comes the commitment to the next one."""
        if self._seat not in asked.awaiting or asked.deal <= self._deal:
            return None
        told, self._nonce, self._deal = self._nonce.hex().encode(), os.urandom(NONCE_BYTES), asked.deal
        return b'{"type":"reveal","nonce":"%b","next_commitment":"%b"}' % (told, self._commitment())

    def _commitment(self) -> bytes:
        return commitment_to(self._nonce).hex().encode()


class Player:
    """One client. Only one seat is to act at a time: a move it makes at version n makes version n + 1.

    With `nonces` it shuffles along, which no move counts.
    """

    __slots__ = ("_legal", "_nonces", "_number", "_random", "_table", "_version", "wire")

    def __init__(self, table: Table, wire: Wire, choice: random.Random, nonces: Nonces | None = None) -> None:
        self.wire = wire
        self._nonces = nonces
        self._table = table
        self._random = choice
        self._number = 0
        self._version = 0
        self._legal: list[msgspec.Raw] = []

    def begin(self) -> None:
        """Be ready."""
        self.command(self._nonces.ready() if self._nonces else b'{"type":"ready"}')

    def command(self, command: bytes) -> None:
        """Send something that is not counted."""
        self._number += 1
        self.wire.send(f"c{self._number}", command)

    def heard(self, message: Message) -> None:
        """Look at a message, and play if it is to us."""
        if message.error is not None:
            self._table.tally.refused[message.error.code] += 1
        elif message.receipt is not None:
            if message.receipt.status == "refused":
                self._table.tally.refused[message.receipt.code] += 1
        elif message.version:
            self._table.shown(message.version)
            view = message.view or message.patch
            if view is not None and message.version > self._version:
                self._version = message.version
                if self._nonces and view.fairness is not None and (told := self._nonces.reveal(view.fairness)):
                    self.command(told)
                self._legal = self._legal if view.legal is None else view.legal
                if self._legal:
                    self._table.moved(message.version + 1)
                    self.command(bytes(self._random.choice(self._legal)))


class Room:
    """All players of a bench."""

    def __init__(self, players: list[Player]) -> None:
        self.players = players
        self._selector = selectors.DefaultSelector()
        for player in players:
            for sock in player.wire.sockets:
                self._selector.register(sock, selectors.EVENT_READ, player)

    def play(self, seconds: float = float("inf"), moves: int | None = None, tally: Tally | None = None) -> None:
        """Play for so long, or until `tally` has counted so many moves. Raises Stalled and ConnectionError."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            events = self._selector.select(min(left, SILENCE_SECONDS_MAX))
            if not events and left > SILENCE_SECONDS_MAX:
                raise Stalled(f"nothing was heard for {SILENCE_SECONDS_MAX:.0f} s; refusals: {self._refusals()}")
            for key, _ in events:
                player: Player = key.data
                for message in player.wire.read(key.fileobj):  # type: ignore[arg-type]  # We registered sockets.
                    player.heard(message)
            if moves is not None and tally is not None and len(tally.latencies) >= moves:
                return

    @property
    def heard(self) -> int:
        """Bytes that all players together have received."""
        return sum(player.wire.heard for player in self.players)

    def close(self) -> None:
        """Hang up."""
        self._selector.close()
        for player in self.players:
            for sock in player.wire.sockets:
                sock.close()

    def _refusals(self) -> dict[str, int]:
        return dict(self.players[0]._table.tally.refused) if self.players else {}

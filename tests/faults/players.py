"""Players: each follows its table over a WebSocket, plays any legal move, and repeats itself without mercy."""

import http.client
import json
import threading
import time
import uuid
from contextlib import ExitStack, suppress
from random import Random
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.faults.flights import COPIES, LATE_SECONDS_MAX, Couriers, Flight, Http
from tests.faults.history import Pushed
from tests.faults.nonces import Nonces

QUIET_SECONDS = 1.0
AGAIN_SECONDS = 3.0
OPEN_SECONDS = 5.0
GIVEN_UP = 0.02
ON_SOCKET = 0.5
LATE = 0.15
NONSENSE = 0.05
BETWEEN_DEALS = ("sit", "ready", "leave", "reveal")


class Player(threading.Thread):
    """One seat at one table, until `over`. It leaves and comes back when it `wanders`, and has a nonce for each deal
    when it `shuffles`."""

    def __init__(
        self, couriers: Couriers, table: str, account: tuple[str, str], chance: Random, over: threading.Event, *,
        wanders: bool = False, shuffles: bool = False,
    ) -> None:
        super().__init__(daemon=True)
        self.table, (self.actor, self.token) = table, account
        self.failures: list[str] = []
        self._nodes, self._couriers, self._history = couriers.nodes, couriers, couriers.history
        self._chance, self._over, self._wanders = chance, over, wanders
        self._nonces = Nonces(chance) if shuffles else None
        self._calls = Http(couriers.nodes)
        self._open = ExitStack()
        self._socket: ClientConnection | None = None
        self._connection = self._resumed = 0
        self._version = 0
        self._view: dict[str, Any] = {}
        self._flight: Flight | None = None
        self._flights: dict[str, Flight] = {}
        self._heard = 0.0
        self._asked = 0.0

    def run(self) -> None:
        """Listen, think, send."""
        try:
            while not self._over.is_set():
                self._turn()
        except Exception as error:
            self.failures.append(f"a player at {self.table} has failed: {error!r}")
            raise
        finally:
            self._hang_up()
            self._calls.close()

    def _turn(self) -> None:
        if self._socket is None:
            self._connect()
        self._listen(0.02 if self._flight is None else 0.1)
        flight = self._flight
        if flight is not None and flight.is_open:
            if time.monotonic() - self._asked > AGAIN_SECONDS:
                self._send(flight)
            return
        self._flight = None
        if time.monotonic() - self._heard > QUIET_SECONDS:
            self._look()
        if (body := self._idea()) is not None:
            self._begin(body)

    # Hearing.

    def _connect(self) -> None:
        self._hang_up()
        node = self._chance.choice(self._nodes)
        try:
            self._socket = self._open.enter_context(connect(
                f"ws://127.0.0.1:{node.socket}/v1/tables/{self.table}/socket",
                additional_headers={"Authorization": f"Bearer {self.token}"}, subprotocols=["marias.v1"],  # type: ignore[list-item]
                compression=None, open_timeout=OPEN_SECONDS, close_timeout=0.2, ping_interval=None, max_size=None,
            ))
            self._resumed = self._version
            self._socket.send(json.dumps({"resume": self._resumed}))
            self._connection = self._history.new_connection()
            self._couriers.counts["sockets opened"] += 1
        except (OSError, WebSocketException, TimeoutError):
            self._socket = None
            self._over.wait(0.1)

    def _hang_up(self) -> None:
        self._socket = None
        with suppress(OSError, WebSocketException):
            self._open.close()

    def _listen(self, seconds: float) -> None:
        if self._socket is None:
            self._over.wait(seconds)
            return
        try:
            while True:
                self._hear(self._socket.recv(timeout=seconds, decode=False))
                seconds = 0.0
        except TimeoutError:
            pass
        except (OSError, WebSocketException):
            self._socket = None

    def _hear(self, text: bytes) -> None:
        message = json.loads(text)
        if "receipt" in message:
            self._receipt(message["receipt"], text)
        elif "version" in message:
            heard = Pushed(self.table, self.actor, message["version"], text, self._connection, self._resumed)
            self._history.push(heard)
            self._version, self._heard = message["version"], time.monotonic()
            if "view" in message:
                self._view = message["view"]
        elif "error" in message and message["error"]["code"] == "internal":
            self._couriers.complaints.append(f"over a socket: {text!r}")

    def _receipt(self, receipt: dict[str, Any], text: bytes) -> None:
        flight = self._flights.get(receipt["id"])
        if flight is None or receipt["status"] == "queued":
            return
        self._couriers.counts["receipts over sockets"] += 1
        if receipt["status"] == "applied":
            flight.applied("socket", receipt["version"], text)
        elif receipt["code"] == "internal":
            self._couriers.complaints.append(f"over a socket: {text!r}")
        else:
            flight.refused("socket", receipt["code"], text)

    def _look(self) -> None:
        """Nothing was heard for long: ask."""
        self._heard = time.monotonic()
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            node = self._chance.randrange(len(self._nodes))
            status, _, text = self._calls.call(node, "GET", f"/v1/tables/{self.table}", None, headers)
        except (OSError, http.client.HTTPException):
            return
        if status == 200:
            view = json.loads(text)
            if view["version"] < self._version:
                self._couriers.complaints.append(f"{self.table}: view {view['version']} after {self._version}")
            self._view = view
        elif status != 503:
            self._couriers.complaints.append(f"{status} to GET of {self.table}: {text[:200]!r}")

    # Thinking.

    def _idea(self) -> dict[str, Any] | None:
        view, chance = self._view, self._chance
        if not view:
            return None
        if chance.random() < NONSENSE / 10:
            again = [self._nonces.again()] if self._nonces else []
            return chance.choice([{"type": "good"}, {"type": "play", "card": "Ah"}, {"type": "ready"}, *again])
        seat = view["seat"]
        if seat is None:
            return {"type": "sit"}
        if self._wanders and chance.random() < (0.02 if view["phase"] == "lobby" else 0.001):
            return {"type": "leave"}
        if view["phase"] == "lobby":
            return self._ready(view)
        return chance.choice(view["legal"]) if view["legal"] else None

    def _ready(self, view: dict[str, Any]) -> dict[str, Any] | None:
        """What there is to say before a deal."""
        if self._nonces is None:
            return None if view["ready"][view["seat"]] else {"type": "ready"}
        if view["ready"][view["seat"]]:
            return self._nonces.reveal(view)
        return {"type": "ready", "nonce_commitment": self._nonces.commit()}

    # Sending.

    def _begin(self, body: dict[str, Any]) -> None:
        chance = self._chance
        condition = self._view["version"] if chance.random() < 0.2 else None
        flight = Flight(self.table, self.actor, self.token, uuid.UUID(int=chance.getrandbits(128)).hex, body, condition)
        self._couriers.add(flight)
        self._flights[flight.key] = flight
        self._flight = flight
        if chance.random() < GIVEN_UP:
            flight.given_up = True
        self._view = {**self._view, "legal": []} if body["type"] not in BETWEEN_DEALS else {}
        self._send(flight)
        for _ in range(chance.choice(COPIES) - 1):
            self._couriers.deliver(flight, chance.uniform(0.0, 0.1))
        if chance.random() < LATE:
            self._couriers.deliver(flight, chance.uniform(0.5, LATE_SECONDS_MAX))

    def _send(self, flight: Flight) -> None:
        """Once more, on either wire."""
        self._asked = time.monotonic()
        if self._socket is None or self._chance.random() > ON_SOCKET:
            self._couriers.deliver(flight)
            return
        flight.deliveries += 1
        condition = {} if flight.if_version is None else {"if_version": flight.if_version}
        try:
            self._socket.send(json.dumps({"id": flight.key, "command": flight.body, **condition}))
        except (OSError, WebSocketException):
            self._socket = None

"""The load of a run: tables of several kinds, their players, and somebody hostile."""

import http.client
import json
import threading
import time
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from tests.faults.flights import Couriers, Http
from tests.faults.history import History
from tests.faults.hostile import Hostile
from tests.faults.players import Player
from tests.faults.processes import OPENING_CHIPS, Node
from tests.faults.witness import Asker, Witness

COURIERS = 10
SETUP_SECONDS_MAX = 120.0
JOIN_SECONDS_MAX = 20.0
HUGE_BUY_IN = OPENING_CHIPS - 3

# What tables are played at, in this order and again from the first: (options, how many people sit there, how many of
# them have nonces for their deals).
KINDS: list[tuple[dict[str, Any], int, int]] = [
    ({"auto_ready": True}, 3, 3),
    ({"stake": "bankroll", "buy_in": HUGE_BUY_IN}, 3, 2),
    ({"auto_ready": True, "bots": [1, 2]}, 1, 0),
    ({"turn_seconds": 20, "rules": {"preset": "hospoda"}}, 3, 1),
    ({"stake": "bankroll", "buy_in": 50_000, "bots": [0]}, 2, 1),
]


class Account(NamedTuple):
    """A registered player."""

    id: str
    token: str


class Load:
    """Everybody who uses the system; `over` stops them, `finish` waits for their last answers."""

    def __init__(self, nodes: Sequence[Node], seed: int, *, tables: int) -> None:
        self.history = History()
        self.over = threading.Event()
        self.tables: list[str] = []
        self.players: list[Player] = []
        self.couriers = Couriers(nodes, self.history, seed, COURIERS)
        self._seed, self._count = seed, tables
        self._calls = Http(nodes)
        self._hostile: Hostile | None = None
        self.witness: Witness | None = None

    def start(self) -> None:
        """Register everybody, open the tables, and let them play."""
        askers: list[Asker] = []
        for number in range(self._count):
            options, people, shufflers = KINDS[number % len(KINDS)]
            accounts = [self.register(f"P{number}{seat}") for seat in range(people)]
            table = self.open_table(accounts[0], options)
            self.tables.append(table)
            askers += [(table, account.token) for account in accounts]
            for place, account in enumerate(accounts):
                chance = Random(f"{self._seed}/{number}/{place}")
                wanders = options.get("stake") == "bankroll"
                self.players.append(Player(
                    self.couriers, table, account, chance, self.over, wanders=wanders, shuffles=place < shufflers
                ))
        stranger = self.register("Nobody")
        self._hostile = Hostile(
            self.couriers, self.tables, stranger, Random(f"{self._seed}/hostile"), self.over
        )
        self.witness = Witness(self.couriers, askers, Random(f"{self._seed}/witness"), self.over)
        for each in (*self.players, self._hostile, self.witness):
            each.start()

    def register(self, name: str) -> Account:
        """A new player with an account."""
        answer = self._persist("/v1/players", {"name": name}, {})
        return Account(answer["player"], answer["token"])

    def open_table(self, creator: Account, options: dict[str, Any]) -> str:
        """A new table."""
        headers = {"Authorization": f"Bearer {creator.token}"}
        return str(self._persist("/v1/tables", {"game": "voleny", **options}, headers)["table"])

    def finish(self) -> None:
        """Stop, and put everything into the history."""
        self.over.set()
        for each in (*self.players, self._hostile, self.witness):
            if each is None:
                continue
            each.join(JOIN_SECONDS_MAX)
        self.couriers.close()
        self._calls.close()

    def complaints(self) -> list[str]:
        """Answers that nobody should have got, and players that fell over."""
        people = (*self.players, *([self.witness] if self.witness else []))
        return [*self.couriers.complaints, *(failure for each in people for failure in each.failures)]

    def _persist(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        end = time.monotonic() + SETUP_SECONDS_MAX
        sent = json.dumps(body).encode()
        said: object = None
        node = 0
        while time.monotonic() < end:
            node = 1 - node
            try:
                status, _, text = self._calls.call(
                    node, "POST", path, sent, {"Content-Type": "application/json", **headers}
                )
            except (OSError, http.client.HTTPException) as error:
                said = error
                time.sleep(0.1)
                continue
            if status in (200, 201):
                return dict(json.loads(text))
            said = f"{status} {text!r}"
            time.sleep(0.1)
        raise TimeoutError(f"{path}: {said}")

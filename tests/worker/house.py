"""A worker's house in one process: tables, players who pick from what is legal, and workers to serve them."""

import json
import random
from collections.abc import Callable
from typing import Any

from redis import Redis

from engine.fairness.commitments import seed_of
from engine.shuffle import deck_from_key
from schemas.table import Draw
from services.intake import Submitted, Taken, submit
from services.store import keys, views
from services.worker.handle import Desk
from services.worker.loop import Worker

PARTITIONS = keys.all_partitions(4)
ANA, BARA, CYRIL = (f"u-0{number}-000000000000000{number}" for number in range(3))
PLAYERS = (ANA, BARA, CYRIL)
TABLE = "t-01-00000000000a"
OTHER = "t-01-00000000000b"


def decks(seed: int) -> Callable[[], Draw]:
    """Deals that are the same for the same seed."""
    chance = random.Random(seed)

    def draw() -> Draw:
        key = chance.randbytes(32)
        return Draw(chance.randrange(3), deck_from_key(key), f"sealed-{key.hex()[:8]}", seed_of(key))

    return draw


def worker(redis: Redis, name: str = "worker", seed: int = 1, **more: Any) -> Worker:
    """A worker over few partitions."""
    return Worker(Desk(redis, decks(seed)), name, PARTITIONS, **more)


class House:
    """One store and one worker; each `say` is a whole command with its answer."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.worker = worker(redis)
        self.said = 0

    def send(self, table: str, actor: str, body: dict[str, Any], *, key: str = "", version: int | None = None) -> Taken:
        """Take a command in."""
        self.said += 1
        name = actor[:4]
        return submit(self.redis, Submitted(table, actor, name, key or f"k{self.said}", body, version))

    def say(self, table: str, actor: str, kind: str, *, version: int | None = None, **more: Any) -> dict[str, Any]:
        """Take a command in, let the worker work, and give the receipt."""
        taken = self.send(table, actor, {"type": kind, **more}, version=version)
        assert taken.status == "new", taken
        self.settle()
        receipt = views.receipt(self.redis, table, actor, f"k{self.said}")
        assert receipt is not None
        return receipt

    def settle(self) -> None:
        """Turn until nothing is left to do now."""
        quiet = 0
        while quiet < 3:
            quiet = 0 if self.worker.turn(0.0) else quiet + 1

    def open(self, table: str = TABLE, **options: Any) -> None:
        """Open a table with three players, ready for nothing yet."""
        assert self.say(table, ANA, "open", game="voleny", **options)["s"] == "applied"

    def deal(self, table: str = TABLE, **options: Any) -> None:
        """Open a table, sit down three, and be dealt the first cards."""
        self.open(table, **options)
        for player in PLAYERS:
            assert self.say(table, player, "sit")["s"] == "applied"
        for player in PLAYERS:
            assert self.say(table, player, "ready")["s"] == "applied"

    def view(self, table: str = TABLE, seat: int | None = None) -> dict[str, Any]:
        """The table as a seat sees it now."""
        current = views.current(self.redis, table)
        assert current is not None
        return json.loads(views.view_bytes(current, seat))

    def legal(self, table: str = TABLE) -> tuple[str, list[dict[str, Any]]]:
        """Whose turn it is, and what may be done."""
        [seat] = self.view(table)["to_act"]
        return PLAYERS[seat], self.view(table, seat)["legal"]

    def play(self, moves: int, table: str = TABLE, seed: int = 1) -> None:
        """Play that many legal moves, dealing anew when a deal ends."""
        chance = random.Random(seed)
        for _ in range(moves):
            if self.view(table)["phase"] == "lobby":
                for player in PLAYERS:
                    self.say(table, player, "ready")
                continue
            actor, legal = self.legal(table)
            move = chance.choice(legal)
            said = self.say(table, actor, **{**move, "kind": move["type"]})
            assert said["s"] == "applied", (said, move)

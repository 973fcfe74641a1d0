"""One seeded world: players who repeat themselves, workers that die or pause between any two steps, lost answers."""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from fakeredis import FakeRedis, FakeServer
from redis.exceptions import ConnectionError

from engine.table import INITIAL, at_rest
from schemas.table import join_code, shown_events, view_fragments, who
from services.intake import Submitted, submit
from services.store import history, keys, views, wire
from services.store.wire import StoreUnavailable
from services.worker.held import events_of
from services.worker.loop import Worker
from services.worker.tables import read
from tests.worker.house import PARTITIONS, PLAYERS, worker

SEEDS = [1, 2, 3, 4, *([int(os.environ["MARIAS_SEED"])] if "MARIAS_SEED" in os.environ else [])]
STEPS = int(os.environ.get("MARIAS_STEPS", "1500"))
TABLES = ["t-00-00000000000a", "t-00-00000000000b", "t-01-00000000000c"]


class Killed(BaseException):
    """The process that made this step is gone."""


class Faults:
    """Stands in the way of every round trip: it may not arrive, its answer may be lost, its sender may die."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.rate = 0.0
        self.deadly = False
        self.real = wire.exchange
        self.met: Counter[str] = Counter()

    def exchange(self, pool: Any, packed: bytes, count: int) -> list[Any]:
        fault = self._draw()
        self.met[fault] += 1
        if fault == "died before":
            raise Killed
        if fault == "did not arrive":
            raise ConnectionError(fault)
        replies = self.real(pool, packed, count)
        if fault == "died after":
            raise Killed
        if fault == "answer lost":
            raise ConnectionError(fault)
        return replies

    def _draw(self) -> str:
        if self.chance.random() >= self.rate:
            return "none"
        kinds = ["did not arrive", "answer lost", *(["died before", "died after"] if self.deadly else [])]
        return self.chance.choice(kinds)


@dataclass
class Player:
    """Somebody at a table who sends a command one to five times, and remembers every answer he saw."""

    id: str
    table: str
    sent: int = 0
    outbox: list[Submitted] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)


class World:
    """All of it; `step` is one thing that happens to somebody."""

    def __init__(self, seed: int, redis: FakeRedis, faults: Faults) -> None:
        self.chance = faults.chance
        self.faults = faults
        self.redis = redis
        self.time = 0.0
        self.born = 0
        self.players = [Player(player, table) for table in TABLES for player in PLAYERS]
        self.workers: list[Worker] = []
        self.dead: list[Worker] = []
        for table in TABLES:
            options = {"auto_ready": self.chance.random() < 0.5}
            submit(redis, Submitted(table, PLAYERS[0], "", "open", {"type": "open", "game": "voleny", **options}))

    def step(self) -> None:
        self.time += 0.05
        weights = {
            "think": 5.0,
            "send": 8.0,
            "work": 8.0,
            "start": 2.0 if len(self.workers) < 3 else 0.0,
            "bury": 1.0 if self.dead else 0.0,
            "oversleep": 0.1,
        }
        match self.chance.choices(list(weights), weights=list(weights.values()))[0]:
            case "think":
                self.think(self.chance.choice(self.players))
            case "send":
                self.send(self.chance.choice(self.players))
            case "work" if self.workers:
                self.work(self.chance.choice(self.workers))
            case "bury":
                self.run_out(self.dead.pop())
            case "oversleep" if self.workers:
                self.run_out(self.chance.choice(self.workers))
            case "start":
                self.born += 1
                self.workers.append(worker(self.redis, f"w{self.born}", self.born, ticks=lambda: self.time))

    def run_out(self, worker: Worker) -> None:
        """The leases of a worker that is dead, or paused for too long, run out."""
        for partition, fence in worker.owned.fences.items():
            if self.redis.get(keys.lease(partition)) == fence.encode():
                self.redis.delete(keys.lease(partition))
        self.redis.zrem(keys.workers(), worker.owned.name)

    def think(self, player: Player) -> None:
        """Decide on a command, put one to five copies of it in the outbox, among the old ones."""
        self.faults.rate = 0.0
        current = views.current(self.redis, player.table)
        if current is None or player.outbox:
            return
        player.sent += 1
        body, version = self._idea(player, current)
        command = Submitted(player.table, player.id, player.id[:4], f"k{player.sent}", body, version)
        player.outbox += [command] * self.chance.randint(1, 5)

    def _idea(self, player: Player, current: views.Current) -> tuple[dict[str, Any], int | None]:
        seat = views.seat_in(current, player.id)
        version = self.chance.choice([None, None, None, current.version, current.version - 1])
        if self.chance.random() < 0.05:
            return self.chance.choice([{"type": "good"}, {"type": "leave"}, {"type": "play", "card": "Ah"}]), None
        if seat is None:
            return {"type": "sit"}, version
        view = json.loads(views.view_bytes(current, seat))
        if view["phase"] == "lobby":
            return {"type": "ready"}, version
        return (self.chance.choice(view["legal"]), version) if view["legal"] else ({"type": "good"}, version)

    def send(self, player: Player) -> None:
        """One copy goes out; it may not arrive, or its answer may be lost, and then it stays in the outbox."""
        if not player.outbox:
            return
        command = self.chance.choice(player.outbox)
        self.faults.rate, self.faults.deadly = 0.1, False
        try:
            taken = submit(self.redis, command)
        except StoreUnavailable:
            return
        finally:
            self.faults.rate = 0.0
        player.outbox.remove(command)
        assert taken.status in ("new", "dup"), taken
        if taken.receipt is not None:
            seen = player.answers.setdefault(command.key, taken.receipt)
            assert seen == taken.receipt, "an answer was taken back"

    def work(self, worker: Worker) -> None:
        """A worker turns; a killed one never does again."""
        self.faults.rate, self.faults.deadly = 0.02, True
        try:
            worker.turn(0.0)
        except Killed:
            self.workers.remove(worker)
            self.dead.append(worker)
        except StoreUnavailable:
            pass
        finally:
            self.faults.rate = 0.0

    def finish(self) -> None:
        """Everybody sends what he has left, and one last worker does what is to be done."""
        for player in self.players:
            while player.outbox:
                self.send(player)
        self.redis.delete(keys.workers(), *(keys.lease(each) for each in PARTITIONS))
        last = worker(self.redis, "last", 99)
        quiet = 0
        while quiet < 3:
            quiet = 0 if last.turn(0.0) else quiet + 1


@pytest.fixture(params=SEEDS)
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    print(f"seed {request.param}; again with MARIAS_SEED={request.param}")
    faults = Faults(random.Random(request.param))
    monkeypatch.setattr(wire, "exchange", faults.exchange)
    redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    world = World(request.param, redis, faults)
    for _ in range(STEPS):
        world.step()
    world.finish()
    yield world
    redis.close()


def test_whatever_dies_every_command_has_one_effect_and_one_answer(world: World) -> None:
    assert all(world.faults.met[kind] for kind in ("did not arrive", "answer lost", "died before", "died after"))
    for table in TABLES:
        entries = list(history.entries_after(world.redis, table, 0))
        assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
        check_answers(world, table, entries)
        check_reads(world, table, entries)
    assert world.redis.exists(keys.dead("00"), keys.dead("01")) == 0
    assert sum(len(player.answers) for player in world.players) > STEPS / 50


def check_answers(world: World, table: str, entries: list[history.Recorded]) -> None:
    """Each accepted command is in the stream once, each refused one never, and nothing else is."""
    written = Counter(f"{entry.actor}/{entry.key}" for entry in entries)
    assert set(written.values()) <= {1}
    receipts = {
        field.decode(): json.loads(receipt) for field, receipt in world.redis.hgetall(keys.receipts(table)).items()
    }
    taken = {name.decode() for name in world.redis.hkeys(keys.reservations(table))}
    assert taken == receipts.keys(), "a command was taken in and never answered"
    for name, receipt in receipts.items():
        assert written[name] == (receipt["s"] == "applied"), name
        if receipt["s"] == "applied":
            entry = entries[receipt["v"] - 1]
            assert (f"{entry.actor}/{entry.key}", entry.fingerprint) == (name, receipt["f"])
    assert written.keys() <= receipts.keys()
    for player in world.players:
        for key, answer in player.answers.items():
            if player.table == table:
                assert receipts[f"{player.id}/{key}"] == answer, "an answer was taken back"


def check_reads(world: World, table: str, entries: list[history.Recorded]) -> None:
    """State, views and feed are what a replay from the first event makes of it."""
    replayed = read(world.redis, table, "of no build")
    assert read(world.redis, table) == replayed
    current = views.current(world.redis, table)
    fragments = view_fragments(replayed.table, replayed.version)
    assert current == views.Current(
        replayed.version,
        fragments.public,
        fragments.private,
        tuple(who(replayed.table).split("|")),
        join_code(replayed.table),
        replayed.settled,
    )
    assert sum(replayed.table.session.bank) == 0
    told = views.feed(world.redis, table, 0, 500)
    assert told is not None
    for item in told.items:
        shown = shown_events(events_of(table, entries[item.version - 1]))
        assert item.events == {None: shown.public} | {
            seat: shown.by_seat[seat] or shown.public for seat in range(3)
        }
    if not at_rest(replayed.table) and replayed.table is not INITIAL:
        assert told.oldest <= replayed.began

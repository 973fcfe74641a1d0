"""Tables whose history is written as the worker writes it, from the rules alone: quick, seeded, any interleaving."""

import random
from collections.abc import Iterator

from redis import Redis

from engine.errors import RuleViolation
from engine.games.voleny import VOLENY
from engine.games.voleny.rules import Rules
from engine.shuffle import deck_from_key
from engine.table import (
    INITIAL,
    Leave,
    Move,
    OpenTable,
    Ready,
    Sit,
    StartDeal,
    Table,
    TableCommand,
    step,
)
from engine.table.events import Event
from schemas.table import dump_events, kinds
from services.projections.subscription import Subscription
from services.store import keys
from tests.cast import ANA, CAST, SEATED, Player

PARTITIONS = ["00", "01", "02", "03", "04", "05", "06", "0a", "0b", "0c", "0d", "1f"]
NOON = 1_767_225_600_000


class Tables:
    """Some tables and their histories; `now` is later at each command."""

    def __init__(self, store: Redis, seed: int = 0) -> None:
        self.store = store
        self.rng = random.Random(seed)
        self.now = NOON
        self.tables: dict[str, Table] = {}
        self.versions: dict[str, int] = {}
        self.told: dict[str, list[tuple[Event, ...]]] = {}

    def apply(self, table: str, command: TableCommand) -> bool:
        """Decide `command` and write what it caused; False when it was refused."""
        before = self.tables.get(table, INITIAL)
        try:
            events, after = step(before, command)
        except RuleViolation:
            return False
        self.tables[table] = after
        self.versions[table] = version = self.versions.get(table, 0) + 1
        self.told.setdefault(table, []).append(events)
        self.write(table, version, dump_events(events), kinds(events, after))
        return True

    def write(self, table: str, version: int, events: bytes, cares: str) -> None:
        """The entry and its pointer."""
        partition = keys.partition_of(table)
        with self.store.pipeline() as pipe:
            entry = {"at": self.now, "a": "x", "k": "x", "f": "x", "e": events, "x": "tests"}
            pipe.xadd(keys.events(table), entry, id=f"{version}-0")
            if cares:
                pipe.xadd(keys.log(partition), {"t": table, "v": version, "k": cares})
            pipe.sadd(keys.tables(partition), table)
            pipe.execute()

    def open(self, table: str, **options: object) -> str:
        """A new table that Ana opened."""
        given = {"now": self.later(), "creator": ANA.id, "game": "voleny", "rules": Rules(), **options}
        assert self.apply(table, OpenTable(**given))
        return table

    def later(self) -> int:
        """The next moment."""
        self.now += self.rng.randrange(1, 900)
        return self.now

    def sit(self, table: str, player: Player, seat: int | None = None, transfer: str = "") -> bool:
        """`player` takes a seat."""
        given = {"player": player.id, "name": player.name, "seat": seat, "transfer": transfer}
        return self.apply(table, Sit(now=self.later(), **given))

    def leave(self, table: str, player: Player) -> bool:
        """`player` gives the seat up."""
        return self.apply(table, Leave(now=self.later(), player=player.id))

    def deal(self, table: str, *, fair: bool = False) -> bool:
        """All are ready and the cards are dealt; `fair`: and committed to."""
        for player in CAST:
            self.apply(table, Ready(now=self.later(), player=player.id))
        version = self.versions[table]
        start = StartDeal(
            now=self.later(),
            version_seen=version,
            version=version,
            first_dealer=self.rng.randrange(3),
            deck=deck_from_key(self.rng.randbytes(8)),
            sealed_key="sealed",
            transfer=f"{table}.{version}",
            seed=self.rng.randbytes(32) if fair else b"",
            table=table,
        )
        return self.apply(table, start)

    def move(self, table: str) -> bool:
        """A random legal move; False when no deal runs."""
        held = self.tables[table]
        if held.session.stage != "deal":
            return False
        move = self.rng.choice(VOLENY.legal(held.state))
        assert self.apply(table, Move(now=self.later(), seat=move.seat, move=move))
        return True

    def play(self, table: str, deals: int = 1, *, fair: bool = False) -> None:
        """Whole deals with random moves."""
        for _ in range(deals):
            assert self.deal(table, fair=fair)
            while self.move(table):
                pass

    def wander(self, steps: int, **options: object) -> Iterator[str]:
        """Random things at random tables; gives the table after each."""
        for _ in range(steps):
            names = list(self.tables)
            if len(names) < 2 or self.rng.random() < 0.01:
                table = f"t-{self.rng.choice(['00', '0a', '1f'])}-{self.rng.getrandbits(48):012x}"
                bots = tuple(sorted(self.rng.sample(range(3), self.rng.randrange(3))))
                self.open(table, bots=bots, deals=self.rng.choice([None, 2, 5]), **options)
            else:
                table = self.rng.choice(names)
                self._step(table)
            yield table

    def _step(self, table: str) -> None:
        chance = self.rng.random()
        if chance < 0.01:
            self.leave(table, self.rng.choice(CAST))
        elif not self.move(table):
            sits = any(self.sit(table, player, transfer=f"in-{self.now}") for player in self._shuffled())
            if not sits:
                self.deal(table)

    def _shuffled(self) -> list[Player]:
        return self.rng.sample(CAST, len(CAST))


def seated(store: Redis, table: str, seed: int = 0, **options: object) -> Tables:
    """One table at which Ana, Bára and Cyril sit."""
    tables = Tables(store, seed)
    tables.open(table, **options)
    for player in SEATED:
        assert tables.sit(table, player, transfer=f"in-{player.name}")
    return tables


def everything(store: Redis, *, space: str = "pj") -> dict[str, object]:
    """All that the projections tell, but not how far they have read."""
    found: dict[str, object] = {}
    for name in sorted(store.keys(f"{space}:*")):
        text = name.decode().removeprefix(space)
        if text.endswith(("}:cp", "}:hold")) or ":fold:" in text:
            continue
        kind = store.type(name)
        found[text] = store.hgetall(name) if kind == b"hash" else store.zrange(name, 0, -1, withscores=True)
    return found


def follow(store: Redis) -> Subscription:
    """A subscription that has handled everything so far."""
    subscription = Subscription(store, PARTITIONS)
    subscription.begin()
    while subscription.turn(None):
        pass
    return subscription

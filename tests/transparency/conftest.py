"""A house whose finished deals are logged, and heads outside its store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis

from services.signing import Signer
from services.transparency import keeping
from services.transparency.keeping import Keeper
from services.transparency.outside import InFile
from services.transparency.signing import Book
from tests.archive.conftest import Archived
from tests.worker.house import PARTITIONS, PLAYERS, TABLE


class Logged(Archived):
    """A house with an archive, a log of its finished deals, and a clock for its heads."""

    def __init__(self, redis: Redis, home: Path) -> None:
        super().__init__(redis, home / "archive")
        self.home = home
        self.now = 1_800_000_000
        self.kept = InFile(home / "heads.jsonl")
        self.signer = Signer(home / "keys")
        self.book = Book(redis, self.signer, self.kept, lambda: float(self.now))
        self.keeper = Keeper(self.book, PARTITIONS)

    def _note(self, pointers) -> bool:
        keeping.note(self.redis, pointers)
        return super()._note(pointers)

    def log(self) -> int:
        """Everything that has ended is logged; gives how many deals were new."""
        self.follow()
        found = added = self.keeper.turn()
        while added:
            added = self.keeper.turn()
            found += added
        return found


def sat(house: Logged, *tables: str) -> None:
    """Open tables with three players each."""
    for table in tables:
        house.open(table)
        for player in PLAYERS:
            house.say(table, player, "sit")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Logged]:
    """Three players at one table, over a store of their own."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    made = Logged(client, tmp_path)
    sat(made, TABLE)
    yield made
    client.close()


@pytest.fixture
def empty() -> Iterator[Redis]:
    """Another store, with nothing in it."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield client
    client.close()

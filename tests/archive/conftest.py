"""A house whose projections follow, and an archive beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis

from services.archive import folder
from services.jobs import archive_deals
from services.processes import archiving
from services.processes.follow import Follower
from services.projections.subscription import Subscription
from tests.worker.house import PARTITIONS, PLAYERS, TABLE, House


class Archived(House):
    """A house with everything that turns finished deals into files, in one process."""

    def __init__(self, redis: Redis, archive: Path) -> None:
        super().__init__(redis)
        self.archive = archive
        folder.attach(redis, archive)
        self.projections = Subscription(redis, PARTITIONS)
        self.projections.begin()
        self.notes = Follower(redis, "notes", PARTITIONS, self._note)

    def _note(self, pointers) -> bool:
        archiving.note(self.redis, pointers)
        return True

    def settle(self) -> None:
        """Turn until nothing is left to do, whether or not the bell of a real store has rung yet."""
        self.worker._inbox.look_everywhere()
        super().settle()
        self.worker._inbox.look_everywhere()
        super().settle()

    def play_deals(self, deals: int, table: str = TABLE, seed: int = 1) -> None:
        """Play on until so many more deals have ended."""
        wanted = self.ended(table) + deals
        while self.ended(table) < wanted:
            self.play(1, table, seed=seed + self.said)

    def ended(self, table: str = TABLE) -> int:
        """How many deals have ended."""
        view = self.view(table)
        return view["deal"] - (view["phase"] != "lobby" if view["deal"] else 0)

    def follow(self) -> None:
        """The projections and the list of what is to be archived are up to date."""
        while self.projections.turn(None):
            pass
        self.projections.flush()
        while self.notes.turn(None):
            pass


@pytest.fixture(autouse=True)
def with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job takes all the tables there are, however slow the machine is."""
    monkeypatch.setattr(archive_deals, "SECONDS_MAX", 3600.0)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Archived]:
    """A table at which three sit, nothing archived."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    made = Archived(client, tmp_path / "archive")
    made.open()
    for player in PLAYERS:
        assert made.say(TABLE, player, "sit")["s"] == "applied"
    yield made
    client.close()

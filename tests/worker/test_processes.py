"""Real workers on a real store: killed, told to stop, and left without their store."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.config import Config
from services.envelope import sender_of
from services.intake import attach
from services.store import history, keys, views
from services.store.connect import connect, patiently
from services.store.wire import StoreUnavailable
from services.worker.tables import read
from tests import servers
from tests.worker.house import House

pytestmark = pytest.mark.server

WORK = "from services.config import Config; from services.worker import run; run(Config.from_environment())"
TABLES = [f"t-0{number}-00000000000a" for number in range(4)]
SECONDS_MAX = 90.0


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for something that must come about."""
    end = time.monotonic() + SECONDS_MAX
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Distant(House):
    """A house whose workers are processes."""

    def __init__(self, server: servers.Server, folder: Path) -> None:
        config = Config(redis_url=server.url, data=folder, partitions=4)
        super().__init__(attach(connect(server.url), sender_of(config.keys)))
        self.environment = os.environ | config.to_environment()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.chance = random.Random(5)

    def start(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        self.processes.append(subprocess.Popen([sys.executable, "-c", WORK], env=self.environment))
        return self.processes[-1]

    def settle(self) -> None:
        """The answer to the last command is there."""
        until(self._answered, "no answer")

    def _answered(self) -> bool:
        try:
            return self.last is not None and views.receipt(self.redis, *self.last) not in (None, {"s": "queued"})
        except StoreUnavailable:
            return False

    def send(self, table, actor, body, *, key="", version=None):
        """Take a command in, also when the store comes and goes."""
        key = key or f"k{self.said + 1}"
        taken = patiently(lambda: House.send(self, table, actor, body, key=key, version=version), SECONDS_MAX)
        self.said = int(key[1:])
        self.last = (table, actor, key)
        return taken._replace(status="new") if taken.status == "dup" else taken

    def deal_all(self) -> None:
        """A deal at each table, one table a partition."""
        for table in TABLES:
            self.deal(table, auto_ready=True)
            until(lambda table=table: self.view(table)["phase"] == "choose_trump", "no deal")

    def move(self, table: str) -> None:
        """One legal move at a table, dealing anew when a deal has ended."""
        until(lambda: self.view(table)["phase"] not in ("lobby", "over"), "no deal")
        actor, legal = self.legal(table)
        move = self.chance.choice(legal)
        assert self.say(table, actor, **{**move, "kind": move["type"]})["s"] == "applied"

    def owners(self) -> set[bytes]:
        """The nonces of the leases; None while a partition is free."""
        values = [self.redis.get(keys.lease(each)) for each in ("00", "01", "02", "03")]
        return {value.split(b":", 1)[1] if value else b"" for value in values}


@pytest.fixture
def house(own_server: servers.Server, tmp_path: Path) -> Iterator[Distant]:
    distant = Distant(own_server, tmp_path)
    yield distant
    for process in distant.processes:
        process.kill()
        process.wait()
    distant.redis.close()


def check(house: Distant) -> None:
    """Nothing was lost, doubled or made up."""
    for table in TABLES:
        entries = list(history.entries_after(house.redis, table, 0))
        assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
        written = [f"{entry.actor}/{entry.key}" for entry in entries]
        assert len(set(written)) == len(written)
        players = {name for name in written if not name.startswith("clock")}
        receipts = {name.decode() for name in house.redis.hkeys(keys.receipts(table))}
        assert players == {name for name in receipts if not name.startswith("clock")}
        assert read(house.redis, table).version == len(entries)


def test_two_workers_share_and_play_goes_on_when_one_is_killed(house: Distant) -> None:
    first = house.start()
    house.deal_all()
    house.start()
    until(lambda: len(house.owners()) == 2 and b"" not in house.owners(), "they do not share")
    for table in TABLES * 3:
        house.move(table)
    first.kill()
    for table in TABLES * 2:
        house.move(table)  # Half of them wait for the leases to run out.
    assert len(house.owners()) == 1
    check(house)


def test_a_worker_that_is_told_to_stop_hands_over_at_once(house: Distant) -> None:
    first = house.start()
    house.deal_all()
    house.start()
    until(lambda: len(house.owners()) == 2 and b"" not in house.owners(), "they do not share")
    first.send_signal(signal.SIGTERM)
    assert first.wait(SECONDS_MAX) == 0
    for table in TABLES * 2:
        house.move(table)
    check(house)


def test_a_killed_store_comes_back_and_play_goes_on(house: Distant, own_server: servers.Server) -> None:
    house.start()
    house.deal_all()
    for _ in range(3):
        for table in TABLES:
            house.move(table)
        own_server.kill()
        own_server.start()
        patiently(lambda: house.view(TABLES[0]), SECONDS_MAX)
    for table in TABLES:
        patiently(lambda table=table: house.move(table), SECONDS_MAX)
    check(house)

"""The role `projector`: all its parts in one process, which ends as a whole."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from services import projector
from services.config import Config
from services.projector import Part, PartDied
from services.store import outputs, projected
from services.store.connect import connect
from tests import sources
from tests.projections.tables import PARTITIONS, Tables, follow, seated

TABLE = "t-0c-0123456789ab"
RUN = """
import dataclasses, sys
from services.config import Config
from services.serve.role import run_role
run_role("projector", dataclasses.replace(Config(), redis_url=sys.argv[1], jobs_redis_url=sys.argv[2]))
"""


def until(what: Callable[[], object], seconds_max: float = 60.0) -> None:
    """Wait for it."""
    end = time.monotonic() + seconds_max
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.fixture
def role(server):
    """The role in a process of its own."""
    command = [sys.executable, "-c", RUN, server.url, server.jobs_url]
    started = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=str(sources.ROOT))))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_it_follows_goes_on_after_a_kill_and_stops_when_told_to(server, role) -> None:
    store = connect(server.url)
    tables = seated(store, TABLE)
    first = role()
    tables.play(TABLE)
    until(lambda: len(projected.bank(store, TABLE, 0, 9).deals) == 1)
    first.kill()
    first.wait()
    tables.play(TABLE)
    second = role()
    tables.play(TABLE)
    until(lambda: len(projected.bank(store, TABLE, 0, 9).deals) == 3)
    second.send_signal(signal.SIGTERM)
    assert second.wait(60) == 0
    assert outputs.checkpoints(store, ["0c"])["0c"] != ""
    store.close()


def test_two_roles_at_once_do_not_disturb_each_other(server, role) -> None:
    store = connect(server.url)
    role(), role()
    tables = Tables(store, seed=6)
    for _ in tables.wander(200):
        pass
    follow(store)
    balances = [name.decode().rpartition(":")[2] for name in store.keys("pj:*:bal:*")]
    assert sum(projected.score(store, player, None, 1).balance for player in balances) == 0
    for table, told in tables.told.items():
        deals = sum(type(event).__name__ == "DealEnded" for events in told for event in events)
        assert len(projected.bank(store, table, 0, 100).deals) == deals
    assert set(outputs.checkpoints(store, PARTITIONS).values()) - {""}
    store.close()


def test_when_one_part_dies_all_end(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def live(should_stop: Callable[[], bool]) -> None:
        while not should_stop():
            time.sleep(0.001)
        seen.append("stopped")

    def die(should_stop: Callable[[], bool]) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(projector, "parts", lambda config: [Part("good", live), Part("bad", die)])
    with pytest.raises(PartDied, match="bad"):
        projector.run(Config())
    assert seen == ["stopped"]
    assert "a fault of ours" in caplog.text

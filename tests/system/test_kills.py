"""kill -9 of each part while people play: every acknowledged command is in the stream once, and play goes on."""

import json
import os
import time
from collections import Counter
from threading import Event, Thread

import pytest

from services.archive import folder as archive
from services.store.connect import connect
from services.store.history import entries_after
from tests.system.client import Client, seat_three
from tests.system.play import play_all
from tests.system.program import Serve

KILLS = int(os.environ.get("MARIAS_TEST_KILLS", "3"))

pytestmark = pytest.mark.server

ROLES = {"worker": r"services\.cli worker", "front": r"services\.cli front", "store": r"store\.sock"}


@pytest.mark.parametrize("role", ROLES)
def test_play_survives_kills_of_the(role, tmp_path):
    serve = Serve(tmp_path / "data").start()
    try:
        table, players = seat_three(serve.port, auto_ready=True)
        done = Event()
        killer = Thread(target=kill_often, args=(serve, role, players[0], table, done))
        killer.start()
        failures = play_all(players, table, done.is_set)
        killer.join()
        assert failures == []
        check_stream(serve, table, players)
    finally:
        serve.stop()


def kill_often(serve: Serve, role: str, watcher: Client, table: str, done: Event) -> None:
    """KILLS times: wait until play has visibly gone on, then kill -9; stop the play after it recovered."""
    own = Client(serve.port, watcher.token)
    try:
        for _ in range(KILLS):
            progress(own, table, moves=3)
            assert serve.kill_role(ROLES[role]), f"no {role} was running"
        progress(own, table, moves=6)
    finally:
        done.set()


def progress(client: Client, table: str, *, moves: int, seconds: float = 90) -> None:
    """Until the table is `moves` versions further. Raises AssertionError when play stands still."""
    start = client.view(table)["version"]
    end = time.monotonic() + seconds
    while client.view(table)["version"] < start + moves:
        assert time.monotonic() < end, f"play stands at version {client.view(table)['version']}"
        time.sleep(0.02)


def check_stream(serve: Serve, table: str, players: list[Client]) -> None:
    """Each acknowledged key once, each refused key never, versions without gap or repeat."""
    with connect(json.loads((serve.data / "run.json").read_text())["redis_url"]) as store:
        archive.attach(store, serve.data / "archive")
        entries = list(entries_after(store, table, 0))  # A hole is a BrokenStream.
    written = Counter(entry.key for entry in entries)
    applied = {key for player in players for key in player.applied}
    assert applied, "nothing was played"
    assert {key: written[key] for key in applied if written[key] != 1} == {}
    refused = {key for player in players for key in player.refused}
    assert refused & set(written) == set()

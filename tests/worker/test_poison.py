"""A real worker meets commands that crash, loop, eat memory or kill it: each is given up, the others go on."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from services.envelope import sender_of
from services.intake import Submitted, attach, submit
from services.store import keys, views
from services.store.connect import connect
from tests import sources
from tests.worker.house import ANA, BARA, CYRIL, TABLE

pytestmark = [pytest.mark.server, pytest.mark.slow]

ELSEWHERE = "t-02-00000000000c"  # In another partition of the same worker.
SECONDS_MAX = 300.0  # A loop is given up after seconds of the worker's own time, of which a busy machine gives little.


class Kept:
    """The worker, started again whenever it dies, under the name by which it takes its partitions back."""

    def __init__(self, url: str, folder: Path) -> None:
        self.deaths = 0
        self._environment = os.environ | {
            "REDIS_URL": url, "MARIAS_DATA": str(folder / "data"), "MARIAS_PARTITIONS": "4",
            "MARIAS_WORKER_NAME": "poisoned", "MARIAS_WORKER_MEMORY": "256",
        }
        self._stopped = threading.Event()
        self._log = (folder / "worker.log").open("wb")
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-m", "tests.worker.poisoned"], cwd=sources.ROOT,
                                env=self._environment, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def _keep(self) -> None:
        while not self._stopped.wait(0.02):
            if self._process.poll() is not None:
                self.deaths += 1
                self._process = self._start()

    def stop(self) -> None:
        self._stopped.set()
        self._keeper.join()
        self._process.terminate()
        self._process.wait()
        self._log.close()


@pytest.fixture
def store(server_url: str, tmp_path: Path) -> Iterator[Redis]:
    with connect(server_url) as redis:
        yield attach(redis, sender_of(tmp_path / "data" / "keys"))


@pytest.fixture
def kept(server_url: str, tmp_path: Path) -> Iterator[Kept]:
    worker = Kept(server_url, tmp_path)
    yield worker
    worker.stop()


def say(store: Redis, table: str, actor: str, kind: str, key: str, **more: object) -> None:
    taken = submit(store, Submitted(table, actor, actor[:4], key, {"type": kind, **more}))
    assert taken.status == "new"


def receipt(store: Redis, table: str, actor: str, key: str) -> dict:
    """What became of a command, waited for."""
    end = time.monotonic() + SECONDS_MAX
    while (found := views.receipt(store, table, actor, key))["s"] == "queued":
        assert time.monotonic() < end, f"{key} is not decided"
        time.sleep(0.02)
    return found


def opened(store: Redis) -> None:
    for table in (TABLE, ELSEWHERE):
        say(store, table, ANA, "open", "open", game="voleny")
        assert receipt(store, table, ANA, "open")["s"] == "applied"


@pytest.mark.parametrize(("fault", "says"), [
    ("raises", "ZeroDivisionError: a planted fault"),
    ("loops", "TookTooLong: the decision took too long"),
    ("eats", "MemoryError"),
    ("eats_crumbs", "MemoryError"),
])
def test_a_poisoned_command_is_given_up_and_the_worker_lives(store: Redis, kept: Kept, fault: str, says: str) -> None:
    opened(store)
    say(store, TABLE, ANA, "sit", "before")
    say(store, TABLE, BARA, "sit", fault)
    say(store, TABLE, CYRIL, "sit", "after")
    say(store, ELSEWHERE, CYRIL, "sit", "elsewhere")

    assert receipt(store, TABLE, BARA, fault)["c"] == "internal"
    assert receipt(store, TABLE, ANA, "before")["s"] == "applied"
    assert receipt(store, TABLE, CYRIL, "after")["s"] == "applied"
    assert receipt(store, ELSEWHERE, CYRIL, "elsewhere")["s"] == "applied"
    assert kept.deaths == 0
    [(_, letter)] = store.xrange(keys.dead("01"))
    assert (letter[b"k"], letter[b"t"]) == (fault.encode(), TABLE.encode())
    assert says in letter[b"error"].decode().splitlines()[-1]
    assert f"in {fault}" in letter[b"error"].decode(), "the traceback names the place"
    assert not [field for field in store.hkeys(keys.state("01")) if field.startswith(b"tries")]


def marias(url: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"REDIS_URL": url, "MARIAS_PARTITIONS": "4", "MARIAS_DATA": str(folder)}
    return subprocess.run([sys.executable, "-m", "services.cli", *words], cwd=sources.ROOT, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)


def test_an_operator_looks_at_dead_letters_retries_and_discards(
    store: Redis, server_url: str, kept: Kept, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    opened(store)
    for player in (ANA, BARA):
        say(store, TABLE, player, "sit", "raises")
        assert receipt(store, TABLE, player, "raises")["c"] == "internal"
    listed = json.loads(marias(server_url, data, "dead", "list", "--json").stdout)["dead_letters"]
    assert [(row["sender"], row["type"]) for row in listed] == [(BARA, "sit"), (ANA, "sit")]
    second, first = (row["id"] for row in listed)
    shown = marias(server_url, data, "dead", "show", first)
    assert "ZeroDivisionError: a planted fault" in shown.stdout
    assert "in raises" in shown.stdout

    elsewhere = marias(server_url, tmp_path / "elsewhere", "dead", "retry", first)
    assert elsewhere.returncode == 1
    assert "--data" in elsewhere.stderr
    done = marias(server_url, data, "dead", "retry", first)  # The fault is in the key, and a retry has another.
    assert (done.returncode, done.stdout) == (0, f"{first} was applied at version 2\n")
    assert json.loads(marias(server_url, data, "dead", "retry", first, "--json").stdout)["outcome"]["version"] == 2
    assert marias(server_url, data, "dead", "discard", second, "--why", "has left").returncode == 0
    refused = marias(server_url, data, "dead", "retry", "01-1-1")
    assert (refused.returncode, refused.stderr) == (1, "Error: There is no dead letter 01-1-1.\n")
    assert json.loads(marias(server_url, data, "dead", "list", "--json").stdout) == {"dead_letters": []}
    assert len(store.xrange(keys.events(TABLE))) == 2


@pytest.mark.parametrize("fault", ["kills", "loops_in_c"])
def test_a_command_at_which_workers_die_is_given_up_by_the_last_of_them(store: Redis, kept: Kept, fault: str) -> None:
    opened(store)
    say(store, TABLE, ANA, "sit", "before")
    say(store, TABLE, BARA, "sit", fault)
    say(store, TABLE, CYRIL, "sit", "after")
    assert receipt(store, TABLE, BARA, fault)["c"] == "internal"
    assert receipt(store, TABLE, ANA, "before")["s"] == "applied"
    assert receipt(store, TABLE, CYRIL, "after")["s"] == "applied"
    assert kept.deaths >= 1
    [(_, letter)] = store.xrange(keys.dead("01"))
    assert b"workers died at it" in letter[b"error"]
    assert len(store.xrange(keys.events(TABLE))) == 3

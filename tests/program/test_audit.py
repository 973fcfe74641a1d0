"""`marias audit` as a process beside a running system: no false alarm while bots play, and Ctrl-C in its middle."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services.cli.words import amount
from tests import sources
from tests.program.running import Running

pytestmark = [pytest.mark.server, pytest.mark.slow]

TABLES = 16
EACH = 4
"""Tables of one player."""
AUDITS = 2
TRIES = 40
SECONDS_MAX = 90.0


def started(data: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    return subprocess.Popen(
        [sys.executable, "-m", "services.cli", "audit", "--all", "--json", "--data", str(data), *words],
        cwd=sources.ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """The exit status, and what was printed."""
    try:
        printed, said = process.communicate(timeout=SECONDS_MAX)
    finally:
        process.kill()
    return process.returncode, printed, said


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running system at whose tables bots play one deal after the other, the first of which are over and signed."""
    data = tmp_path_factory.mktemp("club") / "data"
    with Running(data, environment={"MARIAS_PARTITIONS": "8"}) as server:
        for number in range(TABLES):
            if number % EACH == 0:
                _, player = server.call("POST", "/v1/players", {"name": "Ana"})
            opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": 50}
            status, told = server.call("POST", "/v1/tables", opening, Authorization=f"Bearer {player['token']}")
            assert status == 201, told
        yield server


def tables_done(state: Path) -> int:
    """How many tables the state of an audit has; 0 as long as there is none."""
    try:
        with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as base:
            return base.execute("SELECT count(*) FROM tables").fetchone()[0]
    except sqlite3.Error:
        return 0


def test_tables_that_are_played_give_no_alarm(club: Running) -> None:
    counts = []
    for _ in range(AUDITS):
        status, printed, said = ended(started(club.data))
        report = json.loads(printed)
        assert (status, report["faults"], report["missing"]) == (0, [], []), said
        assert report["tables"] == TABLES
        counts.append(report["entries"])
    assert sorted(set(counts)) == counts, "the tables went on between the audits"


def test_an_audit_that_is_stopped_in_its_middle_goes_on_there(club: Running, tmp_path: Path) -> None:
    for attempt in range(TRIES):
        state = tmp_path / f"{attempt}.state"
        process = started(club.data, "--resume", str(state))
        end = time.monotonic() + SECONDS_MAX
        while not tables_done(state) and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        status, printed, said = ended(process)
        if status == 130 and tables_done(state) < TABLES:  # Else it was in what comes after the tables.
            break
    else:
        pytest.fail(f"it was over before it could be stopped, {TRIES} times: {said}")
    assert (printed, f"({state})" in said) == ("", True)
    done = tables_done(state)
    assert 0 < done < TABLES
    status, printed, said = ended(started(club.data, "--resume", str(state)))
    assert f"going on after {amount(done, 'table')}, as noted" in said
    report = json.loads(printed)
    assert (status, report["tables"], report["faults"]) == (0, TABLES, []), printed
    assert not state.exists()


def test_a_mistyped_table_is_no_fault_and_leaves_no_state(club: Running) -> None:
    words = [sys.executable, "-m", "services.cli", "audit", "t-00-000000000000", "--data", str(club.data)]
    told = subprocess.run(words, cwd=sources.ROOT, capture_output=True, text=True, timeout=SECONDS_MAX, check=False,
                          env={name: value for name, value in os.environ.items() if name != "REDIS_URL"})
    assert told.returncode == 2
    assert "has anything of t-00-000000000000" in told.stderr
    assert not (club.data / "audit.state").exists()

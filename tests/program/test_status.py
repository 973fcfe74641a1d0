"""`marias status`, `/v1/operations` and `/metrics` beside a running system, well and unwell."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from services.store import keys
from services.store.connect import connect
from tests import sources
from tests.program.running import Running, until

pytestmark = [pytest.mark.server, pytest.mark.slow]


def marias(data: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    return subprocess.run([sys.executable, "-m", "services.cli", *words, "--data", str(data)], cwd=sources.ROOT,
                          env=environment, capture_output=True, text=True, timeout=120, check=False)


def metrics(server: Running) -> dict[str, float]:
    with urllib.request.urlopen(f"{server.http}/metrics", timeout=90) as answer:
        text = answer.read().decode()
    assert re.search(r'marias_[a-z_]*\{[^}]*"t-', text) is None, "no table is a label"
    return {sample.name + "".join(sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples}


def until_exit(data: Path, status: int) -> "subprocess.CompletedProcess[str]":
    end = time.monotonic() + 120
    while (done := marias(data, "status")).returncode != status:
        assert time.monotonic() < end, done.stdout + done.stderr
        time.sleep(0.2)
    return done


@pytest.fixture
def small(tmp_path):
    """A running system of few partitions; who looks at it is told by the data."""
    with Running(tmp_path / "data", environment={"MARIAS_PARTITIONS": "8"}) as server:
        yield server


def test_the_state_of_a_running_system_is_told_and_judged(small):
    server, data = small, small.data
    _, ana = server.call("POST", "/v1/players", {"name": "Ana"})
    bearer = f"Bearer {ana['token']}"
    _, opened = server.call("POST", "/v1/tables", {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": 1},
                            Authorization=bearer)
    table = opened["table"]
    done = until_exit(data, 0)
    assert "appendfsync always, noeviction" in done.stdout
    assert "8 of 8 partitions" in done.stdout
    assert done.stdout.rstrip().endswith("healthy")
    await_metrics(server, marias_store_up=1, marias_partitions=8, marias_workers=1, marias_partitions_orphaned=0)

    with connect(json.loads((data / "run.json").read_text())["redis_url"]) as redis:
        redis.xadd(keys.dead(table[2:4]), {"id": "1-0", "t": table, "a": "x", "n": "", "k": "k", "f": "f",
                                           "b": '{"type":"play","card":"Ah"}', "error": "KeyError: 'Ah'"})
        redis.hset(keys.frozen(table[2:4]), table, b"{}")
    sick = until_exit(data, 1)
    assert "WRONG: 1 dead letter: look at marias dead list" in sick.stdout
    assert "WRONG: 1 table whose projections are stopped" in sick.stdout
    assert "Ah" not in sick.stdout
    told = json.loads(marias(data, "status", "--json").stdout)
    assert not told["healthy"]
    assert {row["partition"]: row for row in told["partitions"]}[table[2:4]]["dead"] == 1
    assert told["table_bytes"] > 0
    assert {row["queue"] for row in told["jobs"]} == {"bots", "deals"}
    _, asked = server.call("GET", "/v1/operations", Authorization=f"Bearer {_operator(data)}")
    assert asked["workers"] == told["workers"]
    assert not asked["healthy"]
    await_metrics(server, marias_dead_letters=1, marias_tables_frozen=1, marias_healthy=0)

    with connect(json.loads((data / "run.json").read_text())["redis_url"]) as redis:
        redis.delete(keys.dead(table[2:4]), keys.frozen(table[2:4]))
    server.call("POST", "/v1/tables", {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": 4},
                Authorization=bearer)  # However short the one deal was, these are commands enough.
    until(lambda: metrics(server)["marias_command_seconds_count"] >= 20)
    counted = metrics(server)
    assert counted["marias_worker_commands_totalapplied"] >= 20
    assert counted["marias_worker_commands_totalfenced"] == 0


def await_metrics(server: Running, **wanted: float) -> None:
    """Until they are so: the front looks once a second."""
    until(lambda: wanted.items() <= metrics(server).items())


def _operator(data: Path) -> str:
    return marias(data, "token", "--role", "operator").stdout.strip()


def test_without_workers_and_without_a_store_it_is_not_well(server_url, tmp_path):
    environment = os.environ | {"REDIS_URL": server_url, "MARIAS_DATA": str(tmp_path)}
    environment.pop("JOBS_REDIS_URL", None)

    def status(**changed: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "services.cli", "status", "--json"], cwd=sources.ROOT,
                              env=environment | changed, capture_output=True, text=True, timeout=120, check=False)

    alone = status()
    assert alone.returncode == 1
    assert any("no worker lives" in trouble for trouble in json.loads(alone.stdout)["troubles"])
    gone = status(REDIS_URL="redis://127.0.0.1:1/0", JOBS_REDIS_URL="redis://127.0.0.1:1/1")
    assert gone.returncode == 1
    assert "the store does not answer" in json.loads(gone.stdout)["troubles"][0]


def test_watching_goes_on_until_it_is_stopped(server_url, tmp_path):
    environment = os.environ | {"REDIS_URL": server_url, "MARIAS_DATA": str(tmp_path)}
    watching = subprocess.Popen([sys.executable, "-m", "services.cli", "status", "--watch", "--json"],
                                cwd=sources.ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
    assert watching.stdout is not None
    first, second = watching.stdout.readline(), watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=90)
    assert not json.loads(first)["healthy"]
    assert not json.loads(second)["healthy"]

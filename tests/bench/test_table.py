"""`marias bench table` in small: it plays, counts and says what it counted."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine.fairness.commitments import commitment_to
from services.bench import machine
from services.bench.players import Nonces, Player, Table, Tally
from services.bench.wires import Fairness, _frame, _message

ROOT = Path(__file__).parents[2]


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize(("transport", "views", "more"), [
    ("ws", "patch", []), ("ws", "whole", []), ("http", "patch", []), ("http", "whole", []),
    ("ws", "patch", ["--nonces"]), ("ws", "whole", ["--nonces"]),
])
def test_a_small_bench_counts_moves_latency_cpu_and_bytes(transport: str, views: str, more: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "JOBS_REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-m", "services.cli", "bench", "table", "--tables", "2", "--transport", transport, "--views",
         views, "--seconds", "1", "--rounds", "2", "--warm-up", "0", "--json", *more],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["refused"] == {}
    assert figures["load"]["nonces"] == bool(more)
    assert len(figures["rounds"]) == 2
    for each in figures["rounds"]:
        assert each["moves_per_second"] > 0
        assert 0 < each["p50_ms"] <= each["p99_ms"]
        assert each["bytes_per_client_and_move"] > 50
    assert figures["store_bytes_per_table"] > 0
    # The limit of 7,500 is held in tests/push/test_replay.py: here chance may double as often as the rules let it, and
    # a shuffle with numbers tells more: commitments, and the salt of each card that was played.
    assert figures["resume_bytes"] > figures["view_bytes"] > 0
    if sys.platform == "linux":
        assert {"front", "worker", "store", "total"} <= figures["cpu"].keys()


def test_a_limit_of_the_server_is_told_as_the_reason_why_nobody_plays() -> None:
    told = b'{"error":{"id":"c7","code":"rate_limited","detail":"Too many commands."}}'
    tally = Tally()
    Player(Table(tally), None, random.Random(1)).heard(_message(told))
    assert tally.refused == {"rate_limited": 1}


def test_a_player_gives_each_shuffle_the_number_that_was_committed_to() -> None:
    nonces = Nonces(1)
    committed = json.loads(nonces.ready())["nonce_commitment"]
    for deal in (1, 2):
        assert nonces.reveal(Fairness(deal, [0, 2])) is None
        told = nonces.reveal(Fairness(deal, [1, 2]))
        assert told is not None
        said = json.loads(told)
        assert commitment_to(bytes.fromhex(said["nonce"])).hex() == committed
        assert nonces.reveal(Fairness(deal, [1])) is None, "that it is told once"
        committed = said["next_commitment"]


@pytest.mark.parametrize(("buffer", "start", "found"), [
    pytest.param(b"\x81\x02ab", 0, (2, 4), id="a short frame"),
    pytest.param(b"xx\x81\x02ab\x81", 2, (4, 6), id="a frame after another"),
    pytest.param(b"\x81\x02a", 0, None, id="a frame that has not come whole"),
    pytest.param(b"\x81", 0, None, id="half a head"),
    pytest.param(b"\x81\x7e\x00\xc8" + b"x" * 200, 0, (4, 204), id="a long frame"),
    pytest.param(b"\x81\x7e\x00", 0, None, id="half the length of a long frame"),
])
def test_frames_are_found_in_what_was_received(buffer: bytes, start: int, found: tuple[int, int] | None) -> None:
    assert _frame(buffer, start) == found


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
def test_the_time_of_children_counts() -> None:
    child = subprocess.Popen([sys.executable, "-c", "sum(range(3_000_000)); input()"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    while sum(machine.cpu_seconds(child.pid).values()) < 0.02:
        pass
    assert sum(machine.cpu_seconds(os.getpid()).values()) > 0.02
    child.communicate(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
def test_the_time_of_a_process_that_ended_is_not_taken_back() -> None:
    """As when the supervisor of a server starts a role anew in the middle of a round."""
    parent = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c',"
                               " 'import time\\nwhile time.process_time() < 0.5: pass']); print(); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    assert sum(machine.cpu_seconds(parent.pid).values()) > 0.4
    parent.communicate(b"\n")


@pytest.mark.parametrize(("command_line", "name"), [
    pytest.param(["python", "-P", "-m", "services.cli", "worker"], "worker", id="a role of ours"),
    pytest.param(["/opt/valkey-server unixsocket:/tmp/store.sock"], "store", id="a store"),
    pytest.param(["valkey-aof-rewrite unixsocket:/tmp/store.sock"], "store", id="its child that writes its log anew"),
    pytest.param(["/usr/bin/redis-server", "*:6379"], "store", id="a store of Debian"),
    pytest.param(["/usr/bin/env", "true"], "env", id="something else"),
    pytest.param([""], "ended", id="a process that has ended and was not waited for"),
])
def test_time_is_counted_by_what_a_process_is(
    command_line: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_bytes("\0".join([*command_line, ""]).encode())
    (tmp_path / "7" / "stat").write_text("7 (it) S 1 " + "0 " * 40)
    monkeypatch.setattr(machine, "_PROC", tmp_path)
    assert list(machine.cpu_seconds(7)) == [name]

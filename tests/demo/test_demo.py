"""`marias demo` as a user runs it, from nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMO = [sys.executable, "-m", "services.cli", "demo"]
pytestmark = [pytest.mark.server, pytest.mark.slow]


def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "JOBS_REDIS_URL")}
    return kept | {"TMPDIR": str(tmp_path)}


def test_a_deal_is_told_line_by_line_and_nothing_is_left(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--deals", "1", "--policy", "random", "--fresh"], cwd=ROOT, env=environment(tmp_path),
        capture_output=True, text=True, timeout=180, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert any(line.startswith("  curl -s http://127.0.0.1:") for line in lines)
    assert "Deal 1" in lines
    assert any(line.startswith("  chips: Ana ") for line in lines)
    assert any(line.startswith("The session is over: 1. ") for line in lines)
    assert lines[-1].startswith("Deal ")
    assert " was fair: 3 of 3 players gave numbers to the shuffle; " in lines[-1]
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_it_and_its_server(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [*DEMO, "--deals", "1000", "--fresh"], cwd=ROOT, env=environment(tmp_path), stdout=subprocess.PIPE, text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if line == "Deal 1\n":
            break
    folder, = tmp_path.iterdir()
    demo.send_signal(signal.SIGINT)
    rest = demo.stdout.read()
    assert demo.wait(60) == 130
    demo.stdout.close()
    assert "Traceback" not in rest
    end = time.monotonic() + 120
    while processes_with(folder) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes_with(folder) == []
    assert not folder.exists()


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--url", "http://127.0.0.1:9"], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True,
        timeout=180, check=False,
    )
    assert done.returncode == 1
    assert "No answer from http://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def processes_with(folder: Path) -> list[str]:
    """Command lines of this machine that name the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found

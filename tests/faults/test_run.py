"""The chaos run in its short form: half a minute of people, processes and kills, and nothing lost or doubled."""

import os
import subprocess
import sys

import pytest

from services.serve.binary import NoServer, find_server
from tests import sources
from tests.faults import report
from tests.faults.__main__ import SHORT, chosen, main
from tests.faults.registry import FAULTS
from tests.faults.run import run

SEED = int(os.environ.get("MARIAS_SEED", "4"))
SECONDS = float(os.environ.get("MARIAS_FAULTS_SECONDS", "16"))

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True)
def needs_a_server() -> None:
    """Aloud, where there is none."""
    try:
        find_server()
    except NoServer as error:
        pytest.skip(f"NO STORE SERVER ON THIS MACHINE: {error}")


def test_whatever_is_killed_nothing_is_lost_or_doubled_or_taken_back() -> None:
    print(f"seed {SEED}; again with MARIAS_SEED={SEED}")
    result = run(
        chosen(SHORT["embedded"], night=False), seed=SEED, seconds=SECONDS, tables=4, say=print, stall_max=60.0
    )
    assert result.ok, "\n".join(report.lines(result))
    assert result.unexpected == []
    assert sum(result.faults.values()) >= 5
    assert result.outcomes["ok"] > 50
    assert result.deliveries > 1.5 * sum(result.outcomes.values())
    text = report.markdown(result, "pytest")
    assert "**lost** | **0**" in text


def test_ctrl_c_ends_a_run_with_the_check_of_what_was_done() -> None:
    command = [sys.executable, "-m", "tests.faults", "--only", "kill-jobs", "--tables", "1", "--seconds", "3600"]
    with subprocess.Popen(command, cwd=sources.ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if " versions " in line and len([each for each in said if " versions " in each]) == 1:
                process.send_signal(2)
        assert process.wait(300) == 0, "".join(said)
    assert any(line.startswith("interrupted") for line in said)
    assert said[-1] == "OK: no violation\n"


def test_a_fault_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="no such fault: kill-everybody"):
        main(["--only", "kill-everybody"])
    with pytest.raises(SystemExit, match="not made on --store sentinel: move-slot"):
        main(["--store", "sentinel", "--only", "kill-master,move-slot"])
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FAULTS)

"""Two builds at one store: this one as the older, and a copy of it that writes one kind of event in a newer version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from services.serve.binary import NoServer, find_server
from tests import sources
from tests.faults.skew import OLDER_TREE

pytestmark = pytest.mark.server

NOTHING_YET = "UPCASTERS: Final[Mapping[tuple[str, int], Callable[[Stored], Stored]]] = {}"
A_NEWER_VERSION = NOTHING_YET.replace("{}", '{("deal_started", 1): lambda stored: stored}')


@pytest.fixture
def newer_tree(tmp_path: Path) -> Path:
    """A copy of this tree whose build writes the beginning of a deal in version 2."""
    try:
        find_server()
    except NoServer as error:
        pytest.skip(f"NO STORE SERVER ON THIS MACHINE: {error}")
    for folder in ("engine", "schemas", "services", "tests", "deploy"):
        shutil.copytree(sources.ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    upcasters = tmp_path / "schemas" / "upcasters.py"
    text = upcasters.read_text()
    assert NOTHING_YET in text
    upcasters.write_text(text.replace(NOTHING_YET, A_NEWER_VERSION))
    return tmp_path


def test_an_older_build_beside_a_newer_one_misreads_nothing(newer_tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--only", "older-build,kill-worker", "--seconds", "15", "--tables", "8",
         "--seed", "1"],
        cwd=newer_tree, env={**os.environ, OLDER_TREE: str(sources.ROOT), "PYTHONPATH": str(newer_tree)},
        capture_output=True, text=True, check=False, timeout=240,
    )
    assert "times that a worker of an older build was there: " in done.stdout, done.stdout + done.stderr
    refused = [line for line in done.stdout.splitlines() if line.startswith("partitions refused by the older build: ")]
    assert refused
    assert int(refused[0].rpartition(" ")[2]) > 0, "it met nothing newer than itself"
    bad = [line for line in done.stdout.splitlines() if line.startswith("VIOLATION") and "VIOLATION stall" not in line]
    assert bad == [], done.stdout

"""Clients behind a line that was cut: no word of theirs comes any more, no end and no reset, and yet they are found."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import sources
from tests.cast import ANA
from tests.push.conftest import Push
from tests.push.writer import TABLE, Writer

COUNT = int(os.environ.get("MARIAS_TEST_HALF_OPEN", "0"))
"""As many as asked for, found as slowly as in service; else a few, found sooner."""
FOUND_SECONDS_MAX = 60.0
OURS, THEIRS = "10.203.17.1", "10.203.17.2"
STORE_FILES = 20

pytestmark = [pytest.mark.server, pytest.mark.slow]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The name of a network of its own, with a line between it and ours."""
    name = f"marias-{os.getpid()}"
    line = f"mar{os.getpid()}"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NO NETWORK NAMESPACE CAN BE MADE HERE: {error}")
    try:
        ip("link", "add", line, "type", "veth", "peer", "name", "theirs", "netns", name)
        ip("addr", "add", f"{OURS}/30", "dev", line)
        ip("link", "set", line, "up")
        ip("-n", name, "addr", "add", f"{THEIRS}/30", "dev", "theirs")
        ip("-n", name, "link", "set", "theirs", "up")
        yield name
    finally:
        ip("netns", "del", name)


def memory(push: Push) -> int:
    """Bytes that the process has in memory."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{push.pid}/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def test_clients_that_vanish_without_a_word_are_found(
    launch: Callable[..., Push], writer: Writer, elsewhere: str
) -> None:
    push = launch(12.0, OURS) if COUNT else launch(0.5, OURS, 3.0)
    count = COUNT or 200
    writer.change()
    before = push.files()
    path = f"/v1/tables/{TABLE}/stream"
    command = ["ip", "netns", "exec", elsewhere, sys.executable, "-m", "tests.push.sleepers",
               OURS, str(push.port), path, push.token(ANA), str(count)]
    with subprocess.Popen(command, cwd=sources.ROOT, stdout=subprocess.PIPE, text=True) as sleepers:
        try:
            assert sleepers.stdout is not None
            assert sleepers.stdout.readline() == "open\n"
            opened, full = push.files(), memory(push)
            assert opened >= before + count
            ip("-n", elsewhere, "route", "add", "blackhole", f"{OURS}/32")  # Nothing of theirs comes through.
            cut = time.monotonic()
            while push.files() > before + STORE_FILES and time.monotonic() - cut < FOUND_SECONDS_MAX:
                writer.change()
                time.sleep(0.2)
            found, after = time.monotonic() - cut, memory(push)
        finally:
            sleepers.kill()
    print(f"{count} half-open: files {before} -> {opened} -> {push.files()}, found after {found:.1f} s, "
          f"memory {full / 2**20:.1f} -> {after / 2**20:.1f} MiB")
    assert push.files() <= before + STORE_FILES
    assert after <= full + 8 * 2**20, "what they were sent is not kept for ever"

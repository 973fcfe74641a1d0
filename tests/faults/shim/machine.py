"""A machine whose disk and clock a test steers: `shim.c` loaded into a program, and what a power cut leaves of it."""

import mmap
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("shim.c")
FILES_MAX = 1024
_WORDS = ("clock_seconds", "fsync_milliseconds", "fsync_errno", "write_errno",
          "fsyncs", "fsyncs_failed", "writes_failed", "clock_calls")
_BYTES = 8 * (len(_WORDS) + 2 * FILES_MAX)


@cache
def _made() -> tuple[Path | None, str]:
    """The compiled shim, or None and why there is none."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if sys.platform != "linux":
        return None, "NO FAULTS OF DISK AND CLOCK: they need LD_PRELOAD, that is Linux"
    if compiler is None:
        return None, "NO C COMPILER ON THIS MACHINE: apt install gcc libc6-dev"
    made = Path(tempfile.mkdtemp(prefix="marias-shim-")) / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(made), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"THE SHIM DOES NOT COMPILE HERE: {done.stderr[-500:]}"
    return made, ""


def why_not() -> str | None:
    """Why there can be no such machine here; None when there can."""
    return _made()[1] or None


def library() -> Path:
    """The compiled shim. Skips the test, aloud, where it cannot be made; on CI a skip fails the run."""
    made, why = _made()
    if made is None:
        pytest.skip(why)
    return made


class Machine:
    """The disk and the clock of the programs that are started with `environment`; they may be changed at any time."""

    def __init__(self, folder: Path) -> None:
        self.control = folder / "machine"
        self.control.write_bytes(bytes(_BYTES))
        with self.control.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _BYTES)

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs in its environment to run on this machine."""
        return {"LD_PRELOAD": str(library()), "SHIM_CONTROL": str(self.control)}

    def set(self, **faults: int) -> None:
        """From now on: `clock_seconds` ahead, `fsync_milliseconds` longer, `fsync_errno`, `write_errno`; 0 heals."""
        for name, value in faults.items():
            struct.pack_into("=q", self._memory, 8 * _WORDS.index(name), value)

    def read(self, name: str) -> int:
        """One of the words, such as `fsyncs`: how many were completed."""
        return int(struct.unpack_from("=q", self._memory, 8 * _WORDS.index(name))[0])

    def durable(self) -> dict[int, int]:
        """Inode -> the size that the last completed fsync has covered."""
        words = struct.unpack_from(f"={2 * FILES_MAX}q", self._memory, 8 * len(_WORDS))
        return {inode: size for inode, size in zip(words[::2], words[1::2], strict=True) if inode}


def cut_power(machine: Machine, data: Path, *, torn: random.Random | None = None) -> int:
    """Leave of the files under `data` what was on the disk for sure, and give how many bytes went.

    The program must be dead. With `torn`, a random part of what came after the last fsync reached the disk as well.
    """
    durable, gone = machine.durable(), 0
    for file in sorted(each for each in data.rglob("*") if each.is_file()):
        found = file.stat()
        sure = min(durable.get(found.st_ino, 0), found.st_size)
        kept = sure if torn is None else torn.randint(sure, found.st_size)
        os.truncate(file, kept)
        gone += found.st_size - kept
    return gone

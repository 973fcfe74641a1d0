"""Where heads are kept outside the store: now files, named by a path or `file:`; others have their place here."""

import fcntl
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from services.regular import open_regular

PIECE = 65_536
LINE_MAX = 4 * 1024 * 1024
"""Longer than a line with all the leaves that one may have."""

_log = logging.getLogger(__name__)


class Opened(Protocol):
    """The lines, while nobody else adds one."""

    def last(self) -> bytes:
        """The last line without its end, b"" for none."""

    def append(self, line: bytes) -> None:
        """Add a line with its end. When this returns it will outlive a power cut. Raises OSError."""


class Outside(Protocol):
    """A place that keeps lines and takes none away. `name` tells an operator where it is."""

    name: str

    def opened(self) -> AbstractContextManager[Opened]:
        """Keep others from adding meanwhile. Raises OSError."""

    def lines(self) -> Iterator[bytes]:
        """All lines, the first first, without their ends. Raises OSError."""

    def last(self) -> bytes:
        """The last line without its end, b"" for none; nothing is written. Raises OSError."""


class BadTarget(Exception):
    """The address names no place that this build knows."""


class _OpenFile:
    def __init__(self, number: int) -> None:
        self._number = number

    def last(self) -> bytes:
        return _last_line(self._number)

    def append(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._number, line) :]
        os.fsync(self._number)

    def drop_torn(self) -> None:
        """A line without its end was never told to anybody: the power went, or the disk was full."""
        size = os.fstat(self._number).st_size
        if not size or os.pread(self._number, 1, size - 1) == b"\n":
            return
        end = size
        while end:
            start = max(0, end - PIECE)
            place = os.pread(self._number, end - start, start).rfind(b"\n")
            if place >= 0:
                end = start + place + 1
                break
            end = start
        _log.warning("the last line of the heads was cut off, %d bytes of it are dropped", size - end)
        os.ftruncate(self._number, end)


def _last_line(number: int) -> bytes:
    """The last line of an open file that has an end; what comes after that is passed over."""
    end = os.fstat(number).st_size
    found, whole = b"", b""
    while end and b"\n" not in whole[:-1] and len(found) < LINE_MAX:
        start = max(0, end - PIECE)
        found = os.pread(number, end - start, start) + found
        whole = found[: found.rfind(b"\n") + 1]
        end = start
    if not whole and end:
        return found  # Longer than any of ours: who reads it refuses it.
    return whole[:-1].rpartition(b"\n")[2]


class InFile:
    """Lines in a file that is made when it is needed, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """One process, and in it one thread, at a time."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            file = _OpenFile(number)
            file.drop_torn()
            yield file
        finally:
            os.close(number)

    def lines(self) -> Iterator[bytes]:
        """All lines; one that was cut off is left out. One longer than any of ours is the last, for it is refused."""
        if self.path.exists():
            with open_regular(self.path) as file:
                while line := file.readline(LINE_MAX):
                    if line.endswith(b"\n"):
                        yield line[:-1]
                    elif len(line) == LINE_MAX:
                        yield line
                        return

    def last(self) -> bytes:
        """The last line; one that was cut off is left out."""
        if not self.path.exists():
            return b""
        with open_regular(self.path) as file:
            return _last_line(file.fileno())


_SCHEMES: Mapping[str, Callable[[str], Outside]] = {
    "": lambda address: InFile(Path(address)),
    "file": lambda address: InFile(Path(unquote(urlsplit(address).path))),
}


def outside(address: str) -> Outside:
    """The place with this address. Raises BadTarget."""
    scheme = address.partition(":")[0] if ":" in address else ""
    made = _SCHEMES.get(scheme)
    if made is None:
        raise BadTarget(f"{address}: heads can be kept in a file only, a path or file:///path")
    return made(address)

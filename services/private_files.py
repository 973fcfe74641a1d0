"""Files for their owner alone, each there whole or not at all."""

from pathlib import Path

from services.regular import open_regular
from services.whole_files import force, write

BYTES_MAX = 64 * 1024
"""More than any file of keys, passwords or settings has."""


class BadFile(ValueError):
    """A file does not hold what it should; the message names it and says why."""


def read(path: Path) -> bytes:
    """What is in the file. Raises FileNotFoundError, and BadFile for what is no file or far too large for one."""
    try:
        with open_regular(path) as file:
            found = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from error
    if len(found) > BYTES_MAX:
        raise BadFile(f"{path} is longer than {BYTES_MAX} bytes: it holds something else.")
    return found


def create(path: Path, data: bytes) -> None:
    """Write a new file; one that is there stays: of several processes that try at once, one decides."""
    write(path, data, replaces=False)
    force(path.parent)


def replace(path: Path, data: bytes) -> None:
    """Write the file, in the place of one that is there."""
    write(path, data)
    force(path.parent)

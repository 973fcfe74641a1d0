"""Files for their owner alone, each there whole or not at all, whoever is killed and whenever the power goes."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

NAME_MAX = 200
"""So much of a file's name is in that of its draft."""


@contextmanager
def whole(path: Path, *, replaces: bool = True) -> Iterator[BinaryIO]:
    """What to write to: it takes the name `path` at the end of the block, when all of it is on the disk.

    Not `replaces`: a file that is there stays, so that of several processes that try at once one decides. The name is
    on the disk after `force(path.parent)`. Raises OSError; where the block raises, nothing is left.
    """
    draft = path.with_name(f".{path.name[:NAME_MAX]}.{secrets.token_hex(8)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replaces:
            draft.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink()


def write(path: Path, data: bytes, *, replaces: bool = True) -> None:
    """Write a whole file, as `whole` does."""
    with whole(path, replaces=replaces) as file:
        file.write(data)


def force(folder: Path) -> None:
    """The names in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

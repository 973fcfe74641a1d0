"""Files for their owner alone, each there whole or not at all, whoever is killed and whenever the power goes."""

import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

NAME_MAX = 200
"""So much of a file's name is in that of its draft."""
FEW = 3
"""More files than this are forced to the disk together, and with them what else of their file system waits: a journal
commits once then and not for each, which for 24 files takes a tenth of the time."""


@contextmanager
def whole(path: Path, *, replaces: bool = True) -> Iterator[BinaryIO]:
    """What to write to: it takes the name `path` at the end of the block, when all of it is on the disk.

    Not `replaces`: a file that is there stays, so that of several processes that try at once one decides. The name is
    on the disk after `force(path.parent)`. Raises OSError; where the block raises, nothing is left.
    """
    draft = _draft(path)
    try:
        with _opened(draft) as file:
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


def write_all(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write whole files of one folder, each as `whole` does. Raises OSError; then some may be there, and no drafts."""
    together = len(files) > FEW and sys.platform == "linux"
    drafts: list[tuple[Path, Path]] = []
    try:
        for path, data in files:
            drafts.append((_draft(path), path))
            with _opened(drafts[-1][0]) as file:
                file.write(data)
                if not together:
                    file.flush()
                    os.fsync(file.fileno())
        if together:
            _force_all(files[0][0].parent)
        for draft, path in drafts:
            draft.replace(path)
    except BaseException:
        for draft, _ in drafts:
            with suppress(OSError):
                draft.unlink()
        raise


def force(folder: Path) -> None:
    """The names in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name[:NAME_MAX]}.{secrets.token_hex(8)}")


def _opened(draft: Path) -> BinaryIO:
    return open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _force_all(folder: Path) -> None:
    """All that waits to be written on the file system of `folder`. Raises OSError, also when any of it was lost."""
    import ctypes

    number = os.open(folder, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(number):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(folder))
    finally:
        os.close(number)

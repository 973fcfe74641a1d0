"""Where a command writes what it was asked for: the standard output, or a file that is there whole or not at all."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import click

out_option = click.option(
    "--out", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE",
    help="Write there, whole or not at all, readable by you alone. Default: the standard output.",
)


@contextmanager
def output(path: Path | None) -> Iterator[BinaryIO]:
    """What to write to. A file takes its name only at the end of the block, when all of it is on the disk.

    Raises click.ClickException where it cannot be written.
    """
    if path is None or str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise click.ClickException(f"{path} is there and is no file. Leave --out away to write to the standard output.")
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _force(path.parent)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _force(folder: Path) -> None:
    """The names in a folder to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

"""Where a command writes what it was asked for: the standard output, or a file that is there whole or not at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from services.whole_files import force, whole

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
    try:
        with whole(path) as file:
            yield file
        force(path.parent)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from error

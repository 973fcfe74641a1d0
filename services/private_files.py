"""Files for their owner alone, each there whole or not at all."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def create(path: Path, data: bytes) -> None:
    """Write a new file; one that is there stays: of several processes that try at once, one decides."""
    draft = _draft(path, data)
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def replace(path: Path, data: bytes) -> None:
    """Write the file, in the place of one that is there."""
    _draft(path, data).replace(path)


def _draft(path: Path, data: bytes) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    return draft

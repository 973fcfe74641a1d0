"""Where the files of a table lie in an archive."""

from pathlib import Path

from services.store import keys
from services.store.cold import PastMissing


def home(archive: Path, table: str) -> Path:
    """The folder of a table."""
    return archive / keys.partition_of(table) / table


def demand(archive: Path, what: str) -> None:
    """Raises PastMissing, which says that `what` is archived, where there is no such folder."""
    if not archive.is_dir():
        raise PastMissing(f"{what} archived, and {archive} is not there. Set MARIAS_ARCHIVE to the archive's folder.")

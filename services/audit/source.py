"""Where the entries of a table come from: the files of the archive, then the stream; where both have one, both tell it.

Of a table that is being played a page is read after the other, up to what was its end when that page was read. What is
archived and trimmed meanwhile is looked for in the archive again.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from redis import Redis

from services.archive import folder
from services.archive.folder import File
from services.archive.format import Header, as_it_stands
from services.archive.frames import BadArchive
from services.archive.make import ended_deal
from services.audit.fault import Where, said
from services.regular import open_regular
from services.store import cold, keys
from services.store.cold import PastMissing, RawEntry, version_of
from services.store.wire import fields_of

PAGE = 500


class Placed(NamedTuple):
    """An entry, and the key or file in which it lies. `previous` and `head` are what a file says of the chain before
    its first and at its last entry."""

    entry: RawEntry
    place: str
    previous: str = ""
    head: str = ""


def archived(archive: Path, table: str, after: int = 0, deal: int = 0) -> Iterator[Placed]:
    """The archived entries of a table after version `after`, at which deal number `deal` ended. Raises Found."""
    version, number = after, deal
    for file in [each for each in files(archive, table) if each.last > after]:
        place = str(file.path)
        if file.first != version + 1 or file.deal != number + 1:
            raise _at(table, str(file.path.parent)).found(
                version + 1,
                "file",
                f"deal {number + 1} from version {version + 1} on",
                f"next is deal {file.deal} from version {file.first} on",
            )
        header, entries = _read(table, file)
        for here, entry in enumerate(entries, file.first):
            previous = header.previous if here == file.first else ""
            yield Placed(entry, place, previous, header.head if here == file.last else "")
        version, number = file.last, file.deal


def files(archive: Path, table: str) -> list[File]:
    """The archived deals of a table, the first first. Raises Found."""
    try:
        return folder.files(archive, table)
    except OSError as error:
        raise _at(table, str(archive)).found(1, "file", "a folder that can be read", str(error)) from error


def _read(table: str, file: File) -> tuple[Header, list[RawEntry]]:
    """What is in a file, which must be the very deal that its name tells. Raises Found."""
    where = _at(table, str(file.path))
    try:
        with open_regular(file.path) as packed:
            header, entries = as_it_stands(packed)
    except (BadArchive, OSError) as error:
        field = "sha256" if "SHA-256" in str(error) else "count" if "in a row" in str(error) else "file"
        raise where.found(file.first, field, f"deal {file.deal} of {table}, whole", str(error)) from error
    named = {"table": table, "deal": file.deal, "first": file.first, "last": file.last, "count": len(entries)}
    for field, expected in named.items():
        if getattr(header, field) != expected:
            raise where.found(file.first, field, said(expected), said(getattr(header, field)))
    versions = [version_of(entry) for entry in entries]
    for expected, found in zip(range(file.first, file.last + 1), [*versions, 0], strict=False):
        if expected != found:
            raise where.found(expected, "id", f"{expected}-0", f"{found}-0" if found else "the end of the file")
    for here, entry in enumerate(entries, file.first):
        ended, is_last = _ended_deal(entry), here == file.last
        if ended != (file.deal if is_last else None):
            wanted = f"the end of deal {file.deal}" if is_last else "no end of a deal"
            raise where.found(
                here, "e", wanted, "no end of a deal" if ended is None else f"the end of deal {ended}"
            )
    return header, entries


def _ended_deal(entry: RawEntry) -> int | None:
    try:
        return ended_deal(entry)
    except Exception:  # The walk tells what is wrong with it.
        return None


def with_next(placed: Iterator[Placed]) -> Iterator[tuple[Placed, RawEntry | None]]:
    """Each entry, and the one that comes after it."""
    before: Placed | None = None
    for each in placed:
        if before is not None:
            yield before, each.entry
        before = each
    if before is not None:
        yield before, None


class Source:
    """The entries of one table in order, each once, from the archive (if there is one) and from the store."""

    def __init__(self, redis: Redis, archive: Path | None, table: str) -> None:
        self._redis = redis
        self._archive = archive
        self._table = table
        self._place = keys.events(table)

    def entries(self) -> Iterator[Placed]:
        """Raises Found where the archive is not whole or tells something else, PastMissing, StoreUnavailable."""
        from_files = iter(()) if self._archive is None else archived(self._archive, self._table)
        version = 0
        kept: Placed | None = next(from_files, None)
        while page := cold.entries(self._redis, self._table, version + 1, PAGE):
            for entry in page:
                try:
                    here = version_of(entry)
                except ValueError:
                    here = 0
                while kept is not None and version_of(kept.entry) < here:
                    yield kept
                    version = version_of(kept.entry)
                    kept = next(from_files, None)
                if kept is None and here > version + 1 and self._archive is not None:
                    for missed in archived(self._archive, self._table, version, self._deal_at(version)):
                        if version_of(missed.entry) < here:
                            yield missed
                            version = version_of(missed.entry)
                if kept is not None and version_of(kept.entry) == here:
                    self._compare(kept, entry)
                    kept = next(from_files, None)
                if here > version + 1:
                    self._miss(version + 1)
                yield Placed(entry, self._place)
                version = here
            if len(page) < PAGE:
                break
        if kept is not None:
            raise _at(self._table, self._place).found(
                version_of(kept.entry),
                "id",
                f"{kept.entry[0].decode()}, as archived",
                f"the stream ends at version {version}",
            )

    def _miss(self, version: int) -> None:
        """A version that is in no stream: it should be archived, or it is gone. The walk tells which one is missing."""
        mark = cold.marks(self._redis, [self._table])[0]
        if mark.version < version:
            return
        if self._archive is None or not self._archive.is_dir():
            raise PastMissing(
                f"{self._table}: version {version} is archived. Set MARIAS_ARCHIVE to the archive's folder."
            )
        raise _at(self._table, str(self._archive)).found(
            version, "file", f"deals up to {mark.deal}, version {mark.version}", "no file with this version"
        )

    def _deal_at(self, version: int) -> int:
        """The number of the archived deal that ends at a version."""
        assert self._archive is not None
        return next((each.deal for each in files(self._archive, self._table) if each.last == version), 0)

    def _compare(self, kept: Placed, entry: RawEntry) -> None:
        """The file and the stream must tell the same."""
        if kept.entry[0] == entry[0] and list(kept.entry[1]) == list(entry[1]):
            return
        one, other = fields_of(kept.entry[1]), fields_of(entry[1])
        field = next((name for name in [*other, *one] if one.get(name) != other.get(name)), b"fields")
        raise _at(self._table, self._place).found(
            version_of(entry),
            field.decode(errors="replace"),
            f"{said(one.get(field, b''))} as archived",
            f"{said(other.get(field, b''))} in the stream",
        )


def _at(table: str, place: str) -> Where:
    return Where("archive", table, place)

"""The folder of the archive: `<partition>/<table>/<deal>.<first>-<last>.jsonl.zst`, readable by its owner alone.

A file is there whole or not at all: it is written under another name, forced to the disk, renamed, and the folder
forced to the disk. Names tell the versions, so that none is opened in vain. What projections made of a deal may lie
beside it (`shelf.py`).
"""

import contextlib
import re
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from redis import Redis

from services.archive import shelf
from services.archive.format import Deal, is_whole, linked, pack, read_deal
from services.archive.frames import BadArchive
from services.archive.place import demand, home
from services.regular import open_regular
from services.store import chain, cold, keys, shelved
from services.store.cold import RawEntry, version_of
from services.whole_files import force, write_all

DRAFT_SECONDS_MAX = 3600.0
"""A draft that is older was left by a process that died."""

_NAME = re.compile(r"([0-9]{6,})\.([0-9]+)-([0-9]+)\.jsonl\.zst")


class File(NamedTuple):
    """An archived deal by what its name says."""

    path: Path
    deal: int
    first: int
    last: int


def write(folder: Path, deals: Iterable[Deal]) -> File | None:
    """Put deals of one table into the archive and read them back; gives the last one's file, None for no deal.

    When this returns, all of them are on the disk. Raises BadArchive when one is not what was written; OSError.
    """
    found = list(deals)
    if not found:
        return None
    place = home(folder, found[0].table)
    _make_folders(place, folder)
    _drop_drafts(place)
    packed = {_file(place, deal): pack(deal) for deal in found}
    write_all([(file.path, data) for file, data in packed.items() if not _holds(file.path, data)])
    for file, data in packed.items():
        if not _holds(file.path, data) or not is_whole(data):
            raise BadArchive(f"{file.path}: what was read back is not what was written")
    force(place)
    return next(reversed(packed))


def add(folder: Path, deals: Iterable[Deal]) -> int:
    """Put deals of a table from elsewhere into the archive; gives how many it did not hold.

    Raises BadArchive when it holds another deal in the place of one, or would have a hole; OSError.
    """
    added = 0
    there: dict[int, File] | None = None
    last = 0
    for deal in deals:
        if there is None:
            there = {file.deal: file for file in files(folder, deal.table)}
            last = max((file.last for file in there.values()), default=0)
        if (same := there.get(deal.deal)) is not None:
            if list(read(same).entries) != list(deal.entries):
                raise BadArchive(f"{same.path}: it holds another deal {deal.deal} than the one to be added")
            continue
        if deal.first != last + 1:
            raise BadArchive(f"deal {deal.deal} of {deal.table} does not follow what is in {folder}")
        write(folder, [deal])
        added, last = added + 1, deal.last
    return added


def read(file: File) -> Deal:
    """The deal in a file. Raises BadArchive."""
    try:
        with open_regular(file.path) as packed:
            found = read_deal(packed)
    except BadArchive as error:
        raise BadArchive(f"{file.path}: {error}") from error
    except OSError as error:
        raise BadArchive(f"{file.path}: it cannot be read: {error}") from error
    told = found.table, found.deal, found.first, found.last
    if told != (file.path.parent.name, file.deal, file.first, file.last):
        raise BadArchive(f"{file.path}: it holds deal {found.deal} of {found.table}, {found.first} to {found.last}")
    return found


def head_at(folder: Path, table: str, version: int) -> str:
    """The hash, in the chain of `table`, of the deal that ended at `version` (0: of nothing yet); "": it is not here.

    Files of earlier builds do not tell it: it is counted from the first entry on.
    """
    if not version:
        return chain.text(chain.genesis(table))
    before = [file for file in files(folder, table) if file.last <= version]
    if not before or before[-1].last != version:
        return ""
    if head := read(before[-1]).head:
        return head
    head = chain.text(chain.genesis(table))
    for file in before:
        head = linked(read(file), head).head
    return head


def files(folder: Path, table: str) -> list[File]:
    """The archived deals of a table, the first first. Raises OSError: the folder cannot be read."""
    place = home(folder, table)
    if not place.is_dir():
        return []
    matches = ((path, _NAME.fullmatch(path.name)) for path in place.iterdir())
    found = [File(path, *map(int, match.groups())) for path, match in matches if match]
    return sorted(found, key=lambda file: file.first)


def tables(folder: Path) -> list[str]:
    """The tables of which anything is archived, in order."""
    found = (path for path in folder.glob("[0-9a-f][0-9a-f]/*") if keys.is_table_id(path.name))
    return sorted(path.name for path in found if path.parent.name == keys.partition_of(path.name))


def entries(folder: Path, table: str, first: int, last: int) -> list[RawEntry]:
    """The archived entries of a table from `first` to `last`, in order. Raises PastMissing."""
    demand(folder, f"{table}: versions {first} to {last} are")
    try:
        wanted = [file for file in files(folder, table) if file.last >= first and file.first <= last]
        return [entry for file in wanted for entry in read(file).entries if first <= version_of(entry) <= last]
    except (BadArchive, OSError) as error:
        raise cold.PastMissing(f"{table}: versions {first} to {last} cannot be read: {error}") from error


def attach(redis: Redis, folder: Path | None) -> None:
    """From now on what `redis` no longer has of a table is read in `folder`, if there is one."""
    if folder is not None:
        cold.attach(redis, partial(entries, folder))
        shelved.attach(redis, partial(shelf.read, folder))


def faults(folder: Path) -> Iterator[str]:
    """What is wrong with the archive, in the order of tables and deals; nothing when all of it is whole."""
    for table in tables(folder):
        version, number, head = 0, 0, chain.text(chain.genesis(table))
        for file in files(folder, table):
            try:
                deal = read(file)
            except BadArchive as error:
                yield str(error)
            else:
                if deal.first != version + 1 or deal.deal != number + 1:
                    yield f"{file.path}: deal {number + 1} from version {version + 1} on is missing before it"
                elif deal.previous and head and deal.previous != head:
                    yield f"{file.path}: its chain does not go on where that of the deal before ends (previous)"
                head = deal.head
            version, number = file.last, file.deal
        yield from shelf.faults(folder, table)


def _file(place: Path, deal: Deal) -> File:
    return File(place / f"{deal.deal:06d}.{deal.first}-{deal.last}.jsonl.zst", deal.deal, deal.first, deal.last)


def _make_folders(place: Path, folder: Path) -> None:
    for path in (folder, place.parent, place):
        if not path.is_dir():
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            force(path.parent)


def _holds(path: Path, packed: bytes) -> bool:
    """Is this very file there: read back, or written by a process that died before it could say so?"""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes() == packed
    return False


def _drop_drafts(place: Path) -> None:
    for draft in place.glob(".*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - draft.stat().st_mtime > DRAFT_SECONDS_MAX:
                draft.unlink()

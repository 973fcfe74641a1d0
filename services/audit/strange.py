"""What lies where a table or an account should lie, and is none: folders of the archive, keys of the store.

Whatever is not looked for would be passed by: a table whose folder or stream was moved elsewhere, one more beside it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from services.audit.fault import Fault, Where, said
from services.store import keys

_PARTITION: Final = re.compile(r"[0-9a-f]{2}")


def in_archive(archive: Path, only: str = "") -> Iterator[Fault]:
    """The faults of the folders of an archive, or of `only` one table. Raises OSError: the archive itself is unread."""
    for name in sorted(os.listdir(archive)):
        place = archive / name
        if keys.is_table_id(name) and only in ("", name):
            yield _moved(archive, place)
        if not _PARTITION.fullmatch(name):
            continue
        found, unread = _listed(place)
        if unread:
            yield _folder(place, "", unread)
        for table in [each for each in found if keys.is_table_id(each) and only in ("", each)]:
            if keys.partition_of(table) != name:
                yield _moved(archive, place / table)
            elif unread := _listed(place / table)[1]:
                yield _folder(place / table, table, unread)


def in_store(streams: Iterable[str], listed: Iterable[tuple[str, str]]) -> Iterator[Fault]:
    """The faults of keys of streams, and of the (partition, table) that are listed."""
    for key in sorted(streams):
        table = key.rpartition(":")[2]
        if not keys.is_table_id(table) or keys.events(table) != key:
            yield _at("versions", table, key).fault(0, "key", "a stream of a table, in its partition", said(key))
    for partition, table in listed:
        if not keys.is_table_id(table) or keys.partition_of(table) != partition:
            place = keys.tables(partition)
            yield _at("versions", table, place).fault(0, said(table), "tables of this partition alone", "another")


def of_accounts(found: Iterable[str]) -> Iterator[Fault]:
    """The faults of keys of accounts: each lies in the partition of its player."""
    for key in sorted(found):
        _, part, _, account = key.split(":", 3)
        if part != f"{{p{keys.partition_of(account)}}}":
            yield Where("bank", account, key).fault(0, "key", "an account in its partition", said(key))


def _moved(archive: Path, place: Path) -> Fault:
    table = place.name
    there = archive / keys.partition_of(table) / table
    return _at("archive", table, str(place)).fault(0, "file", str(there), str(place))


def _folder(place: Path, table: str, unread: str) -> Fault:
    return _at("archive", table, str(place)).fault(0, "file", "a folder that can be read", unread)


def _listed(folder: Path) -> tuple[list[str], str]:
    """What is in a folder, in order, or why that cannot be told."""
    try:
        return sorted(os.listdir(folder)), ""
    except OSError as error:
        return [], str(error)


def _at(check: str, table: str, place: str) -> Where:
    return Where(check, table if keys.is_table_id(table) else "", place)

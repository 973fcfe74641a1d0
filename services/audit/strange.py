"""What lies where a table or an account should lie, and is none: folders of the archive, keys of the store.

Whatever is not looked for would be passed by: a table whose folder or stream was moved elsewhere, one more beside it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import ResponseError

from services.archive.place import home
from services.audit.fault import Fault, Where, said, wrong_type
from services.store import keys
from services.store.rebuilding import scan_fields
from services.store.wire import Request, ask_many

_PARTITION: Final = re.compile(r"[0-9a-f]{2}")
_KEY: Final = re.compile(
    r"(?:m:\{p(?P<partition>..)\}:(?:ev|vw|fd|sn)|pj:\{p(?P<other>..)\}:(?:bank|fold|rec|sec)|m:\{deals\}:of)"
    r":(?P<table>.*)", re.DOTALL,
)


def in_archive(archive: Path, only: str = "") -> Iterator[Fault]:
    """The faults of the folders of an archive, or of `only` one table. Raises OSError: the archive itself is unread."""
    for name in sorted(os.listdir(archive)) if archive.exists() else ():
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


def of_tables(names: Iterable[str]) -> tuple[set[str], list[str]]:
    """The tables that keys of a store are of, whatever these hold, and the keys that are of none, or lie elsewhere.

    Receipts and what is reserved for them do not count: there are some of a table that is still to be opened.
    """
    tables, strange = set[str](), list[str]()
    for found in filter(None, map(_KEY.fullmatch, names)):
        partition, table = found["partition"] or found["other"], found["table"]
        if keys.is_table_id(table) and partition in (None, keys.partition_of(table)):
            tables.add(table)
        else:
            strange.append(found[0])
    return tables, strange


def in_store(strange: Iterable[str], listed: Iterable[tuple[str, str]]) -> Iterator[Fault]:
    """The faults of keys that are `strange`, and of the (partition, table) that are listed."""
    for key in sorted(strange):
        table = key.rpartition(":")[2]
        yield _at("versions", table, key).fault(0, "key", "a key of a table, in its partition", said(key))
    for partition, table in listed:
        if not keys.is_table_id(table) or keys.partition_of(table) != partition:
            place = keys.tables(partition)
            yield _at("versions", table, place).fault(0, said(table), "tables of this partition alone", "another")


def of_other_types(redis: Redis, partitions: Iterable[str]) -> list[Fault]:
    """The faults of keys that many tables share and that are not of their types: nothing else can be read then."""
    probes: list[Request] = [
        ("HGET", keys.lobby(), ""), ("HGET", keys.lobby_versions(), ""), ("ZSCORE", keys.lobby_order(), ""),
    ]
    for each in partitions:
        probes += [("HGET", key(each), "") for key in (keys.archived, keys.handled, keys.frozen, keys.buy_ins)]
        probes += [("SISMEMBER", keys.tables(each), ""), ("XLEN", keys.log(each))]
    replies = ask_many(redis, probes)
    return [
        _at("versions", "", str(probe[1])).fault(0, "type", "the type that this key has", wrong_type(reply))
        for probe, reply in zip(probes, replies, strict=True) if isinstance(reply, ResponseError)
    ]


def in_lobby(redis: Redis) -> Iterator[str]:
    """Every table of which the lobby has a row, or once had one; some may come twice."""
    for key in (keys.lobby(), keys.lobby_versions()):
        yield from (field.decode(errors="backslashreplace") for field, _ in scan_fields(redis, key))


def of_accounts(found: Iterable[str]) -> Iterator[Fault]:
    """The faults of keys of accounts: each lies in the partition of its player."""
    for key in sorted(found):
        _, part, _, account = key.split(":", 3)
        if part != f"{{p{keys.partition_of(account)}}}":
            yield Where("bank", account, key).fault(0, "key", "an account in its partition", said(key))


def _moved(archive: Path, place: Path) -> Fault:
    table = place.name
    return _at("archive", table, str(place)).fault(0, "file", str(home(archive, table)), str(place))


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

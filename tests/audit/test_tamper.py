"""Whatever is changed behind our back is found, and named by table, version and field.

Of each kind of thing and kind of change one row is done, the same each time; `MARIAS_TAMPER=all` does every row.
"""

import os
import zlib
from collections.abc import Iterable

from services.audit.fault import Fault
from tests.audit import tampers, tampers_files, tampers_log, tampers_shelf, tampers_store
from tests.audit.conftest import contents, put_back
from tests.audit.tampers import Place, Row
from tests.audit.town import Town


def sampled(rows: Iterable[Row]) -> list[Row]:
    """One row of each kind of thing and kind of change, which its first word tells; or all."""
    every = list(rows)
    if os.environ.get("MARIAS_TAMPER") == "all":
        return every
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in every:
        groups.setdefault((row.kind, row.what.partition(" ")[0]), []).append(row)
    return [rows[zlib.crc32("".join(name).encode()) % len(rows)] for name, rows in groups.items()]


def check(town: Town, rows: Iterable[Row]) -> None:
    """Do what each row says, audit, and put it right again; all of it must be found where the row says."""
    kept, wrong = contents(town.redis), list[str]()
    town.audited_accounts()
    for row in sampled(rows):
        place = row.do(town)
        try:
            faults = found_at(town, row, place)
        except Exception as error:
            faults = [Fault(check="", version=0, field="", expected="a report", found=repr(error), place="")]
        put_back(town.redis, kept)
        town.put_files_back()
        if place.field == "harmless":
            wrong += [f"{row.kind}: {row.what}: {each.line()}" for each in faults]
        elif not faults:
            wrong.append(f"{row.kind}: {row.what}: NOT FOUND, expected at {place}")
        elif not is_named(faults, place) or not is_of_the_log(row, faults):
            found = "; ".join(each.line() for each in faults[:3])
            wrong.append(f"{row.kind}: {row.what}: expected at {place}, found {found}")
    assert not wrong, "\n".join(wrong)


def found_at(town: Town, row: Row, place: Place) -> list[Fault]:
    """The faults of what was changed: a table with all that belongs to it, the log, or the accounts."""
    if place.whose.startswith("t-"):
        return town.audited(only=place.whose).faults
    return town.audited_log() if row.kind.startswith("log") else town.audited_accounts()


def is_of_the_log(row: Row, faults: list[Fault]) -> bool:
    """Does the log tell it, where a row is about that?"""
    return not row.kind.startswith("log") or any(each.check == "log" for each in faults)


def is_named(faults, place: Place) -> bool:
    """Is the first fault of this table or account at the place?"""
    own = [each for each in faults if place.whose in (each.table, each.account, "")] if place.whose else faults
    return bool(own) and place.version in (-1, own[0].version) and any(
        own[0].field.startswith(field) for field in place.field.split("|")
    )


def test_whatever_is_changed_in_a_stream_is_found(town: Town) -> None:
    check(town, tampers.stream_rows())


def test_whatever_is_changed_in_the_archive_is_found(town: Town) -> None:
    check(town, tampers_files.rows())


def test_whatever_is_changed_of_what_has_left_the_store_is_found(town: Town) -> None:
    check(town, tampers_shelf.rows())


def test_whatever_is_changed_of_what_was_made_is_found(town: Town) -> None:
    check(town, list(tampers_store.rows(town)))


def test_whatever_is_changed_in_the_log_of_deals_is_found(town: Town) -> None:
    check(town, list(tampers_log.rows(town)))


def test_a_forger_who_makes_the_hashes_anew_is_found(town: Town) -> None:
    check(town, tampers.forger_rows())

"""A whole audit: the tables one after the other, then the accounts and scores; it may be stopped and gone on with."""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain as joined
from pathlib import Path
from typing import Any, Final, NamedTuple

from redis import Redis

from services.archive import folder
from services.audit.accounts import Bank
from services.audit.fault import Fault
from services.audit.log import Kept, of_lines, of_store
from services.audit.notes import Notes
from services.audit.own_leaves import of_table
from services.audit.scores import Scores
from services.audit.shuffle import OpenKey
from services.audit.strange import in_archive, in_lobby, in_store, of_other_types, of_tables
from services.audit.table import audit_archived, audit_table
from services.audit.transfers import unposted
from services.store import history, keys, log_keys
from services.store.cold import PastMissing
from services.store.rebuilding import key_names

FORMAT: Final = "marias-audit/1"

Progress = Callable[[str, int, int], None]
"""Told what is looked at, how much of it is done, and of how much."""


class Report(NamedTuple):
    """What an audit has found. `unchecked` says what was not checked, and how often; `missing` what could not be read.

    `seconds` are those of this run alone; `started` and `ended` are ms since the epoch.
    """

    subject: str
    tables: int
    entries: int
    deals: int
    accounts: int
    postings: int
    faults: list[Fault]
    unchecked: dict[str, int]
    missing: list[str]
    started: int
    ended: int
    seconds: float

    @property
    def is_clean(self) -> bool:
        """Was everything that could be read without a fault?"""
        return not self.faults

    def document(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "format": FORMAT,
            "subject": self.subject,
            "ok": self.is_clean and not self.missing,
            "tables": self.tables,
            "entries": self.entries,
            "deals": self.deals,
            "accounts": self.accounts,
            "postings": self.postings,
            "faults": [_row(each) for each in self.faults],
            "unchecked": self.unchecked,
            "missing": self.missing,
            "started": self.started,
            "ended": self.ended,
            "seconds": round(self.seconds, 3),
        }


def _row(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in fault.__struct_fields__}


class Installation(NamedTuple):
    """What is audited: a store, the folder of its archive if it is here, and all partitions. `open_key` opens the
    sealed keys of deals, where the auditor's private key is at hand; `kept` are the heads of the log outside."""

    redis: Redis
    archive: Path | None
    partitions: Sequence[str]
    open_key: OpenKey | None = None
    kept: Kept | None = None


def audit(
    installation: Installation,
    notes: Notes,
    progress: Progress,
    *,
    only: str = "",
    pause: Callable[[float], None] = lambda _: None,
) -> Report:
    """Audit all tables, accounts and scores, or `only` one table. Nothing is written to the store.

    `pause` is called after each table with the seconds that it took. Raises StoreUnavailable; then, as after Ctrl-C,
    `notes` know what was done.
    """
    began, started = time.monotonic(), _started(notes)
    redis, archive, partitions, open_key, kept = installation
    if wrong := of_other_types(redis, [keys.partition_of(only)] if only else partitions):
        with notes.whole():
            notes.skip("everything else, as keys that all of it shares are of other types")
            for fault in wrong:
                notes.add_fault(fault)
        return _report(notes, None, [], started, time.monotonic() - began)
    listed = [] if only else _listed(redis, partitions)
    told, strange = (set[str](), list[str]()) if only else of_tables(key_names(redis, "*:*"))
    tables = [only] if only else _tables(redis, archive, told | {table for _, table in listed})
    done, missing = notes.done(), list[str]()
    if not notes.fact("log"):
        progress("log of finished deals", 0, 1)
        read_log(redis, kept, notes, only)
    _note_strange(notes, archive, only, in_store(strange, listed))
    for number, table in enumerate(tables):
        progress("tables", number, len(tables))
        if table in done:
            continue
        looked = time.monotonic()
        try:
            found = audit_table(redis, archive, table, open_key, notes.leaves(table))
        except PastMissing as error:
            missing.append(str(error))
            continue
        notes.add(found)
        if only:
            for fault in unposted(redis, table, found.moved):
                notes.add_fault(fault)
        pause(time.monotonic() - looked)
    progress("tables", len(tables), len(tables))
    bank = Bank(redis, notes, partitions)
    if not only:
        progress("accounts and scores", 0, 1)
        with notes.whole():
            for fault in accounts_faults(bank, Scores(redis, notes)):
                notes.add_fault(fault)
    return _report(notes, bank, missing, started, time.monotonic() - began)


def read_log(redis: Redis, kept: Kept | None, notes: Notes, only: str = "") -> None:
    """Note the log and its faults, or of `only` one table its own leaves.

    It is read before the tables: these only grow, and have every deal that it tells.
    """
    notes.begin_log()
    if kept is None:
        notes.skip("the signed heads of the log outside the store")
    if only:
        size, others = of_table(redis, kept, only, notes)
        notes.end_log(size, log_keys.leaves(), others)
        return
    last, faults = of_lines(kept, notes, note_leaves=False) if kept else (None, [])
    size, others = of_store(redis, kept, last, notes)
    notes.end_log(size, log_keys.leaves(), [*faults, *others])


def accounts_faults(bank: Bank, scores: Scores) -> list[Fault]:
    """What is wrong with accounts and scores, once the tables are audited."""
    return [*bank.audit(), *scores.audit()]


def read_heads(kept: Kept, notes: Notes) -> None:
    """Note the log as the heads outside tell it, for the audit of an archive by itself."""
    if not notes.fact("log"):
        notes.begin_log()
        last, faults = of_lines(kept, notes, note_leaves=True)
        notes.end_log(last.size if last else 0, kept.outside.name, faults)


def audit_folder(
    archive: Path, notes: Notes, progress: Progress, *, only: str = "", open_key: OpenKey | None = None
) -> Report:
    """Audit an archive by itself, without any store; with the log if `read_heads` has noted that."""
    began, started = time.monotonic(), _started(notes)
    tables: Iterable[str] = [only] if only else folder.tables(archive)
    done, every = notes.done(), list(tables)
    _note_strange(notes, archive, only)
    for number, table in enumerate(every):
        progress("tables", number, len(every))
        if table not in done:
            notes.add(audit_archived(archive, table, open_key, notes.leaves(table)))
    progress("tables", len(every), len(every))
    missing = [f"{table}: {deals}, in the log and not (yet) in {archive}" for table, deals in notes.unread(only)]
    return _report(notes, None, missing, started, time.monotonic() - began)


def _note_strange(notes: Notes, archive: Path | None, only: str, others: Iterable[Fault] = ()) -> None:
    """What lies where nothing should, once for each audit."""
    if not notes.fact("strange"):
        with notes.whole():
            for fault in joined(in_archive(archive, only) if archive is not None else (), others):
                notes.add_fault(fault)
            notes.set_fact("strange", "noted")


def _tables(redis: Redis, archive: Path | None, told: set[str]) -> list[str]:
    """Every table that is `told` of, in the lobby, or archived: what is missing in one place shows in another."""
    archived = set(folder.tables(archive)) if archive is not None else set()
    return sorted(table for table in told.union(archived, in_lobby(redis)) if keys.is_table_id(table))


def _listed(redis: Redis, partitions: Sequence[str]) -> list[tuple[str, str]]:
    return [(partition, table) for partition in partitions for table in history.tables_of(redis, partition)]


def _started(notes: Notes) -> int:
    """When the audit began, also if it was another process that began it."""
    if not notes.fact("started"):
        notes.set_fact("started", str(int(time.time() * 1000)))
    return int(notes.fact("started"))


def _report(notes: Notes, bank: Bank | None, missing: list[str], started: int, seconds: float) -> Report:
    totals = notes.totals
    return Report(
        notes.fact("subject"),
        totals.tables,
        totals.entries,
        totals.deals,
        bank.accounts if bank else 0,
        bank.postings if bank else 0,
        notes.faults,
        notes.unchecked,
        missing,
        started,
        int(time.time() * 1000),
        seconds,
    )

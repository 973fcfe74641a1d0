"""What an audit has seen so far, in one file: so that it goes on where it was stopped, and needs no memory for it.

Each table is written whole or not at all; a broken-off audit asks again for the table it was at.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from services.audit.fault import Fault
from services.audit.logged import Leaves
from services.audit.projected import Scored
from services.audit.table import Audited
from services.audit.walk import Chips
from services.regular import open_regular
from services.transparency.leaves import Told as Leaf

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tables (
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, deals INTEGER NOT NULL, at_seats INTEGER NOT NULL,
  broken INTEGER NOT NULL, projected INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chips (
  transfer TEXT PRIMARY KEY, tbl TEXT NOT NULL, version INTEGER NOT NULL, player TEXT NOT NULL,
  chips INTEGER NOT NULL, deal INTEGER, posted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scored (
  player TEXT NOT NULL, tbl TEXT NOT NULL, postings INTEGER NOT NULL, chips INTEGER NOT NULL,
  PRIMARY KEY (player, tbl)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leaves (
  tbl TEXT NOT NULL, deal INTEGER NOT NULL, place INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  head TEXT NOT NULL, PRIMARY KEY (tbl, deal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS faults (number INTEGER PRIMARY KEY, fault BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS unchecked (what TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
"""
_MAGIC = b"SQLite format 3\0"
"""How every state begins."""


class NotOurs(Exception):
    """The file is no state of an audit, or of another one; the message tells."""


class Totals(NamedTuple):
    """How much was looked at."""

    tables: int
    entries: int
    deals: int
    at_seats: int
    broken: int


class Notes:
    """The notes of one audit in `file` (None: in memory), about `subject`: what is audited, in a word."""

    def __init__(self, file: Path | None, subject: str) -> None:
        """Raises NotOurs."""
        self.file = file
        try:
            self._base = sqlite3.connect(":memory:" if file is None else file, isolation_level=None)
        except sqlite3.Error as error:
            raise NotOurs(f"{file} cannot be the state of an audit: {error}") from error
        try:
            known = self._known(subject)
        except BaseException:
            self._base.close()
            raise
        self.is_resumed = known != ""
        self.set_fact("subject", subject)

    def _known(self, subject: str) -> str:
        """What this file was about so far; "" if it is new. Raises NotOurs."""
        try:
            made = {row[0] for row in self._base.execute("SELECT name FROM sqlite_master")}
            if made and "facts" not in made:
                raise NotOurs(f"{self.file} is not the state of an audit: it is a database of something else")
            self._base.execute("PRAGMA synchronous = OFF")
            self._base.executescript(_SCHEMA)
            known = self.fact("subject")
        except sqlite3.DatabaseError as error:
            raise NotOurs(f"{self.file} is not the state of an audit: {error}") from error
        if known not in ("", subject):
            raise NotOurs(f"{self.file} is the state of an audit of {known}, not of {subject}. "
                          "Take another --resume file, or begin anew with --fresh.")
        return known

    @staticmethod
    def begin_anew(file: Path) -> None:
        """Delete what an earlier audit has left in `file`. Raises NotOurs: it holds something else, and stays."""
        try:
            with open_regular(file) as found:
                if found.read(len(_MAGIC)) not in (b"", _MAGIC):
                    raise NotOurs(f"{file} is not the state of an audit, and stays as it is")
            file.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            raise NotOurs(f"{file} cannot be begun anew: {error.strerror}") from error

    def close(self, *, is_done: bool) -> None:
        """Let go of the file; it is needed no more once the audit `is_done`."""
        self._base.close()
        if is_done and self.file is not None:
            self.file.unlink(missing_ok=True)

    def fact(self, name: str) -> str:
        """Something remembered by name; "" if it is not."""
        row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row else ""

    def set_fact(self, name: str, value: str) -> None:
        """Remember something by name."""
        self._base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What is noted within is noted together, or not at all: a step to the disk for each line costs far more."""
        self._base.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def add(self, found: Audited) -> None:
        """A table is audited."""
        table = found.table
        with self.whole():
            self._base.execute(
                "INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?, ?, ?)",
                (table, found.version, found.deals, found.at_seats, bool(found.faults), found.projected),
            )
            for transfer, version, player, chips, deal in found.moved:
                self._base.execute(
                    "INSERT OR REPLACE INTO chips VALUES (?, ?, ?, ?, ?, ?, 0)",
                    (transfer, table, version, player, chips, deal),
                )
            for player, postings, chips in found.scored:
                self._base.execute(
                    "INSERT OR REPLACE INTO scored VALUES (?, ?, ?, ?)", (player, table, postings, chips)
                )
            for fault in found.faults:
                self.add_fault(fault)
            for what, times in found.unchecked.items():
                self.skip(what, times)

    def add_fault(self, fault: Fault) -> None:
        """A fault was found."""
        self._base.execute("INSERT INTO faults (fault) VALUES (?)", (msgspec.json.encode(fault),))

    def begin_log(self) -> None:
        """The log is read from its first leaf on, also when that was broken off before."""
        self._base.execute("DELETE FROM leaves")

    def add_leaves(self, first: int, leaves: Sequence[Leaf]) -> Leaf | None:
        """The log has these leaves from index `first` on. Gives the first of a deal that has one already."""
        self._base.execute("BEGIN")
        try:
            for place, leaf in enumerate(leaves, first):
                row = (leaf.table, leaf.deal, place, leaf.first, leaf.last, leaf.head)
                if not self._base.execute("INSERT OR IGNORE INTO leaves VALUES (?, ?, ?, ?, ?, ?)", row).rowcount:
                    return leaf
        finally:
            self._base.execute("COMMIT")
        return None

    def end_log(self, size: int, place: str, faults: Sequence[Fault]) -> None:
        """The log of `size` leaves is read whole, from `place`."""
        with self.whole():
            for fault in faults:
                self.add_fault(fault)
            self.set_fact("leaves", str(size))
            self.set_fact("log", place)

    def leaves(self, table: str) -> Leaves:
        """The leaves of a table."""
        rows = self._base.execute("SELECT deal, place, first, last, head FROM leaves WHERE tbl = ?", (table,))
        found = {deal: (place, Leaf(table, deal, first, last, head)) for deal, place, first, last, head in rows}
        return Leaves(found, int(self.fact("leaves") or 0), self.fact("log"))

    def unread(self, only: str = "") -> list[tuple[str, str]]:
        """The tables, or `only` one, whose leaves tell deals behind the last entry that was read, with these deals."""
        rows = self._base.execute(
            "SELECT tbl, min(l.deal), max(l.deal) FROM leaves l LEFT JOIN tables ON name = tbl"
            " WHERE (name IS NULL OR (NOT broken AND l.last > version)) AND ? IN ('', tbl) GROUP BY tbl", (only,)
        )
        return [(table, f"deals {first} to {last}" if last > first else f"deal {first}") for table, first, last in rows]

    def skip(self, what: str, times: int = 1) -> None:
        """Something was not checked."""
        self._base.execute(
            "INSERT INTO unchecked VALUES (?, ?) ON CONFLICT (what) DO UPDATE SET times = times + ?",
            (what, times, times),
        )

    def begin_accounts(self) -> None:
        """The accounts are looked at from the first one on, also when that was broken off before."""
        self._base.execute("UPDATE chips SET posted = 0")
        self._base.execute("DELETE FROM faults WHERE json_extract(fault, '$.account') != ''")

    @property
    def faults(self) -> list[Fault]:
        """All faults, in the order in which they were found."""
        rows = self._base.execute("SELECT fault FROM faults ORDER BY number")
        return [msgspec.json.decode(row[0], type=Fault) for row in rows]

    @property
    def unchecked(self) -> dict[str, int]:
        """What was not checked, and how often."""
        return dict(self._base.execute("SELECT what, times FROM unchecked").fetchall())

    @property
    def totals(self) -> Totals:
        """How much was looked at so far."""
        row = self._base.execute(
            "SELECT count(*), total(version), total(deals), total(at_seats), total(broken) FROM tables"
        ).fetchone()
        return Totals(*map(int, row))

    def done(self) -> set[str]:
        """The tables that are audited."""
        return {row[0] for row in self._base.execute("SELECT name FROM tables")}

    def version(self, table: str) -> int | None:
        """Up to where a table is audited; -1: it is broken, None: it is not known."""
        row = self._base.execute("SELECT version, broken FROM tables WHERE name = ?", (table,)).fetchone()
        return None if row is None else -1 if row[1] else int(row[0])

    def projected(self, table: str) -> int | None:
        """Up to where the projections of a table were compared; -1: it is broken, None: it is not known."""
        row = self._base.execute("SELECT projected, broken FROM tables WHERE name = ?", (table,)).fetchone()
        return None if row is None else -1 if row[1] else int(row[0])

    def take_chips(self, transfer: str) -> tuple[str, Chips] | None:
        """The table's side of a transfer, with the table; it is then known to be posted."""
        row = self._base.execute(
            "UPDATE chips SET posted = posted + 1 WHERE transfer = ? RETURNING tbl, version, player, chips, deal",
            (transfer,),
        ).fetchone()
        return None if row is None else (row[0], Chips(transfer, *row[1:]))

    def unposted(self) -> Iterator[tuple[str, Chips]]:
        """The transfers of sound tables that no account knows, with their tables."""
        rows: Sequence[tuple[str, str, int, str, int, int | None]] = self._base.execute(
            "SELECT tbl, transfer, c.version, player, chips, deal FROM chips c JOIN tables ON name = tbl"
            " WHERE posted = 0 AND NOT broken"
        ).fetchall()
        for table, transfer, version, player, chips, deal in rows:
            yield table, Chips(transfer, version, player, chips, deal)

    def scores(self) -> dict[str, Scored]:
        """What all sound tables together have posted to each player's score."""
        rows = self._base.execute(
            "SELECT player, total(postings), total(s.chips) FROM scored s JOIN tables ON name = tbl"
            " WHERE NOT broken GROUP BY player"
        )
        return {row[0]: Scored(row[0], int(row[1]), int(row[2])) for row in rows}

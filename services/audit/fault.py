"""What an audit finds: the exact place of a fault, what should stand there, and what does.

The checks by their names:

- `versions`: the entries of a table are 1, 2, 3, … and each has the fields of one
- `archive`: each file is whole, is the deal that its name tells, and says what the stream says
- `legality`: each command, made again from its events, is allowed and causes these very events
- `hash`: each entry carries the hash of itself and of the one before it
- `log`: each finished deal is in the log as it was, and the log is the one whose heads were signed
- `shuffle`: the deck is the one that the sealed key gives (needs the auditor's key)
- `points`: points, counted again from the tricks
- `payments`: payments are zero together, and chips at the seats are what was brought, won and returned
- `view`: the current view of each seat
- `feed`: what the feed still tells to each seat
- `snapshot`: the snapshot
- `receipts`: each receipt says what was written, and what was written has its receipt
- `projections`: bank, records, sealed records, lobby row and scores
- `bank`: accounts, postings and transfers, against the tables and against each other
- `conservation`: all accounts and tables together hold no chip more or less than before
"""

from typing import Final, NamedTuple

import msgspec
from redis.exceptions import ResponseError

SHOWN_MAX: Final = 300


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault. `version` 0: it belongs to no entry; `field` as it is called in the store, a dot before what is inside
    of it; `place` is a key of the store or a file. `account` where it is one and not a table."""

    check: str
    version: int
    field: str
    expected: str
    found: str
    place: str
    table: str = ""
    account: str = ""

    def line(self) -> str:
        """The fault in a line of words."""
        at = f" at version {self.version}" if self.version else ""
        whose = self.table or self.account or {"log": "the log of deals", "archive": "the archive"}.get(
            self.check, "the store")
        return (
            f"{whose}{at}, {self.field} of {self.place}: expected {self.expected},"
            f" found {self.found} ({self.check})"
        )


class Where(NamedTuple):
    """The key or file `place` of a table or an account, and what is checked there."""

    check: str
    whose: str
    place: str

    def fault(self, version: int, field: str, expected: str, found: str) -> Fault:
        """A fault there."""
        names = {"table" if self.whose.startswith("t-") else "account": self.whose}
        return Fault(
            check=self.check, version=version, field=field, expected=expected, found=found, place=self.place, **names
        )

    def found(self, version: int, field: str, expected: str, found: str) -> "Found":
        """The same, to be raised: nothing behind it can be relied on."""
        return Found(self.fault(version, field, expected, found))


class Found(Exception):
    """A fault, behind which nothing of the same table can be relied on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.line())
        self.fault = fault


def wrong_type(error: ResponseError) -> str:
    """What the store says of a key that somebody has put in the place of another. Raises any other error."""
    if not str(error).startswith("WRONGTYPE"):
        raise error
    return str(error)


def said(value: object) -> str:
    """A value as a report shows it, cut where it is long."""
    if isinstance(value, bytes):
        text = value.decode(errors="backslashreplace")
    elif isinstance(value, str):
        text = value
    else:
        try:
            text = msgspec.json.encode(value).decode()
        except TypeError:
            text = repr(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}… ({len(text)} characters)"


def apart(expected: bytes, found: bytes) -> tuple[str, str]:
    """Two long texts as a report shows them: from a little before the first place where they differ."""
    same = next(
        (n for n, (one, other) in enumerate(zip(expected, found, strict=False)) if one != other),
        min(len(expected), len(found)),
    )
    start = max(0, same - 40)
    cut = "…" if start else ""
    return cut + said(expected[start : start + 120]), cut + said(found[start : start + 120])

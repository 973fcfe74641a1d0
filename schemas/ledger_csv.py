"""Postings as CSV (RFC 4180), for those who keep books elsewhere: UTF-8, lines end in CR LF, numbers whole and exact.

A cell of text that a spreadsheet would take for a formula begins with an apostrophe, as a player may call himself
`=1+1`. Numbers are written as they are, also negative ones.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from schemas.times import rfc3339

COLUMNS: Final = ("player", "name", "account", "id", "chips", "balance", "table", "deal", "version", "at")
MEDIA_TYPE: Final = "text/csv; charset=utf-8; header=present"
_FORMULAS: Final = tuple("=+-@\t\r\n|%＝＋－＠")  # The wide forms too: a spreadsheet may narrow them.


class Line(NamedTuple):
    """A posting in its account: `chips` came (+) or went (-), and then the account held `balance`.

    `account` is `score` (free tables), `chips` (a player's account) or `table` (what lies at a seat under stake
    bankroll). `at` is ms since the epoch. A bot has no `player`. `table`, `deal` and `version` are None where the
    posting has none.
    """

    player: str
    name: str
    account: str
    id: str
    chips: int
    balance: int
    table: str | None
    deal: int | None
    version: int | None
    at: int


def header() -> bytes:
    """The first line."""
    return _written(COLUMNS)


def csv_lines(lines: Iterable[Line]) -> Iterator[bytes]:
    """Each posting as a line, without the header."""
    for line in lines:
        yield _written(map(_cell, line._replace(at=rfc3339(line.at))))  # type: ignore[arg-type]  # Written at once.


def _cell(value: str | int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    return f"'{value}" if value.startswith(_FORMULAS) else value


def _written(cells: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()

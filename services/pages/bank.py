"""The page of a table's chips: what lies at each seat, what each deal paid, and the event it comes from."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from services.pages.chips import Row, dots_html, rows_html
from services.pages.frames import names_in
from services.pages.plot import SIZES, Standing, plot
from services.pages.rendering import Page, render

ROWS_MAX = 50


class Paid(NamedTuple):
    """What a deal paid by seat; `version`, `at` (RFC 3339), the `balances` after it and who sat there, as a view has
    its `seats`, where the books tell them."""

    deal: int
    payments: tuple[int, ...]
    version: int | None = None
    at: str | None = None
    balances: tuple[int, ...] | None = None
    seats: tuple[dict[str, Any] | None, ...] | None = None


def bank_page(page: Page, table: str, view: dict[str, Any], balances: Sequence[int], deals: Sequence[Paid]) -> str:
    """HTML of the bank of `table`, which looks like `view` now: all `deals` in the plot, a page of them below it.

    The query `before` says before which deal the page begins.
    """
    now = names_in(view | {"seats": _last_seats(view["seats"], deals)}, page.labels)
    standings = standings_of(balances, deals)
    before = page.query.get("before", "")
    until = int(before) if before.isdecimal() and len(before) < 10 else None
    told = [each for each in zip(deals, standings[1:], strict=True) if until is None or each[0].deal < until]
    rows = [_row(page, paid, standing, now) for paid, standing in reversed(told[-ROWS_MAX:])]
    return render(
        "bank.html", page, table=table, names=now, balances=balances,
        rows=rows_html(page, table, rows, is_free=view["stake"] == "free"),
        older=rows[-1].deal if len(told) > ROWS_MAX else None, is_last=until is None,
        plots=[plot(standings, kind) for kind in SIZES] if deals else [], dots=partial(dots_html, page, table),
    )


def _row(page: Page, paid: Paid, standing: Standing, now: Sequence[str]) -> Row:
    """A deal in the table, with who sat there then, as far as that is known."""
    names = names_in({"seats": paid.seats}, page.labels) if paid.seats else now
    return Row(paid.deal, paid.payments, standing.balances, tuple(names), paid.version, paid.at)


def _last_seats(now: Sequence[dict[str, Any] | None], deals: Sequence[Paid]) -> list[dict[str, Any] | None]:
    """Who sits at each seat, else who sat there when the last deal was paid."""
    last = deals[-1].seats if deals else None
    return [here or (last[seat] if last else None) for seat, here in enumerate(now)]


def standings_of(balances: Sequence[int], deals: Sequence[Paid]) -> list[Standing]:
    """What lay at the seats before the first of `deals` and after each: as noted, else counted on from the one before.

    Where nothing is noted at all they are counted back from `balances`, those of now.
    """
    if not deals:
        return []
    first = deals[0]
    after = first.balances or _minus(balances, [sum(column) for column in zip(
        *(paid.payments for paid in deals[1:]), strict=True)] or [0] * len(balances))
    found = [Standing(first.deal - 1, _minus(after, first.payments), (0,) * len(after))]
    for paid in deals:
        counted = tuple(map(int.__add__, found[-1].balances, paid.payments))
        found.append(Standing(paid.deal, paid.balances or counted, paid.payments))
    return found


def _minus(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(int.__sub__, left, right))

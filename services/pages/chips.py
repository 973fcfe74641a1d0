"""The points of a plot and the rows of a bank as HTML, without a template, as moments are: there are hundreds."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from services.pages.plot import Dot
from services.pages.rendering import Page, moment_at, signed


class Row(NamedTuple):
    """A deal in the table of payments: what it paid and what lay there then, who sat there, and where it is told."""

    deal: int
    payments: tuple[int, ...]
    balances: tuple[int, ...]
    names: tuple[str, ...]
    version: int | None
    at: str | None


def dots_html(page: Page, table: str, name: str, seat: int, dots: Sequence[Dot]) -> Markup:
    """The points of a seat that lead to their deals; `name` is who sits there."""
    told, found = page.labels.text["after_deal"], []
    before, after = _around(page, table)
    for x, y, (deal, balances, payments) in dots:
        title = escape(told.format(name=name, chips=signed(balances[seat]), deal=deal, paid=signed(payments[seat])))
        found.append(
            f'<a href="{before}{deal}{after}" tabindex="-1"><circle class="dot" cx="{x}" cy="{y}" r="3.6">'
            f"<title>{title}</title></circle></a>\n"
        )
    return Markup("".join(found))


def rows_html(page: Page, table: str, rows: Sequence[Row], *, is_free: bool) -> Markup:
    """A line for each deal, with the event it comes from; under `is_free` each payment tells its posting."""
    text, found = page.labels.text, []
    before, after = _around(page, table)
    for row in rows:
        address = f"{before}{row.deal}{after}"
        title = escape(text["see_deal"].format(deal=row.deal))
        cells = "".join([
            f'<td class="number" title="{escape(row.names[seat])}{_posting(table, row, seat) if is_free else ""}">'
            f'<b>{signed(paid)}</b> <span class="small">= {signed(row.balances[seat])}</span></td>\n'
            for seat, paid in enumerate(row.payments)
        ])
        event = "–"
        if row.version and row.at:
            event = (
                f'<a href="{address}#v{row.version}">v{row.version}</a> '
                f'<time class="small wider" datetime="{escape(row.at)}">{moment_at(row.at)}</time>'
            )
        found.append(
            f'<tr><th scope="row"><a href="{address}" title="{title}">{row.deal}</a></th>\n'
            f"{cells}<td>{event}</td></tr>\n"
        )
    return Markup("".join(found))


def _around(page: Page, table: str) -> tuple[str, str]:
    """What stands before and after a deal's number in the address of its replay."""
    before, after = str(escape(page.to(f"/replay/{table}/#"))).split("#")
    return before, after


def _posting(table: str, row: Row, seat: int) -> str:
    return f", {escape(table)}:{row.version}:{seat}" if row.version else ""

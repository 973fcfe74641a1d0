"""Which table a request means, and whether its caller may look at it."""

import hmac
from typing import NamedTuple

from services.api.auth import reader_of_cards
from services.api.backend import backend
from services.api.problems import Problem
from services.pressure import Wish
from services.store import views
from services.store.keys import is_table_id
from services.store.views import Current
from services.tokens import Principal


class Sight(NamedTuple):
    """A table now, and the seat from which the caller looks at it; None for a spectator."""

    table: Current
    seat: int | None
    reader: Principal


def look_at(table: str, code: str = "", wish: Wish = Wish.PLAY) -> Sight:
    """The table as the caller may see it.

    `wish`: what a player at the table wants; for others it is to watch. Raises Problem `not_found`, `forbidden`,
    `code_wrong`, and `rate_limited` when the table's partition is too busy for that.
    """
    reader = reader_of_cards()
    current = views.current(backend().redis, table) if is_table_id(table) else None
    if current is None:
        raise Problem("not_found", "There is no such table.")
    seat = views.seat_in(current, reader.id)
    if seat is None and current.code and reader.role != "auditor" and not _same(code, current.code):
        raise Problem("code_wrong", "Only who sits at a private table, or knows its code, may watch it.")
    shed(table, Wish.WATCH if seat is None else wish)
    return Sight(current, seat, reader)


def shed(aggregate: str, wish: Wish) -> None:
    """Raise Problem `rate_limited` when the partition of a table or an account is too busy for `wish`."""
    if wish is not Wish.PLAY and backend().pressure.sheds(aggregate, wish):
        raise Problem("rate_limited", "Too many commands wait to be decided there: this is refused until they are.")


def _same(given: str, code: str) -> bool:
    return hmac.compare_digest(given.encode(), code.encode())

"""Which table a request means, and whether its caller may look at it."""

import hmac
from typing import NamedTuple

from services.api.auth import reader_of_cards
from services.api.backend import backend
from services.api.problems import Problem
from services.store import views
from services.store.keys import is_table_id
from services.store.views import Current
from services.tokens import Principal


class Sight(NamedTuple):
    """A table now, and the seat from which the caller looks at it; None for a spectator."""

    table: Current
    seat: int | None
    reader: Principal


def look_at(table: str, code: str = "") -> Sight:
    """The table as the caller may see it. Raises Problem `not_found`, `forbidden`, `code_wrong`."""
    reader = reader_of_cards()
    current = views.current(backend().redis, table) if is_table_id(table) else None
    if current is None:
        raise Problem("not_found", "There is no such table.")
    seat = views.seat_in(current, reader.id)
    if seat is None and current.code and reader.role != "auditor" and not _same(code, current.code):
        raise Problem("code_wrong", "Only who sits at a private table, or knows its code, may watch it.")
    return Sight(current, seat, reader)


def _same(given: str, code: str) -> bool:
    return hmac.compare_digest(given.encode(), code.encode())

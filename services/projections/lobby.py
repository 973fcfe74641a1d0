"""The public tables that are not finished, with their full rules, for those who look for one."""

import msgspec

from services.projections.sheet import Seat, Sheet
from services.store.outputs import Row
from services.store.projected import table_place


def lobby(table: str, before: Sheet, after: Sheet) -> list[Row]:
    """What becomes of the table's row; nothing when it stays as it was."""
    row = _row(table, after)
    if row == _row(table, before):
        return []
    return [Row(table, table_place(after.opened_at, table), row)]


def _row(table: str, sheet: Sheet) -> bytes:
    """The row, or nothing for a table that is private, finished or not opened yet."""
    options = sheet.options
    if options is None or options.private or sheet.over:
        return b""
    return msgspec.json.encode(
        {
            "table": table,
            "game": options.game,
            "rules": options.rules,
            "deals": sheet.deals,
            "seats": [_seat(seat) for seat in sheet.seats],
            "stake": options.stake,
            "buy_in": options.buy_in,
            "turn_seconds": options.turn_seconds,
            "auto_ready": options.auto_ready,
        }
    )


def _seat(seat: Seat | None) -> dict[str, str] | None:
    """A seat that is kept for a player who left in the deal still shows him: nobody else may take it."""
    if seat is None:
        return None
    return {"bot": seat.bot} if seat.bot else {"player": seat.player, "name": seat.name}

"""The public tables that are not finished, with their full rules, for those who look for one."""

import msgspec

from services.projections.sheet import Seat, Sheet
from services.store.outputs import Row
from services.store.projected import table_place


def concerns_lobby(before: Sheet, after: Sheet) -> bool:
    """Has the table's row changed?"""
    if after.options is None or after.options.private:
        return False
    return before.options is None or _shown(before) != _shown(after)


def lobby(table: str, version: int, sheet: Sheet) -> Row:
    """The table's row since `version`."""
    return Row(table, version, table_place(sheet.opened_at, table), b"" if sheet.over else _row(table, sheet))


def _shown(sheet: Sheet) -> tuple[object, ...]:
    """What of a row may change."""
    return sheet.seats, sheet.deals, sheet.over


def _row(table: str, sheet: Sheet) -> bytes:
    options = sheet.options
    assert options is not None
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

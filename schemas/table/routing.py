"""Which readers of the log care for an entry; most moves concern nobody but the players."""

from collections.abc import Sequence

from engine.table import Table
from engine.table.events import (
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealEnded,
    Event,
    OfTable,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableEvent,
    TableFinished,
    TableOpened,
)
from engine.table.state import settings

_LOBBY = (TableOpened, SatDown, SeatLeft, SeatFreed, RoundExtended, TableFinished)


def kinds(events: Sequence[Event], table: Table) -> str:
    """The subscriptions that follow from these events and the table after them, joined by commas, or "".

    bank, record: a deal ended · chips: some came or went · lobby: the line of a public table changed ·
    bot: a bot is to act.
    """
    found = {kind for event in events if isinstance(event, OfTable) for kind in _kinds(event)}
    if not found:
        return ""
    if settings(table.session).private:
        found.discard("lobby")
    return ",".join(sorted(found))


def _kinds(event: TableEvent) -> tuple[str, ...]:
    match event:
        case DealEnded():
            return "bank", "record"
        case ChipsBrought() | ChipsReturned():
            return ("chips",)
        case DeadlineSet(at=int(), kind="bot"):
            return ("bot",)
        case _:
            return ("lobby",) if isinstance(event, _LOBBY) else ()


def ends_deal(events: Sequence[Event]) -> bool:
    """Did a deal end here?"""
    return any(isinstance(event, DealEnded) for event in events)

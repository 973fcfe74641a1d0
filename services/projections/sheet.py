"""What the projections remember of a table from one step to the next: a fold over the events of the table."""

from typing import Final

import msgspec
from msgspec.structs import replace

from engine.table import SEATS
from engine.table.events import (
    ChipsBrought,
    ChipsReturned,
    DealEnded,
    DealStarted,
    Event,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableFinished,
    TableOpened,
)
from schemas.games import WIRE
from services.store.outbox import Told


class Seat(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who holds a seat: a player, or a bot of policy `bot`; `away`: the player has left in the running deal."""

    player: str = ""
    name: str = ""
    bot: str = ""
    away: bool = False


class Options(msgspec.Struct, frozen=True):
    """How a table was opened, as far as anybody who looks for one wants to know."""

    game: str
    rules: dict[str, object]
    stake: str
    buy_in: int
    turn_seconds: int | None
    auto_ready: bool
    private: bool
    bot_policy: str


class Sheet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table as the projections need it. `began` is the version at which the running deal was dealt, 0: none runs;
    `company` the first deal that ended with these seats and this number of deals, 0: none has."""

    options: Options | None = None
    opened_at: int = 0
    seats: tuple[Seat | None, ...] = (None,) * SEATS
    bank: tuple[int, ...] = (0,) * SEATS
    deals: int | None = None
    began: int = 0
    over: bool = False
    company: int = 0


BLANK = Sheet()

TURNING: Final = frozenset(
    {
        TableOpened,
        SatDown,
        SeatLeft,
        SeatFreed,
        ChipsBrought,
        ChipsReturned,
        DealStarted,
        DealEnded,
        RoundExtended,
        TableFinished,
    }
)
"""The events of a table that `turned` asks about; all others need not even be read."""


def turned(sheet: Sheet, event: Event, told: Told) -> Sheet:
    """The sheet after `event` of the entry `told`. What the projections do not ask about changes nothing."""
    match event:
        case TableOpened():
            return _opened(event, told.at)
        case SatDown(seat=seat, player=player, name=name):
            return _seated(sheet, seat, Seat(player, name))
        case SeatLeft(seat=seat, player=player):
            return _seated(sheet, seat, replace(_held(sheet, seat), away=True))
        case SeatFreed(seat=seat):
            return _seated(sheet, seat, None)
        case ChipsBrought(seat=seat, chips=chips):
            return _moved(sheet, seat, chips)
        case ChipsReturned(seat=seat, chips=chips):
            return _moved(sheet, seat, -chips)
        case DealStarted():
            return replace(sheet, began=told.version)
        case DealEnded(deal=deal, payments=payments):
            bank = tuple(map(int.__add__, sheet.bank, payments))
            return replace(sheet, began=0, bank=bank, company=sheet.company or deal)
        case RoundExtended(deals=deals):
            return replace(sheet, deals=deals, company=0)
        case TableFinished():
            return replace(sheet, over=True)
        case _:
            return sheet


def _opened(event: TableOpened, at: int) -> Sheet:
    options = Options(
        game=event.game,
        rules=WIRE[event.game].dump_rules(event.rules),
        stake=event.stake,
        buy_in=event.buy_in,
        turn_seconds=event.turn_seconds,
        auto_ready=event.auto_ready,
        private=event.private,
        bot_policy=event.bot_policy,
    )
    seats = tuple(Seat(bot=event.bot_policy) if seat in event.bots else None for seat in range(SEATS))
    return Sheet(options=options, opened_at=at, seats=seats, deals=event.deals)


def _held(sheet: Sheet, seat: int) -> Seat:
    held = sheet.seats[seat]
    assert held is not None, f"nobody sits at {seat}"
    return held


def _seated(sheet: Sheet, seat: int, who: Seat | None) -> Sheet:
    return replace(sheet, seats=(*sheet.seats[:seat], who, *sheet.seats[seat + 1 :]), company=0)


def _moved(sheet: Sheet, seat: int, chips: int) -> Sheet:
    bank = (*sheet.bank[:seat], sheet.bank[seat] + chips, *sheet.bank[seat + 1 :])
    return replace(sheet, bank=bank)

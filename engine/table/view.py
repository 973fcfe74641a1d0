"""What each seat, or a spectator (None), may know of a table. A field that is not named here is not shown."""

from dataclasses import replace
from typing import NamedTuple, assert_never

from engine.games.voleny import VOLENY
from engine.games.voleny.rules import Rules
from engine.table.events import (
    BecameReady,
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealEnded,
    DealStarted,
    Event,
    Place,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableEvent,
    TableFinished,
    TableOpened,
    TurnExpired,
)
from engine.table.state import Occupant, Stage, Table, game_of, settings


class Seated(NamedTuple):
    """A seat as all see it; `bot` is a policy, or "" for a player."""

    player: str
    name: str
    bot: str
    away: bool


class PublicTable(NamedTuple):
    """What everybody may know; `play` is the public view of the game, `deadline` milliseconds."""

    stage: Stage
    game: str
    rules: Rules
    stake: str
    seats: tuple[Seated | None, ...]
    ready: tuple[bool, ...]
    deal: int
    deals: int | None
    dealer: int | None
    bank: tuple[int, ...]
    deadline: int | None
    standing: tuple[Place, ...]
    play: object


def public(table: Table) -> PublicTable:
    """The part of the view that is the same for all."""
    session, deadline = table.session, table.deadline
    opened = settings(session)
    return PublicTable(
        stage=session.stage,
        game=opened.game,
        rules=opened.rules,
        stake=opened.stake,
        seats=tuple(map(_seated, session.seats)),
        ready=tuple(occupant is not None and occupant.ready for occupant in session.seats),
        deal=session.deal,
        deals=session.deals,
        dealer=session.dealer,
        bank=session.bank,
        deadline=None if deadline is None or deadline.kind == "bot" else deadline.at,
        standing=session.standing,
        play=game_of(session).public(table.state),
    )


def _seated(occupant: Occupant | None) -> Seated | None:
    if occupant is None:
        return None
    return Seated(player=occupant.player, name=occupant.name, bot=occupant.bot, away=occupant.away)


def private(table: Table, seat: int) -> object:
    """What only `seat` may know: nothing between deals, as somebody else may hold the seat by then."""
    game = game_of(table.session)
    return game.private(table.state if table.session.stage == "deal" else game.initial, seat)


def shown(event: Event, seat: int | None) -> Event:
    """`event` as `seat` may know it; what it may not know is None or empty, and absent on the wire."""
    if not isinstance(event, TableEvent):
        return VOLENY.shown(event, seat)
    match event:
        case TableOpened():
            return replace(event, code="")
        case DealStarted():
            return replace(event, sealed_key="")
        case ChipsBrought() | ChipsReturned():
            return replace(event, transfer="")
        case DeadlineSet(kind="bot"):
            return NO_DEADLINE
        case (
            SatDown()
            | BecameReady()
            | SeatLeft()
            | SeatFreed()
            | DealEnded()
            | DeadlineSet()
            | TurnExpired()
            | RoundExtended()
            | TableFinished()
        ):
            return event
        case _:
            assert_never(event)


NO_DEADLINE = DeadlineSet(at=None, kind="bot")

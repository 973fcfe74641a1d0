"""How an event changes a table; it holds no rule and never refuses."""

from collections.abc import Iterable
from functools import reduce
from typing import assert_never

from engine.table.events import (
    BecameReady,
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealEnded,
    DealStarted,
    Event,
    OfTable,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableFinished,
    TableOpened,
    TurnExpired,
)
from engine.table.state import Deadline, Occupant, Session, Table, game_of, held


def evolve(table: Table, event: Event) -> Table:
    """The table after `event`."""
    if not isinstance(event, OfTable):
        return Table(table.session, table.deadline, game_of(table.session).evolve(table.state, event))
    match event:
        case DeadlineSet(at=at, kind=kind):
            return Table(table.session, None if at is None else Deadline(at, kind), table.state)
        case TurnExpired():
            return table
        case DealStarted():
            session = _deal_started(table.session, event)
            return table._replace(session=session, state=game_of(session).initial)
        case TableOpened():
            session = _opened(table.session, event)
            return table._replace(session=session, state=game_of(session).initial)
        case _:
            return table._replace(session=_evolve_session(table.session, event))


def fold(table: Table, events: Iterable[Event]) -> Table:
    """The table after all of `events`."""
    return reduce(evolve, events, table)


def _evolve_session(
    session: Session,
    event: SatDown
    | BecameReady
    | SeatLeft
    | SeatFreed
    | ChipsBrought
    | ChipsReturned
    | DealEnded
    | RoundExtended
    | TableFinished,
) -> Session:
    match event:
        case SatDown():
            return _seated(session, event)
        case BecameReady(seat=seat):
            return _change(session, seat, held(session, seat)._replace(ready=True))
        case SeatLeft(seat=seat):
            return _change(session, seat, held(session, seat)._replace(away=True, ready=False))
        case SeatFreed(seat=seat):
            return _change(session, seat, None)
        case ChipsBrought(seat=seat, chips=chips, transfer=transfer):
            session = _change(session, seat, held(session, seat)._replace(transfer=transfer))
            return session._replace(bank=_added(session.bank, seat, chips))
        case ChipsReturned(seat=seat, chips=chips):
            return session._replace(bank=_added(session.bank, seat, -chips))
        case DealEnded(payments=payments):
            return session._replace(
                stage="lobby",
                bank=tuple(map(int.__add__, session.bank, payments)),
                score=tuple(map(int.__add__, session.score, payments)),
            )
        case RoundExtended(deals=deals):
            return session._replace(deals=deals, extended=True)
        case TableFinished(standing=standing):
            return session._replace(stage="over", standing=standing)
        case _:
            assert_never(event)


def _opened(session: Session, event: TableOpened) -> Session:
    seats = tuple(_bot(event.bot_policy) if seat in event.bots else None for seat in range(len(session.seats)))
    return session._replace(opened=event, stage="lobby", seats=seats, deals=event.deals)


def _bot(policy: str) -> Occupant:
    return Occupant(player="", name="", bot=policy, away=False, ready=True, transfer="")


def _seated(session: Session, event: SatDown) -> Session:
    before = session.seats[event.seat]
    transfer = "" if before is None else before.transfer
    return _change(
        session,
        event.seat,
        Occupant(player=event.player, name=event.name, bot="", away=False, ready=False, transfer=transfer),
    )


def _deal_started(session: Session, event: DealStarted) -> Session:
    """Players have used their word; bots are always ready."""
    seats = tuple(
        occupant and occupant._replace(ready=occupant.bot != "") for occupant in session.seats
    )
    return session._replace(stage="deal", deal=event.deal, dealer=event.dealer, seats=seats)


def _change(session: Session, seat: int, occupant: Occupant | None) -> Session:
    return session._replace(seats=(*session.seats[:seat], occupant, *session.seats[seat + 1 :]))


def _added(bank: tuple[int, ...], seat: int, chips: int) -> tuple[int, ...]:
    return (*bank[:seat], bank[seat] + chips, *bank[seat + 1 :])



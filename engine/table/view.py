"""What each seat, or a spectator (None), may know of a table. A field that is not named here is not shown."""

from dataclasses import replace
from typing import NamedTuple, assert_never

from engine.table.events import (
    BecameReady,
    CardOpened,
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealCommitted,
    DealEnded,
    DealStarted,
    Event,
    HandsCommitted,
    LeavesOpened,
    NonceCommitted,
    NonceRevealed,
    NoncesJoined,
    OfTable,
    Place,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableFinished,
    TableOpened,
    TalonOpened,
    TurnExpired,
)
from engine.table.play import GAMES, GameState, Rules
from engine.table.state import Fairness, Occupant, Session, Stage, Table, awaited, game_of, next_seat, settings


class Seated(NamedTuple):
    """A seat as all see it; `bot` is a policy, or "" for a player."""

    player: str
    name: str
    bot: str
    away: bool


class PublicSession(NamedTuple):
    """What everybody may know of a table beside the running deal."""

    stage: Stage
    game: str
    rules: Rules
    stake: str
    buy_in: int
    bot_policy: str
    turn_seconds: int | None
    auto_ready: bool
    seats: tuple[Seated | None, ...]
    ready: tuple[bool, ...]
    deal: int
    deals: int | None
    forehand: int | None
    bank: tuple[int, ...]
    standing: tuple[Place, ...]
    fairness: Fairness | None
    awaiting: tuple[int, ...]
    """Whose nonces the deal waits for."""


def public_session(session: Session) -> PublicSession:
    """What everybody may know beside the running deal."""
    opened = settings(session)
    return PublicSession(
        stage=session.stage,
        game=opened.game,
        rules=opened.rules,
        stake=opened.stake,
        buy_in=opened.buy_in,
        bot_policy=opened.bot_policy,
        turn_seconds=opened.turn_seconds,
        auto_ready=opened.auto_ready,
        seats=tuple(map(_seated, session.seats)),
        ready=tuple(occupant is not None and occupant.ready for occupant in session.seats),
        deal=session.deal,
        deals=session.deals,
        forehand=None if session.dealer is None else next_seat(session.dealer),
        bank=session.bank,
        standing=session.standing,
        fairness=session.fairness,
        awaiting=tuple(awaited(session)),
    )


def _seated(occupant: Occupant | None) -> Seated | None:
    if occupant is None:
        return None
    return Seated(player=occupant.player, name=occupant.name, bot=occupant.bot, away=occupant.away)


def public_deadline(table: Table) -> int | None:
    """Until when players have time. How long the others wait for a bot is nobody's business."""
    deadline = table.deadline
    return None if deadline is None or deadline.kind == "bot" else deadline.at


def private_deal(table: Table) -> GameState:
    """The deal of which each seat may know its own: none between deals, as somebody else may hold the seat by then."""
    return table.state if table.session.stage == "deal" else game_of(table.session).initial


def shown(event: Event, seat: int | None) -> Event:
    """`event` as `seat` may know it; what it may not know is None or empty, and absent on the wire."""
    if not isinstance(event, OfTable):
        return GAMES["voleny"].shown(event, seat)
    match event:
        case DeadlineSet():
            return NO_DEADLINE if event.kind == "bot" else event
        case TableOpened():
            return replace(event, code="")
        case DealStarted():
            return replace(event, sealed_key="")
        case DealCommitted():
            return replace(event, order=(), seed="", sealed_key="")
        case LeavesOpened() if event.seat != seat:
            return replace(event, salts=(), key="")
        case TalonOpened() if event.seat != seat:
            return replace(event, salt="")
        case ChipsBrought() | ChipsReturned():
            return replace(event, transfer="")
        case (
            SatDown()
            | BecameReady()
            | SeatLeft()
            | SeatFreed()
            | NonceCommitted()
            | NonceRevealed()
            | NoncesJoined()
            | LeavesOpened()
            | HandsCommitted()
            | CardOpened()
            | TalonOpened()
            | DealEnded()
            | TurnExpired()
            | RoundExtended()
            | TableFinished()
        ):
            return event
        case _:
            assert_never(event)


NO_DEADLINE = DeadlineSet(at=None, kind="bot")

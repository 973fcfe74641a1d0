"""How an event changes a table; it holds no rule and never refuses."""

from collections.abc import Iterable
from functools import reduce
from typing import assert_never

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
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableFinished,
    TableOpened,
    TalonOpened,
    TurnExpired,
)
from engine.table.openings import salts_of_round
from engine.table.state import Deadline, Fairness, Occupant, Secret, Session, Table, game_of, held


def evolve(table: Table, event: Event) -> Table:
    """The table after `event`."""
    if not isinstance(event, OfTable):
        return Table(table.session, table.deadline, game_of(table.session).evolve(table.state, event), table.secret)
    match event:
        case DeadlineSet(at=at, kind=kind):
            return Table(table.session, None if at is None else Deadline(at, kind), table.state, table.secret)
        case TurnExpired() | CardOpened() | TalonOpened() | LeavesOpened():
            return table
        case HandsCommitted():
            return table._replace(secret=_hands_committed(table, event))
        case DealCommitted():
            secret = Secret(event.name, bytes.fromhex(event.seed), event.order)
            return table._replace(session=_deal_committed(table.session, event), secret=secret)
        case DealEnded():
            return table._replace(session=_evolve_session(table.session, event), secret=None)
        case DealStarted():
            session = _deal_started(table.session, event)
            return table._replace(session=session, state=game_of(session).initial)
        case TableOpened():
            session = _opened(table.session, event)
            return table._replace(session=session, state=game_of(session).initial)
        case NonceCommitted() | NonceRevealed() | NoncesJoined():
            return table._replace(session=_evolve_nonces(table.session, event))
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
            return _change(session, seat, held(session, seat)._replace(away=True, ready=False, commitment=""))
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
                fairness=None,
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


def _deal_committed(session: Session, event: DealCommitted) -> Session:
    """The nonces committed to so far are for this deal, so that none counts twice."""
    seats = tuple(occupant and occupant._replace(commitment="") for occupant in session.seats)
    none = ("",) * len(seats)
    fairness = Fairness(event.deal, event.dealer, event.root, event.server_commitment, event.commitments, none)
    return session._replace(stage="reveal", seats=seats, fairness=fairness)


def _evolve_nonces(session: Session, event: NonceCommitted | NonceRevealed | NoncesJoined) -> Session:
    match event:
        case NonceCommitted(seat=seat, commitment=commitment):
            return _change(session, seat, held(session, seat)._replace(commitment=commitment))
        case NonceRevealed(seat=seat, nonce=nonce, next_commitment=commitment):
            nonces = _fairness(session).nonces
            session = _with_nonces(session, (*nonces[:seat], nonce, *nonces[seat + 1 :]))
            return _change(session, seat, held(session, seat)._replace(commitment=commitment))
        case NoncesJoined(nonces=nonces):
            return _with_nonces(session, nonces)
        case _:
            assert_never(event)


def _with_nonces(session: Session, nonces: tuple[str, ...]) -> Session:
    return session._replace(fairness=_fairness(session)._replace(nonces=nonces))


def _fairness(session: Session) -> Fairness:
    assert session.fairness is not None, "nothing was committed to"
    return session.fairness


def _hands_committed(table: Table, event: HandsCommitted) -> Secret | None:
    secret = table.secret
    if secret is None:
        return None
    salts = salts_of_round(secret.seed, event.round) if _fairness(table.session).is_watched else ()
    return secret._replace(round=event.round, discarder=event.seat, salts=salts)


def _change(session: Session, seat: int, occupant: Occupant | None) -> Session:
    return session._replace(seats=(*session.seats[:seat], occupant, *session.seats[seat + 1 :]))


def _added(bank: tuple[int, ...], seat: int, chips: int) -> tuple[int, ...]:
    return (*bank[:seat], bank[seat] + chips, *bank[seat + 1 :])



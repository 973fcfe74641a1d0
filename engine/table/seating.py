"""Who sits where: opening, sitting down, being ready, leaving, and the chips that come and go with a seat."""

from engine.errors import RuleViolation
from engine.fairness import commitments
from engine.table.commands import Leave, OpenTable, Ready, Reveal, Sit
from engine.table.events import (
    BecameReady,
    ChipsBrought,
    ChipsReturned,
    Event,
    NonceCommitted,
    NonceRevealed,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableOpened,
)
from engine.table.state import Session, Table, at_rest, awaited, chips_at_risk, held, is_short, seat_of_player, settings


def open_table(session: Session, command: OpenTable) -> tuple[Event, ...]:
    """Refuses a bankroll table whose seats could lose more than they bring."""
    if session.stage != "unopened":
        raise RuleViolation("table_exists")
    bankroll = command.stake == "bankroll"
    if bankroll and command.rules.cap == 0:
        raise RuleViolation("bankroll_needs_cap")
    if bankroll and command.buy_in < 2 * command.rules.cap:
        raise RuleViolation("buy_in_too_low", least=2 * command.rules.cap)
    return (
        TableOpened(
            creator=command.creator,
            game=command.game,
            rules=command.rules,
            deals=command.deals,
            bots=command.bots,
            bot_policy=command.bot_policy,
            auto_ready=command.auto_ready,
            turn_seconds=command.turn_seconds,
            private=command.private,
            code=command.code,
            stake=command.stake,
            buy_in=command.buy_in if bankroll else 0,
        ),
    )


def sit(session: Session, command: Sit) -> tuple[Event, ...]:
    """A free seat, or the one that its player left in the running deal."""
    if session.stage == "over":
        raise RuleViolation("table_closed")
    seat = seat_of_player(session, command.player)
    if seat is not None:
        return _come_back(session, command, seat)
    if settings(session).private and command.code != settings(session).code:
        raise RuleViolation("code_wrong")
    seat = _free_seat(session, command.seat)
    sat = SatDown(seat=seat, player=command.player, name=command.name)
    if settings(session).stake == "free":
        return (sat,)
    return sat, ChipsBrought(
        seat=seat, player=command.player, chips=settings(session).buy_in, transfer=command.transfer
    )


def _come_back(session: Session, command: Sit, seat: int) -> tuple[Event, ...]:
    """The seat was kept, with its chips: nothing is brought again."""
    if not held(session, seat).away or command.seat not in (None, seat):
        raise RuleViolation("already_seated", seat=seat)
    return (SatDown(seat=seat, player=command.player, name=command.name),)


def _free_seat(session: Session, asked: int | None) -> int:
    """The seat asked for, or the lowest free one. In a deal a left seat is kept, but will be free after it."""
    if asked is None:
        if None in session.seats:
            return session.seats.index(None)
        somebody_left = any(occupant is not None and occupant.away for occupant in session.seats)
        raise RuleViolation("deal_running" if somebody_left else "table_full")
    occupant = session.seats[asked]
    if occupant is not None:
        raise RuleViolation("deal_running" if occupant.away else "seat_taken", seat=asked)
    return asked


def ready(table: Table, command: Ready) -> tuple[Event, ...]:
    """Under bankroll a seat must hold the most it can lose in a deal."""
    session = table.session
    if session.stage == "over":
        raise RuleViolation("table_closed")
    seat = _own_seat(session, command.player)
    if not at_rest(table):
        raise RuleViolation("deal_running")
    if held(session, seat).ready:
        raise RuleViolation("already_ready")
    if is_short(session, seat):
        raise RuleViolation("insufficient_chips", chips=session.bank[seat], least=chips_at_risk(session))
    if not command.nonce_commitment:
        return (BecameReady(seat=seat),)
    return BecameReady(seat=seat), NonceCommitted(seat=seat, commitment=command.nonce_commitment)


def reveal(table: Table, command: Reveal) -> tuple[Event, ...]:
    """The nonce that the seat committed to, while it is awaited."""
    session = table.session
    seat = _own_seat(session, command.player)
    late = table.deadline is not None and command.now > table.deadline.at
    if seat not in awaited(session) or late:
        raise RuleViolation("reveal_not_awaited")
    assert session.fairness is not None, "a nonce is awaited for no deal"
    found = commitments.commitment_to(bytes.fromhex(command.nonce)).hex()
    if found != session.fairness.commitments[seat]:
        raise RuleViolation("commitment_mismatch", nonce_commitment=session.fairness.commitments[seat])
    return (NonceRevealed(seat=seat, nonce=command.nonce, next_commitment=command.next_commitment),)


def leave(table: Table, command: Leave) -> tuple[Event, ...]:
    """At once between deals; in a deal, or before it is dealt, the seat is only given up when the deal has ended."""
    session = table.session
    seat = _own_seat(session, command.player)
    left = SeatLeft(seat=seat, player=command.player)
    return (left, *free_seat(session, seat)) if at_rest(table) else (left,)


def _own_seat(session: Session, player: str) -> int:
    """The seat at which `player` is. Raises RuleViolation `not_seated`, also while he is away."""
    seat = seat_of_player(session, player)
    if seat is None or held(session, seat).away:
        raise RuleViolation("not_seated")
    return seat


def free_seat(session: Session, seat: int) -> tuple[Event, ...]:
    """The seat becomes empty, its chips go home."""
    return (*return_chips(session, seat), SeatFreed(seat=seat))


def return_chips(session: Session, seat: int) -> tuple[ChipsReturned, ...]:
    """What lies at a seat under bankroll goes back to its player, or to the house."""
    if settings(session).stake == "free" or session.bank[seat] == 0:
        return ()
    occupant = held(session, seat)
    return (
        ChipsReturned(
            seat=seat,
            player=occupant.player,
            chips=session.bank[seat],
            transfer=_back(occupant.transfer),
        ),
    )


def _back(transfer: str) -> str:
    """A buy-in goes back once, so its own id makes that of the way back."""
    return f"{transfer}-back"

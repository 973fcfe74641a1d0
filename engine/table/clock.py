"""Deadlines: who has how long, what a passed one does, and what is due next. All times are milliseconds."""

from collections.abc import Sequence
from typing import NamedTuple

from engine.errors import RuleViolation
from engine.table.commands import Expire
from engine.table.deals import deal_once_revealed
from engine.table.events import DeadlineKind, DeadlineSet, Event, SeatLeft, TurnExpired
from engine.table.seating import free_seat
from engine.table.state import Deadline, Session, Table, all_ready, game_of, held, settings

BOT_MILLISECONDS = 1500
REVEAL_MILLISECONDS = 10_000
"""How long a deal waits for nonces, also at tables without a clock."""

Gaps = Sequence[tuple[int, int]]


class Due(NamedTuple):
    """The internal command that a table waits for: `deal` or `expire`, not before `at` (0: at once)."""

    kind: str
    at: int


def due(table: Table) -> Due | None:
    """What the owner of the table has to send next, if nothing else happens before."""
    if table.session.stage == "lobby" and all_ready(table.session):
        return Due("deal", 0)
    return None if table.deadline is None else Due("expire", table.deadline.at)


def grant(table: Table, now: int, gaps: Gaps) -> tuple[DeadlineSet, ...]:
    """A full new time for whoever had time while nobody could play, if it would be over; () when it is not so.

    `gaps` are spans (start, end) in order: the service was away, or its clock was put forward. Nobody waits for long
    for a bot, so bots get none.
    """
    deadline = table.deadline
    if deadline is None or deadline.kind == "bot" or now < deadline.at:
        return ()
    at, whole = deadline.at, whole_turn(table.session, deadline.kind)
    for start, end in gaps:
        if start <= at < end + whole:
            at = end + whole
    return (DeadlineSet(at=at, kind=deadline.kind),) if at > max(now, deadline.at) else ()


def expire(table: Table, command: Expire) -> tuple[Event, ...]:
    """A passed turn is played modestly, seats that are not ready leave, nonces are not waited for any longer."""
    if command.version_seen != command.version or table.deadline is None:
        raise RuleViolation("stale")
    if command.now < table.deadline.at:
        raise RuleViolation("not_due", at=table.deadline.at)
    if table.deadline.kind == "ready":
        return tuple(event for seat in _not_ready(table.session) for event in _put_out(table.session, seat))
    if table.deadline.kind == "reveal":
        return deal_once_revealed(table, in_time=False)
    game = game_of(table.session)
    (seat,) = game.to_act(table.state)
    return TurnExpired(seat=seat), *game.decide(table.state, game.modest(table.state))


def _not_ready(session: Session) -> list[int]:
    return [seat for seat, occupant in enumerate(session.seats) if occupant and not occupant.ready]


def _put_out(session: Session, seat: int) -> tuple[Event, ...]:
    return SeatLeft(seat=seat, player=held(session, seat).player), *free_seat(session, seat)


def refuse_late(table: Table, seat: int, now: int) -> None:
    """A player's move counts when it was taken in by the deadline; a bot's time only bounds how long others wait."""
    deadline = table.deadline
    is_late = deadline is not None and deadline.kind == "turn" and now > deadline.at
    if is_late and seat in game_of(table.session).to_act(table.state):
        raise RuleViolation("turn_expired")


def clock_events(before: Deadline | None, after: Table, *, turned: bool, now: int) -> tuple[DeadlineSet, ...]:
    """The deadline that follows; `turned` says that the game went on, so that whoever acts has his full time."""
    kind = _awaited(after)
    if kind is None:
        return () if before is None else (DeadlineSet(at=None, kind=before.kind),)
    if before is not None and before.kind == kind and not turned:
        return ()
    return (DeadlineSet(at=now + whole_turn(after.session, kind), kind=kind),)


def _awaited(table: Table) -> DeadlineKind | None:
    session = table.session
    timed = settings(session).turn_seconds is not None
    if session.stage == "deal":
        (seat,) = game_of(session).to_act(table.state)
        if held(session, seat).is_automatic:
            return "bot"
        return "turn" if timed else None
    if session.stage == "reveal":
        return "reveal"
    waits = session.stage == "lobby" and None not in session.seats and not all_ready(session)
    return "ready" if timed and waits else None


def whole_turn(session: Session, kind: DeadlineKind) -> int:
    """How long who is waited for has, in milliseconds."""
    if kind == "bot":
        return BOT_MILLISECONDS
    if kind == "reveal":
        return REVEAL_MILLISECONDS
    turn_seconds = settings(session).turn_seconds
    assert turn_seconds is not None, "a clock without seconds"
    return turn_seconds * 1000

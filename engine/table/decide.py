"""What a command does to a table: its own events, what they open, the end of a deal if it came to that, the clock."""

from typing import NamedTuple, assert_never

from engine.errors import RuleViolation
from engine.table.clock import Gaps, clock_events, expire, grant, refuse_late
from engine.table.commands import Close, Expire, Leave, Move, OpenTable, Ready, Reveal, Sit, StartDeal, TableCommand
from engine.table.deals import close, deal_once_revealed, end_of_deal, start_deal
from engine.table.events import CardOpened, Event, OfTable
from engine.table.evolve import fold
from engine.table.openings import opened_by
from engine.table.seating import leave, open_table, ready, reveal, sit
from engine.table.state import Table, game_of


class Step(NamedTuple):
    """What a command caused, and the table after it."""

    events: tuple[Event, ...]
    table: Table


def decide(table: Table, command: TableCommand, gaps: Gaps = ()) -> tuple[Event, ...]:
    """The events that `command` causes. Raises RuleViolation when the rules of table or game forbid it."""
    return step(table, command, gaps).events


def step(table: Table, command: TableCommand, gaps: Gaps = ()) -> Step:
    """`decide` together with the fold over its events, which the decision needs anyway.

    `gaps` are spans in which nobody could play: what ran out by one of them is granted anew before the decision.
    """
    granted = grant(table, command.now, gaps) if gaps else ()
    if granted:
        table = fold(table, granted)
        if isinstance(command, Expire) and command.version_seen == command.version:
            return Step(granted, table)
        made = step(table, command)
        return Step((*granted, *made.events), made.table)
    caused = _caused(table, command)
    after = fold(table, caused)
    if after.session.stage == "reveal" and (dealt := deal_once_revealed(after)):
        caused, after = (*caused, *dealt), fold(after, dealt)
    if after.secret is not None and (opened := opened_by(after, caused)):
        caused = (*caused, *opened)
        if type(opened[0]) is not CardOpened:  # A salt changes nothing.
            after = fold(after, opened)
    if ended := end_of_deal(after):
        after = fold(after, ended)
    turned = any(not isinstance(event, OfTable) for event in caused)
    clock = clock_events(table.deadline, after, turned=turned, now=command.now)
    return Step((*caused, *ended, *clock), fold(after, clock))


def _caused(table: Table, command: TableCommand) -> tuple[Event, ...]:
    if table.session.stage == "unopened" and not isinstance(command, OpenTable):
        raise RuleViolation("not_found")
    match command:
        case Move():
            return _move(table, command)
        case Expire():
            return expire(table, command)
        case StartDeal():
            return start_deal(table.session, command)
        case Close():
            return close(table.session, command)
        case OpenTable():
            return open_table(table.session, command)
        case Sit():
            return sit(table.session, command)
        case Ready():
            return ready(table, command)
        case Reveal():
            return reveal(table, command)
        case Leave():
            return leave(table, command)
        case _:
            assert_never(command)


def _move(table: Table, command: Move) -> tuple[Event, ...]:
    session = table.session
    if session.stage != "deal":
        raise RuleViolation("deal_over" if session.deal else "wrong_phase")
    refuse_late(table, command.seat, command.now)
    return game_of(session).decide(table.state, command.move)

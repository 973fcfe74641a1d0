"""Tables of the tests: the cast sits down, is ready, and plays deals from fixed decks. Times are milliseconds."""

from collections.abc import Callable, Iterable

import pytest

from engine.errors import RuleViolation
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Move as GameMove
from engine.games.voleny.rules import Rules
from engine.shuffle import deck_from_key
from engine.table import (
    INITIAL,
    Leave,
    Move,
    OpenTable,
    Ready,
    Sit,
    StartDeal,
    Table,
    TableCommand,
    decide,
    fold,
    step,
)
from engine.table.clock import Gaps
from engine.table.events import Event
from tests.cast import ANA, SEATED, Player

NOON = 1_767_225_600_000
DECK = deck_from_key(b"the deck of the tests")


def opened(**options: object) -> Table:
    """A table that Ana opened with these options."""
    command = OpenTable(**{"now": NOON, "creator": ANA.id, "game": "voleny", "rules": Rules(), **options})
    return fold(INITIAL, decide(INITIAL, command))


def sit(player: Player, seat: int | None = None, *, now: int = NOON, code: str = "", transfer: str = "") -> Sit:
    return Sit(now=now, player=player.id, name=player.name, seat=seat, code=code, transfer=transfer)


def ready(player: Player, *, now: int = NOON) -> Ready:
    return Ready(now=now, player=player.id)


def leave(player: Player, *, now: int = NOON) -> Leave:
    return Leave(now=now, player=player.id)


def deal(*, now: int = NOON, deck: tuple[int, ...] = DECK, first_dealer: int = 2) -> StartDeal:
    """What the clock sends when all are ready; Ana is forehand of the first deal."""
    return StartDeal(
        now=now,
        version_seen=7,
        version=7,
        first_dealer=first_dealer,
        deck=deck,
        sealed_key="sealed",
        transfer="house",
    )


def after(table: Table, *commands: TableCommand) -> Table:
    """The table after these commands, none of which is refused."""
    for command in commands:
        table = step(table, command).table
    return table


def full(**options: object) -> Table:
    """All three seats are taken; nobody is ready."""
    return after(opened(**options), *(sit(player, transfer=f"in-{player.name}") for player in SEATED))


def dealt(**options: object) -> Table:
    """The first deal has begun, with Ana as forehand."""
    return after(full(**options), *map(ready, SEATED), deal())


def modest(table: Table, *, now: int = NOON) -> Move:
    """The most modest move of who is to act."""
    return play(VOLENY.modest(table.state), now=now)


def play(move: GameMove, *, now: int = NOON) -> Move:
    return Move(now=now, seat=move.seat, move=move)


def played_out(table: Table, choose: Callable[[Table], Move] = modest) -> Table:
    """The table after the running deal."""
    while table.session.stage == "deal":
        table = after(table, choose(table))
    return table


def before_the_last_card(table: Table) -> Table:
    """One modest move is missing to the end of the deal."""
    while (following := after(table, modest(table))).session.stage == "deal":
        table = following
    return table


def next_deal(table: Table) -> Table:
    """All are ready, and the next deal is dealt and played modestly to its end."""
    waiting = [player for player in SEATED if not _is_ready(table, player)]
    return played_out(after(table, *map(ready, waiting), deal()))


def _is_ready(table: Table, player: Player) -> bool:
    return any(held is not None and held.player == player.id and held.ready for held in table.session.seats)


def with_score(table: Table, score: tuple[int, ...]) -> Table:
    """The same table with another standing."""
    return table._replace(session=table.session._replace(score=score, bank=score))


def finished() -> Table:
    """A session of one deal, played and over; nobody shares the first place."""
    return played_out(with_score(dealt(deals=1), (100, 0, -100)))


def refused(table: Table, command: TableCommand, gaps: Gaps = ()) -> str:
    """The code with which `command` is refused."""
    with pytest.raises(RuleViolation) as refusal:
        decide(table, command, gaps)
    return refusal.value.code


def kinds(events: Iterable[Event]) -> list[str]:
    """The types of events by name."""
    return [type(event).__name__ for event in events]

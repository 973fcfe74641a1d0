"""The command behind an entry, made again from what it caused: the same command on the same table must cause it again.

What a command asked for stands in its first events, so that nothing but these is taken from the record; all that
follows from them (a trick, points, payments, who has how long) is decided anew.
"""

from collections.abc import Callable, Sequence

from engine.cards import CARDS
from engine.games.voleny.events import Dealt
from engine.merkle import HASH_SIZE
from engine.table import (
    Close,
    Expire,
    Leave,
    Move,
    OpenTable,
    Ready,
    Reveal,
    Sit,
    StartDeal,
    Step,
    Table,
    TableCommand,
    seat_of,
    step,
)
from engine.table.clock import Gaps, whole_turn
from engine.table.events import (
    BecameReady,
    ChipsBrought,
    DeadlineSet,
    DealCommitted,
    DealStarted,
    Event,
    NonceCommitted,
    NonceRevealed,
    NoncesJoined,
    OfTable,
    SatDown,
    SeatLeft,
    TableFinished,
    TableOpened,
    TurnExpired,
)
from engine.table.play import GameEvent
from schemas.recording import move_of
from schemas.table import CLOCK, Draw
from services.store.history import Recorded


class Impossible(Exception):
    """No command can have caused this: `field` tells what of the entry is at fault."""

    def __init__(self, field: str, expected: str, found: str) -> None:
        super().__init__(f"{field}: expected {expected}, found {found}")
        self.field = field
        self.expected = expected
        self.found = found


def decided(name: str, table: Table, entry: Recorded, first: Event, rest: Callable[[], Sequence[Event]]) -> Step:
    """What the command behind `entry` does to `table`, of id `name`. `first` is its first event, `rest` gives all.

    Raises Impossible, and RuleViolation where the rules forbid the command.
    """
    if not isinstance(first, OfTable):
        return step(table, _move(table, entry, first))
    events = rest()
    if isinstance(first, DeadlineSet):
        return _granted(name, table, entry, first, events)
    return step(table, _command(name, table, entry, events))


def _move(table: Table, entry: Recorded, event: GameEvent) -> Move:
    move = move_of(event)
    if move is None:
        raise Impossible("e.0.type", "an event that a move begins with", type(event).__name__)
    try:
        seat = seat_of(table, entry.actor)
    except (ValueError, IndexError):
        seat = None
    if seat != move.seat:
        raise Impossible("a", f"who may play seat {move.seat}", entry.actor)
    return Move(now=entry.at, seat=seat, move=move)


def _granted(name: str, table: Table, entry: Recorded, first: DeadlineSet, events: Sequence[Event]) -> Step:
    """Somebody was given his time anew, as nobody could play: the gap that this tells of, and then the command."""
    if table.deadline is None or first.at is None or first.kind != table.deadline.kind or first.kind == "bot":
        raise Impossible("e.0", "no deadline before what was done", "deadline_set")
    gaps: Gaps = ((table.deadline.at, first.at - whole_turn(table.session, first.kind)),)
    if len(events) == 1:
        return step(table, Expire(now=entry.at, version_seen=entry.version - 1, version=entry.version - 1), gaps)
    following = events[1]
    if isinstance(following, OfTable):
        return step(table, _command(name, table, entry, events[1:]), gaps)
    return step(table, _move(table, entry, following), gaps)


def _command(name: str, table: Table, entry: Recorded, events: Sequence[Event]) -> TableCommand:
    first = events[0]
    match first:
        case TableOpened():
            return _opening(entry, first)
        case SatDown():
            return _sit(name, table, entry, events)
        case BecameReady(seat=seat):
            _must("a", _holder(table, seat), entry.actor)
            said = events[1] if len(events) > 1 else None
            commitment = said.commitment if isinstance(said, NonceCommitted) else ""
            return Ready(now=entry.at, player=entry.actor, nonce_commitment=commitment)
        case NonceRevealed(seat=seat, nonce=nonce, next_commitment=following):
            _must("a", _holder(table, seat), entry.actor)
            _bytes("e.0.nonce", nonce)
            return Reveal(now=entry.at, player=entry.actor, nonce=nonce, next_commitment=following)
        case SeatLeft() if entry.actor != CLOCK:
            _must("a", first.player, entry.actor)
            return Leave(now=entry.at, player=entry.actor)
        case SeatLeft() if table.session.stage == "deal":
            _must("a", CLOCK, entry.actor)
            return Close(now=entry.at, version_seen=entry.version - 1, version=entry.version - 1)
        case SeatLeft() | TurnExpired() | NoncesJoined():
            _must("a", CLOCK, entry.actor)
            return Expire(now=entry.at, version_seen=entry.version - 1, version=entry.version - 1)
        case TableFinished():
            _must("a", CLOCK, entry.actor)
            return Close(now=entry.at, version_seen=entry.version - 1, version=entry.version - 1)
        case DealCommitted() | DealStarted() | ChipsBrought():
            return _deal(name, entry, events)
        case _:
            raise Impossible("e.0.type", "an event that a command begins with", type(first).__name__)


def _holder(table: Table, seat: int) -> str:
    occupant = table.session.seats[seat]
    return occupant.player if occupant else "nobody"


def _opening(entry: Recorded, event: TableOpened) -> OpenTable:
    _must("a", event.creator, entry.actor)
    return OpenTable(
        now=entry.at,
        creator=entry.actor,
        game=event.game,
        rules=event.rules,
        deals=event.deals,
        bots=event.bots,
        bot_policy=event.bot_policy,
        auto_ready=event.auto_ready,
        turn_seconds=event.turn_seconds,
        private=event.private,
        code=event.code,
        stake=event.stake,
        buy_in=event.buy_in,
    )


def _sit(name: str, table: Table, entry: Recorded, events: Sequence[Event]) -> Sit:
    """Who sat down knew the code, and his chips came by a transfer that is named after his command."""
    sat, *others = events
    assert isinstance(sat, SatDown)
    _must("a", sat.player, entry.actor)
    brought = next((event for event in others if isinstance(event, ChipsBrought)), None)
    if brought is not None:
        _named_after("e.1.transfer", name, entry, brought.transfer)
    opened = table.session.opened
    return Sit(
        now=entry.at,
        player=entry.actor,
        name=sat.name,
        seat=sat.seat,
        code=opened.code if opened else "",
        transfer=brought.transfer if brought else "",
    )


def _deal(name: str, entry: Recorded, events: Sequence[Event]) -> StartDeal:
    _must("a", CLOCK, entry.actor)
    transfer = ""
    if isinstance(events[0], ChipsBrought):
        transfer = events[0].transfer.removesuffix(f"-{events[0].seat}")
        _named_after("e.0.transfer", name, entry, transfer)
    first_dealer, deck, sealed_key, seed = _drawn(events)
    return StartDeal(
        now=entry.at,
        version_seen=entry.version - 1,
        version=entry.version - 1,
        first_dealer=first_dealer,
        deck=deck,
        sealed_key=sealed_key,
        transfer=transfer,
        seed=seed,
        table=name,
    )


def _drawn(events: Sequence[Event]) -> Draw:
    """What chance gave to the deal; deals of before there were commitments have their deck, and no seed."""
    committed = next((event for event in events if isinstance(event, DealCommitted)), None)
    if committed is not None:
        seed = _bytes(f"e.{events.index(committed)}.seed", committed.seed)
        if sorted(committed.order) != list(range(CARDS)):
            raise Impossible(f"e.{events.index(committed)}.order", "all cards, each once", str(committed.order))
        return Draw(committed.dealer, committed.order, committed.sealed_key, seed)
    started = next((event for event in events if isinstance(event, DealStarted)), None)
    dealt = next((event for event in events if isinstance(event, Dealt)), None)
    if started is None or dealt is None or dealt.deck is None:
        raise Impossible("e", "deal_started and dealt, with a deck", "an entry without them")
    return Draw(started.dealer, dealt.deck, started.sealed_key)


def _bytes(field: str, digits: str) -> bytes:
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        found = b""
    if len(found) != HASH_SIZE:
        raise Impossible(field, f"{2 * HASH_SIZE} hexadecimal digits", digits)
    return found


def _named_after(field: str, name: str, entry: Recorded, transfer: str) -> None:
    """A transfer is called `<table>.<id of the command>`, and that id begins with the command's time."""
    begins = f"{name}.{entry.at}-"
    if not transfer.startswith(begins) or not transfer[len(begins) :].isdecimal():
        raise Impossible(field, f"{begins}…", transfer)


def _must(field: str, expected: str, found: str) -> None:
    if expected != found:
        raise Impossible(field, expected, found)

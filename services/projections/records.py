"""The record of each finished deal: whole for auditors, and as far as each of its players may know it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from engine.games.voleny.events import DealScored, Dealt
from engine.table.play import GameEvent
from schemas.kept import by_identity
from schemas.recording import UNKNOWN, deck_for, move_of, record_of, recorded, without_secrets
from services.projections.sheet import Seat
from services.store.packing import packed

_encode = msgspec.json.encode


class Recorded(NamedTuple):
    """Fields of the records and of the sealed records of a table."""

    shown: dict[str, bytes]
    sealed: dict[str, bytes]


def record(deal: int, events: Sequence[GameEvent], seats: Sequence[Seat | None]) -> Recorded:
    """`record_text`, packed as it is kept."""
    texts = record_text(deal, events, seats)
    return Recorded(*({field: packed(text) for field, text in each.items()} for each in texts))


def record_text(deal: int, events: Sequence[GameEvent], seats: Sequence[Seat | None]) -> Recorded:
    """The record of deal number `deal` (JSON) from its events: `<deal>` for all, `<deal>:<player>` what he knows more.

    It goes by who held which seat in this deal: whoever sits there later may not look into these cards.
    """
    moves = [move for event in events if (move := _move(event)) is not None]
    whole = record_of([event for event in events if isinstance(event, Dealt | DealScored)])
    whole["moves"] = [move.whole for move in moves]
    public: dict[str, Any] = {**whole, "deck": deck_for(whole, None), "moves": [move.public for move in moves]}
    shown = {str(deal): _encode(public)}
    for number, seat in enumerate(seats):
        if seat is not None and seat.player:
            shown[f"{deal}:{seat.player}"] = _encode(_more(whole, moves, number))
    return Recorded(shown, {str(deal): _encode(whole)})


class _Move(NamedTuple):
    """A move as JSON: whole, as all may know it, and what its seat knows more (None: nothing)."""

    seat: int
    whole: msgspec.Raw
    public: msgspec.Raw
    more: msgspec.Raw | None


@by_identity
def _move(event: GameEvent) -> _Move | None:
    """The move behind an event. The same plays come again in every deal, so their bytes are kept."""
    made = move_of(event)
    if made is None:
        return None
    whole = recorded(made.seat, made)
    public = without_secrets(whole)
    more = {name: value for name, value in whole.items() if name not in public}
    return _Move(made.seat, _raw(whole), _raw(public), _raw(more) if more else None)


def _raw(value: dict[str, object]) -> msgspec.Raw:
    return msgspec.Raw(_encode(value))


def _more(whole: dict[str, Any], moves: Sequence[_Move], seat: int) -> dict[str, dict[str, Any]]:
    """What `seat` knows beyond all others: cards by place in the deck, and fields by number of move."""
    return {
        "deck": {str(place): card for place, card in enumerate(deck_for(whole, seat)) if card != UNKNOWN},
        "moves": {
            str(number): move.more for number, move in enumerate(moves) if move.seat == seat and move.more is not None
        },
    }

"""The record of each finished deal: whole for auditors, and as far as each of its players may know it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from engine.table.play import GameEvent
from schemas.recording import UNKNOWN, record_for, record_of
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
    whole = record_of(events)
    public: dict[str, Any] = record_for(whole, None)
    shown = {str(deal): _encode(public)}
    for number, seat in enumerate(seats):
        if seat is not None and seat.player:
            shown[f"{deal}:{seat.player}"] = _encode(_more(public, record_for(whole, number)))
    return Recorded(shown, {str(deal): _encode(whole)})


def _more(public: dict[str, Any], own: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What `own` has beyond `public`: cards by place in the deck, and fields by number of move."""
    pairs = zip(public["moves"], own["moves"], strict=True)
    return {
        "deck": {str(place): card for place, card in enumerate(own["deck"]) if card != UNKNOWN},
        "moves": {
            str(number): {name: value for name, value in mine.items() if name not in theirs}
            for number, (theirs, mine) in enumerate(pairs)
            if len(mine) > len(theirs)
        },
    }

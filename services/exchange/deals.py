"""The deals of a table as records, from its events, as far as somebody may know them."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from engine.table.events import DealEnded, DealStarted, OfTable
from engine.table.play import GameEvent
from schemas.recording import record_for, record_of
from schemas.records import Json
from services.store.history import Recorded
from services.worker.held import events_of

AUDITOR: Final = "auditor"
Eye = int | None | Literal["auditor"]
"""Whose eyes: those of a seat, of a spectator (None), or of an auditor, who sees everything."""


class Numbered(NamedTuple):
    """A record of deal number `deal` of its table."""

    deal: int
    record: Json


def records(
    table: str, entries: Iterable[Recorded], eye: Eye = AUDITOR, *, running: bool = False
) -> Iterator[Numbered]:
    """The finished deals in order; `running`: then the one that is not at its end, as far as it has come.

    `entries` are the whole past of the table. Raises BrokenStream and NewerEvent as reading does.
    """
    number, played = 0, list[GameEvent]()
    for entry in entries:
        for event in events_of(table, entry):
            if not isinstance(event, OfTable):
                played.append(event)
            elif isinstance(event, DealStarted):
                number, played = event.deal, []
            elif isinstance(event, DealEnded):
                yield Numbered(number, _seen(played, eye))
                played = []
    if running and played:
        yield Numbered(number, _seen(played, eye))


def _seen(played: list[GameEvent], eye: Eye) -> Json:
    whole = record_of(played)
    return whole if eye == AUDITOR else record_for(whole, eye)

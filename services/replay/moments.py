"""The moments of a table: each version with what was told of it, and what one could see then."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from engine.table import INITIAL, Table, fold
from engine.table.events import DealEnded, DealStarted, Event
from schemas.table import SPECTATOR, dump_events, shown_events, view_fragments
from schemas.times import rfc3339
from services.store.history import Recorded
from services.worker.held import events_of

AUDITOR: Final = "auditor"
Eye = int | None | Literal["auditor"]
"""Whose eyes: those of a seat, of a spectator (None), or of an auditor, who sees everything."""
Json = dict[str, object]

_decode = msgspec.json.Decoder(dict[str, object]).decode
_decode_events = msgspec.json.Decoder(list[Json]).decode


class Moment(NamedTuple):
    """The table at `version`. `deal` is the deal it belongs to, 0 before the first; `took_ms` is how long the seat that
    moved had been waited for, None where nobody moved."""

    version: int
    at: int
    deal: int
    actor: str
    took_ms: int | None
    events: list[Json]
    view: Json


def moments(table: str, entries: Iterable[Recorded], eye: Eye) -> Iterator[Moment]:
    """Every version in order, from the first; `entries` are the whole past of the table.

    What happens between two deals belongs to the later one. Raises BrokenStream and NewerEvent as reading does.
    """
    state, deal, waited_since = INITIAL, 0, 0
    ended = True
    for entry in entries:
        events = events_of(table, entry)
        for event in events:
            if isinstance(event, DealStarted):
                deal, ended = event.deal, False
        acted = [seat for event in events if isinstance(seat := getattr(event, "seat", None), int)]
        moved = state.session.stage == "deal" and bool(acted)
        state = fold(state, events)
        took = entry.at - waited_since if moved else None
        waited_since = entry.at
        yield Moment(
            entry.version, entry.at, deal + ended, entry.actor, took,
            _told(events, eye), _view(state, entry.version, eye),
        )
        ended = ended or any(isinstance(event, DealEnded) for event in events)


def as_json(moment: Moment) -> Json:
    """A moment as a JSON line."""
    return moment._asdict() | {"at": rfc3339(moment.at)}


def _told(events: Sequence[Event], eye: Eye) -> list[Json]:
    if eye == AUDITOR:
        return _decode_events(dump_events(events))
    told = shown_events(events)
    return _decode_events(told.public if eye is None else told.by_seat[eye] or told.public)


def _view(state: Table, version: int, eye: Eye) -> Json:
    parts = view_fragments(state, version)
    if eye == AUDITOR:
        everybody = _decode(b"{%b,%b}" % (parts.public, SPECTATOR))
        return everybody | {"seats_see": [_decode(b"{%b}" % each) for each in parts.private]}
    return _decode(b"{%b,%b}" % (parts.public, SPECTATOR if eye is None else parts.private[eye]))

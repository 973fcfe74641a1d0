"""The moments of a table: each version with what was told of it, and what one could see then."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from engine.table import INITIAL, SEATS, Table, fold, seat_of
from engine.table.events import DealEnded, DealStarted, Event, OfTable
from schemas.table import SPECTATOR, dump_events, shown_events, view_fragments
from schemas.times import rfc3339
from services.store.history import Recorded
from services.worker.held import events_of

AUDITOR: Final = "auditor"


class Player(NamedTuple):
    """The eyes of a player: those of the seat that he plays, and a spectator's while he plays none. Who has left in
    a deal does not see what a bot does with his cards meanwhile."""

    id: str


Eye = int | None | Literal["auditor"] | Player
"""Whose eyes: those of a seat, whoever plays it, of a spectator (None), of an auditor, who sees everything, or of a
player."""
Json = dict[str, object]

_decode = msgspec.json.Decoder(dict[str, object]).decode
_decode_events = msgspec.json.Decoder(list[Json]).decode


class Moment(NamedTuple):
    """The table at `version`. `deal` is the deal it belongs to; `took_ms` is how long the seat that moved had been
    waited for, None where nobody moved, and `used_ms` what each seat has used of the deal so far."""

    version: int
    at: int
    deal: int
    actor: str
    took_ms: int | None
    used_ms: list[int]
    events: list[Json]
    view: Json


class Start(NamedTuple):
    """Where a replay begins: the table, and the number of the deal that runs or (`ended`) was the last."""

    state: Table
    deal: int
    ended: bool


FIRST: Final = Start(INITIAL, 0, ended=True)


class Happened(NamedTuple):
    """An entry, its events, the table after them, and the deal it belongs to."""

    entry: Recorded
    events: tuple[Event, ...]
    state: Table
    deal: int


def happened(table: str, entries: Iterable[Recorded], start: Start = FIRST) -> Iterator[Happened]:
    """What each entry did; `entries` follow `start`, or are the whole past of the table.

    What happens between two deals belongs to the later one. Raises BrokenStream and NewerEvent as reading does.
    """
    state, deal, ended = start
    for entry in entries:
        events = events_of(table, entry)
        for event in events:
            if isinstance(event, DealStarted):
                deal, ended = event.deal, False
        state = fold(state, events)
        yield Happened(entry, events, state, deal + ended)
        ended = ended or any(isinstance(event, DealEnded) for event in events)


def seen(past: Iterable[Happened], eye: Eye) -> Iterator[Moment]:
    """The same as one could see it then."""
    clock, running = _Clock(), 0
    for entry, events, state, deal in past:
        if deal != running:
            clock, running = _Clock(), deal
        took = clock.tick(entry.at, events)
        eyes = seat_of(state, eye.id) if isinstance(eye, Player) else eye
        yield Moment(
            entry.version, entry.at, deal, entry.actor, took, list(clock.used),
            told(events, eyes), _view(state, entry.version, eyes),
        )


def moments(table: str, entries: Iterable[Recorded], eye: Eye) -> Iterator[Moment]:
    """Every version in order, from the first; `entries` are the whole past of the table."""
    return seen(happened(table, entries), eye)


def as_json(moment: Moment) -> Json:
    """A moment as a JSON line."""
    return moment._asdict() | {"at": rfc3339(moment.at)}


class _Clock:
    """How long each seat has been waited for in a deal, ms. Who only comes or goes is not waited for."""

    def __init__(self) -> None:
        self.used = [0] * SEATS
        self._since = 0

    def tick(self, at: int, events: Sequence[Event]) -> int | None:
        """How long the seat that moved by `events` had taken; None when none did."""
        if any(isinstance(event, DealStarted) for event in events):
            self._since = at
            return None
        seat = next((getattr(event, "seat", None) for event in events if not isinstance(event, OfTable)), None)
        if seat is None:
            return None
        took = at - self._since
        self._since = at
        self.used[seat] += took
        return took


_Eyes = int | None | Literal["auditor"]


def told(events: Sequence[Event], eye: _Eyes) -> list[Json]:
    """The events of an entry as one may know them."""
    if eye == AUDITOR:
        return _decode_events(dump_events(events))
    shown = shown_events(events)
    return _decode_events(shown.public if eye is None else shown.by_seat[eye] or shown.public)


def _view(state: Table, version: int, eye: _Eyes) -> Json:
    parts = view_fragments(state, version)
    if eye == AUDITOR:
        everybody = _decode(b"{%b,%b}" % (parts.public, SPECTATOR))
        return everybody | {"seats_see": [_decode(b"{%b}" % each) for each in parts.private]}
    return _decode(b"{%b,%b}" % (parts.public, SPECTATOR if eye is None else parts.private[eye]))

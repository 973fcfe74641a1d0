"""One step of all projections of a table: from what is remembered and what happened to what is written."""

import traceback
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from engine.table.events import DealEnded, DealStarted, Event, OfTable
from engine.table.play import GameEvent
from schemas.games.voleny_events import EVENTS as GAME_EVENTS
from schemas.recording import RECORDED
from schemas.table import EVENTS, load_event
from services.projections.bank import bank
from services.projections.lobby import concerns_lobby, lobby
from services.projections.records import Recorded, record
from services.projections.score import score
from services.projections.sheet import BLANK, TURNING, Sheet, turned
from services.store.outbox import Told
from services.store.outputs import Freeze, Post, Remembered, Row, TableOutput

COMMON_BYTES_MAX = 100

_HEAD: Final = b'{"type":"'
_PASSED: Final = frozenset(
    {name.encode() for name, event in EVENTS.items() if event not in TURNING}
    | {name.encode() for name, (event, _) in GAME_EVENTS.items() if event not in RECORDED}
)
"""Events that change nothing that is projected. Openings and commitments come with each card, never twice the same, and
are long: to read them costs more than all others."""

_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(dict[str, object]).decode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_sheet = msgspec.json.Decoder(Sheet).decode


class Projected(NamedTuple):
    """What a step writes: in the table's own slot, to the scores of players, to the lobby."""

    own: TableOutput | Freeze
    posts: list[Post]
    rows: list[Row]


class BrokenHistory(Exception):
    """The stream of a table has a hole: something else wrote to it."""


def first_needed(remembered: Remembered) -> int:
    """The first version that the next step must see: the running deal is recorded from its beginning."""
    return _sheet_of(remembered).began or remembered.version + 1


def project(table: str, remembered: Remembered, entries: Sequence[Told]) -> Projected:
    """The step over `entries`, which begin at `first_needed`.

    An event that a projection cannot take freezes the table's projections where they are: nothing is skipped.
    """
    try:
        return _project(table, remembered, entries)
    except Exception as error:
        return stopped(table, remembered, error)


def stopped(table: str, remembered: Remembered, error: Exception) -> Projected:
    """The step that stops the projections of `table` where they are, for `error`."""
    return Projected(Freeze(table, _error(remembered, error)), [], [])


def _project(table: str, remembered: Remembered, entries: Sequence[Told]) -> Projected:
    sheet = _sheet_of(remembered)
    shown_since = 0
    banked: dict[str, bytes] = {}
    recorded = Recorded({}, {})
    posts: list[Post] = []
    deal: list[GameEvent] = []
    for told, event in _events(remembered, entries):
        if not isinstance(event, OfTable):
            deal.append(event)
            continue
        if isinstance(event, DealStarted):
            deal = []
        if told.version <= remembered.version:
            continue
        before, sheet = sheet, turned(sheet, event, told)
        banked |= bank(before, event, sheet, told)
        posts += score(before, table, told, event)
        if concerns_lobby(before, sheet):
            shown_since = told.version
        if isinstance(event, DealEnded):
            for fields, more in zip(recorded, record(event.deal, deal, before.seats), strict=True):
                fields.update(more)
    version = entries[-1].version if entries else remembered.version
    own = TableOutput(table, remembered.version, version, _encode(sheet), banked, *recorded)
    return Projected(own, posts, [lobby(table, shown_since, sheet)] if shown_since else [])


def _events(remembered: Remembered, entries: Sequence[Told]) -> Iterator[tuple[Told, Event]]:
    """Every event with its entry. Raises BrokenHistory at a hole."""
    expected = first_needed(remembered)
    for told in entries:
        if told.version != expected:
            raise BrokenHistory(f"version {expected} is missing before {told.version}")
        for raw in _split(told.events):
            stored = bytes(raw)
            event = _common(stored) if len(stored) <= COMMON_BYTES_MAX else _read(stored)
            if event is not None:
                yield told, event
        expected += 1


def _kind(stored: bytes) -> bytes:
    """The type that an event begins with, as every build writes it; "" where it begins with something else."""
    return stored[len(_HEAD) : stored.find(b'"', len(_HEAD))] if stored.startswith(_HEAD) else b""


def _read(stored: bytes) -> Event | None:
    """The event; None: it is passed by."""
    return None if _kind(stored) in _PASSED else load_event(_decode(stored))


@lru_cache(maxsize=4096)
def _common(stored: bytes) -> Event | None:
    """`_read` of what comes again in every deal."""
    return _read(stored)


def _sheet_of(remembered: Remembered) -> Sheet:
    return _sheet(remembered.state) if remembered.state else BLANK


@lru_cache(maxsize=256)
def _sheet(state: bytes) -> Sheet:
    """A step asks several times for what it starts from."""
    return _decode_sheet(state)


def _error(remembered: Remembered, error: Exception) -> bytes:
    return _encode(
        {
            "version": remembered.version,
            "error": f"{type(error).__name__}: {error}",
            "traceback": "".join(traceback.format_exception(error)),
        }
    )

"""Events of a table and of its game: as they are stored for ever, and as the feed shows them to each seat."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from engine.notation import CODES
from engine.table.events import (
    BecameReady,
    CardOpened,
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealCommitted,
    DealEnded,
    DealStarted,
    Event,
    HandsCommitted,
    LeavesOpened,
    NonceCommitted,
    NonceRevealed,
    NoncesJoined,
    OfTable,
    Place,
    RoundExtended,
    SatDown,
    SeatFreed,
    SeatLeft,
    TableEvent,
    TableFinished,
    TableOpened,
    TalonOpened,
    TurnExpired,
)
from engine.table.play import GameEvent
from engine.table.state import SEATS
from engine.table.view import shown
from schemas.games import WIRE
from schemas.kept import by_identity
from schemas.times import rfc3339
from schemas.upcasters import upcast, version_of

Stored = dict[str, object]

EVENTS: Final[dict[str, type[TableEvent]]] = {
    "table_opened": TableOpened,
    "sat_down": SatDown,
    "became_ready": BecameReady,
    "seat_left": SeatLeft,
    "seat_freed": SeatFreed,
    "chips_brought": ChipsBrought,
    "chips_returned": ChipsReturned,
    "nonce_committed": NonceCommitted,
    "deal_committed": DealCommitted,
    "nonce_revealed": NonceRevealed,
    "nonces_joined": NoncesJoined,
    "leaves_opened": LeavesOpened,
    "hands_committed": HandsCommitted,
    "card_opened": CardOpened,
    "talon_opened": TalonOpened,
    "deal_started": DealStarted,
    "deal_ended": DealEnded,
    "deadline_set": DeadlineSet,
    "turn_expired": TurnExpired,
    "round_extended": RoundExtended,
    "table_finished": TableFinished,
}
"""The table's own types of event; all others are the game's."""

_NAMES: Final = {event: name for name, event in EVENTS.items()}
_VERSIONS: Final = {name: version_of(name) for name in EVENTS}
_HEADS: Final = {
    event: b'{"type":"%b",' % name.encode() + (b'"v":%d,' % _VERSIONS[name] if _VERSIONS[name] > 1 else b"")
    for name, event in EVENTS.items()
}
_WITHHELD: Final = frozenset(
    {"code", "sealed_key", "transfer", "player", "seed", "key", "salt", "talon", "next_commitment"}
)
_WITHHELD_FROM_ALL: Final = frozenset({TableOpened, DealStarted, DealCommitted, ChipsBrought, ChipsReturned})
"""What is withheld of these nobody may know, whatever his seat: `shown` need not be asked for each."""
_EMPTY: Final = frozenset({"order", "leaves", "salts", "tokens"})
_BY_SEAT: Final = frozenset({"commitments", "nonces"})
GAME: Final = WIRE["voleny"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Stored]).decode


def dump_event(event: Event) -> Stored:
    """The event as it is stored: `type`, its fields, and `v` unless that is 1."""
    if not isinstance(event, OfTable):
        return GAME.dump_event(event)
    name = _NAMES[type(event)]
    version: Stored = {"v": _VERSIONS[name]} if _VERSIONS[name] > 1 else {}
    return {"type": name, **version, **msgspec.to_builtins(event)}


def load_event(stored: Stored) -> Event:
    """An event of any version that was ever written."""
    kind = EVENTS.get(str(stored["type"]))
    return GAME.load_event(stored) if kind is None else msgspec.convert(upcast(stored), kind)


def dump_events(events: Iterable[Event]) -> bytes:
    """The events of one command as a JSON array."""
    return _array([_stored(event) for event in events])


def load_events(array: bytes) -> tuple[Event, ...]:
    """The events of one command, from what `dump_events` of any build wrote."""
    return tuple(map(load_event, _decode(array)))


class ShownEvents(NamedTuple):
    """JSON arrays: what all may know, and by seat where that seat may know more (None: the same)."""

    public: bytes
    by_seat: tuple[bytes | None, ...]


def shown_events(events: Sequence[Event]) -> ShownEvents:
    """The events of one command as each reader may know them; what one may not know is absent."""
    told = [_told(event) if isinstance(event, OfTable) else _told_of_game(event) for event in events]
    public = _array([each.public for each in told])
    if all(each.by_seat is _ALL_THE_SAME for each in told):
        return ShownEvents(public, _ALL_THE_SAME)
    seats = [_array([each.by_seat[seat] or each.public for each in told]) for seat in range(SEATS)]
    return ShownEvents(public, tuple([None if seen == public else seen for seen in seats]))


_ALL_THE_SAME: Final = (None,) * SEATS


def _told(event: Event) -> ShownEvents:
    """The same of one event, not in an array."""
    if type(event) is CardOpened:  # It comes with every card, and each time with another salt.
        opened = b'{"type":"card_opened","card":"%b","salt":"%b"}' % (CODES[event.card].encode(), event.salt.encode())
        return ShownEvents(opened, _ALL_THE_SAME)
    public = shown(event, None)
    told = _encode(show_event(public))
    if public is event:
        return ShownEvents(told, _ALL_THE_SAME)  # Where nothing is withheld from all, nothing is from a seat.
    if type(event) in _WITHHELD_FROM_ALL:
        return ShownEvents(told, _ALL_THE_SAME)
    seats = [shown(event, seat) for seat in range(SEATS)]
    return ShownEvents(told, tuple([None if seen == public else _encode(show_event(seen)) for seen in seats]))


def show_event(event: Event) -> Stored:
    """A shown event as a member of the feed: without the versions of storage, times as RFC 3339."""
    if isinstance(event, DeadlineSet):
        return {"type": "deadline_set", "at": None if event.at is None else rfc3339(event.at)}
    if isinstance(event, CardOpened):
        return {"type": "card_opened", "card": CODES[event.card], "salt": event.salt}
    dumped = dump_event(event)
    dumped.pop("v", None)
    if isinstance(event, TableFinished):
        return {"type": "table_finished", "standing": [show_place(place) for place in event.standing]}
    return {
        name: [one or None for one in value] if name in _BY_SEAT else value  # type: ignore[attr-defined]  # Three texts.
        for name, value in dumped.items()
        if value or not (name in _EMPTY or (value == "" and name in _WITHHELD))
    }


def show_place(place: Place) -> Stored:
    """A line of a final standing."""
    shown_place: Stored = {"place": place.place, "seat": place.seat, "chips": place.chips}
    return shown_place | {"player": place.player, "name": place.name} if place.player else shown_place


def _array(members: Sequence[bytes]) -> bytes:
    return b"[%b]" % (members[0] if len(members) == 1 else b",".join(members))


def _stored(event: Event) -> bytes:
    """The bytes of `dump_event`, the shorter way."""
    if not isinstance(event, OfTable):
        return _stored_of_game(event)
    return _HEADS[type(event)] + _encode(event)[1:]


@by_identity
def _stored_of_game(event: GameEvent) -> bytes:
    """The same plays come again in every deal, so their bytes are kept."""
    return _encode(GAME.dump_event(event))


@by_identity
def _told_of_game(event: GameEvent) -> ShownEvents:
    return _told(event)

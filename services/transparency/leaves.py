"""What the log says of a finished deal: which versions it took, and the hash of its table's chain at its end."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from engine.table.events import DealEnded, Event
from schemas.table import load_event
from services.store import chain
from services.store.cold import RawEntry, version_of
from services.store.deal_log import Leaf, Place

_encode = msgspec.json.Encoder(order="sorted").encode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_ENDED: Final = b'"deal_ended"'


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf, read: deal `deal` of `table` took the versions `first` to `last`; `head` is the hash at `last`."""

    table: str
    deal: int
    first: int
    last: int
    head: str


class OutOfOrder(Exception):
    """The deals of a table do not follow each other."""


_decode = msgspec.json.Decoder(Told).decode


def leaf(table: str, deal: int, first: int, last: int, head: str) -> Leaf:
    """The leaf of a deal: JSON with its members in alphabetical order and without spaces, so that there is one form."""
    data = _encode({"table": table, "deal": deal, "first": first, "last": last, "head": head})
    return Leaf(table, Place(deal, last, head), data)


def read(data: bytes) -> Told:
    """What a leaf says. Raises ValueError: it is none, or not in its one form."""
    try:
        told = _decode(data)
    except msgspec.MsgspecError as error:
        raise ValueError(f"it is no leaf: {error}") from error
    if leaf(told.table, told.deal, told.first, told.last, told.head).data != data:
        raise ValueError("it is a leaf in another form than the one that is hashed")
    return told


def ended_deals(entries: Iterable[RawEntry], table: str, place: Place, until: int, most: int) -> Iterator[Leaf]:
    """The leaves of at most `most` deals of `table` that ended after `place`, up to version `until` (0: all), from the
    entries after it.

    Raises BrokenStream, also for an entry that carries another hash than it should; PastMissing; OutOfOrder.
    """
    deal, begins = place.deal, place.version + 1
    head = chain.digest(place.hash) if place.hash else b""
    for raw in entries:
        head, events = chain.checked_raw(head, table, raw)
        version = version_of(raw)
        if _ENDED in events:
            for event in _ends(events):
                if isinstance(event, DealEnded):
                    if event.deal != deal + 1:
                        raise OutOfOrder(f"{table}: deal {event.deal} ends at version {version} after {deal}")
                    deal = event.deal
                    yield leaf(table, deal, begins, version, chain.text(head))
                    begins = version + 1
        if version == until or deal - place.deal >= most:
            return


def _ends(events: bytes) -> Iterator[Event]:
    """Of the events of an entry those that may be the end of a deal; the others are not even read."""
    for event in _split(events):
        if _ENDED in bytes(event):
            yield load_event(msgspec.json.decode(event))

"""What the log says of a finished deal: which versions it took, and the hash of its table's chain at its end."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from engine.table.events import DealEnded
from schemas.table import load_events
from services.store import chain
from services.store.deal_log import Leaf, Place
from services.store.history import Recorded

_encode = msgspec.json.Encoder(order="sorted").encode
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


def ended_deals(entries: Iterable[Recorded], table: str, place: Place, until: int, most: int) -> Iterator[Leaf]:
    """The leaves of at most `most` deals of `table` that ended after `place`, up to version `until` (0: all), from the
    entries after it.

    Raises BrokenStream, also for an entry that carries another hash than it should; PastMissing; OutOfOrder.
    """
    deal, begins = place.deal, place.version + 1
    head = chain.digest(place.hash) if place.hash else b""
    for entry in entries:
        head = chain.checked(head, table, entry)
        if _ENDED in entry.events:
            for event in load_events(entry.events):
                if isinstance(event, DealEnded):
                    if event.deal != deal + 1:
                        raise OutOfOrder(f"{table}: deal {event.deal} ends at version {entry.version} after {deal}")
                    deal = event.deal
                    yield leaf(table, deal, begins, entry.version, chain.text(head))
                    begins = entry.version + 1
        if entry.version == until or deal - place.deal >= most:
            return

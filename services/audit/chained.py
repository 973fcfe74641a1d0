"""What is wrong with an entry whose hash is not that of what it says: the hash itself, or which of its fields.

The entry after it tells the one from the other, as its own hash was made over the true one; so do copies of fields that
a receipt or the feed holds. Which field was changed is then found by trying: the hash fits again once the right byte is
put back, or the copy, or what the next entry has there. Where that does not help, the fields in question are named.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from services.store import chain
from services.store.history import Recorded

SHORT_MAX: Final = 96
EVENTS_MAX: Final = 4096
SINGLE: Final = frozenset({"at", "a", "k", "f", "x", "h"})
"""Fields that nothing can tell more about. Of events the rules may still say which of them is wrong."""
ANY: Final = "at, a, k, f, e or x"
_PRINTABLE: Final = bytes(range(32, 127))


class Beside(NamedTuple):
    """What stands beside an entry: the one that comes after it, and copies of its fields by their names."""

    following: Recorded | None
    copies: Mapping[str, str]


class Changed(NamedTuple):
    """The field at fault, what should stand there (as far as it is known), and what does."""

    field: str
    expected: str
    found: str


def changed(previous: bytes, table: str, entry: Recorded, beside: Beside) -> Changed:
    """What of `entry`, which comes after the one with the hash `previous`, is not what its hash was made of."""
    computed, following = chain.link(previous, table, entry), beside.following
    told = Changed("h", chain.text(computed), entry.hash)
    if beside.copies.get("h") == told.expected or _follows(computed, table, following):
        return told
    for field, value, tried in _tries(entry, beside):
        if chain.text(chain.link(previous, table, tried)) == entry.hash:
            return Changed(field, value, _value(entry, field))
    if following is None or not following.hash or not entry.hash:
        return told._replace(field=f"h, {ANY}")
    return told._replace(field=ANY)


def _follows(head: bytes, table: str, following: Recorded | None) -> bool:
    """Was the hash of the next entry made over this one?"""
    return following is not None and following.hash == chain.text(chain.link(head, table, following))


def _tries(entry: Recorded, beside: Beside) -> Iterator[tuple[str, str, Recorded]]:
    """The entry with one field from somewhere else, then with one byte of one field changed, missing or too many."""
    for field in ("at", "a", "k", "f", "x"):
        others = [beside.copies.get(field), _value(beside.following, field) if beside.following else None]
        for told in others:
            if told and (field != "at" or told.isdecimal()):
                yield field, told, _with(entry, field, told)
    if beside.following is not None:
        yield "e", _value(beside.following, "e"), entry._replace(events=beside.following.events)
    for field in ("at", "a", "k", "f", "x"):
        value = _value(entry, field).encode()
        for edited in _edits(value) if len(value) <= SHORT_MAX else ():
            told = edited.decode(errors="ignore")
            if field != "at" or told.isdecimal():
                yield field, told, _with(entry, field, told)
    for edited in _edits(entry.events) if len(entry.events) <= EVENTS_MAX else ():
        yield "e", edited.decode(errors="replace"), entry._replace(events=edited)


def _edits(value: bytes) -> Iterator[bytes]:
    for place in range(len(value)):
        for byte in _PRINTABLE:
            yield b"%b%c%b" % (value[:place], byte, value[place + 1 :])
        yield value[:place] + value[place + 1 :]
    for place in range(len(value) + 1):
        for byte in _PRINTABLE:
            yield b"%b%c%b" % (value[:place], byte, value[place:])


def _with(entry: Recorded, field: str, value: str) -> Recorded:
    match field:
        case "at":
            return entry._replace(at=int(value))
        case "a":
            return entry._replace(actor=value)
        case "k":
            return entry._replace(key=value)
        case "f":
            return entry._replace(fingerprint=value)
        case _:
            return entry._replace(tag=value)


def _value(entry: Recorded, field: str) -> str:
    names = {"at": str(entry.at), "a": entry.actor, "k": entry.key, "f": entry.fingerprint, "x": entry.tag}
    return entry.events.decode(errors="replace") if field == "e" else names[field]

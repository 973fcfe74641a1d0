"""Reading a document that may be anything: each value by its place, as in `rounds[0].tokens[2][9]`."""

import re
from typing import Final

from engine.notation import CARD

_STEPS: Final = re.compile(r"\.?([a-z_]+)|\[(\d+)\]")


class Unfair(Exception):
    """Something in a proof is wrong: `field` is its place, `why` goes on after it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


def at(document: object, field: str) -> object:
    """The value at a place. Raises Unfair where there is none."""
    found = document
    for name, index in _STEPS.findall(field):
        if name and isinstance(found, dict) and name in found:
            found = found[name]
        elif index and isinstance(found, list) and int(index) < len(found):
            found = found[int(index)]
        else:
            raise Unfair(field, "is missing")
    return found


def text_at(document: object, field: str) -> str:
    """A text."""
    found = at(document, field)
    if not isinstance(found, str) or not re.fullmatch("[ -~]+", found):
        raise Unfair(field, "is no text")
    return found


def number_at(document: object, field: str, low: int, high: int) -> int:
    """A whole number within bounds."""
    found = at(document, field)
    if type(found) is not int or not low <= found <= high:
        raise Unfair(field, f"is no number from {low} to {high}")
    return found


def this_number_at(document: object, field: str, number: int) -> None:
    """The one number that may stand there; `true` and `1.0`, which are equal to 1, are not it."""
    found = at(document, field)
    if type(found) is not int or found != number:
        raise Unfair(field, f"is not {number}")


def flag_at(document: object, field: str) -> bool:
    """True or false."""
    found = at(document, field)
    if not isinstance(found, bool):
        raise Unfair(field, "is neither true nor false")
    return found


def list_at(document: object, field: str, size: int | None = None) -> list[object]:
    """A list, of exactly `size` members if told."""
    found = at(document, field)
    if not isinstance(found, list) or (size is not None and len(found) != size):
        raise Unfair(field, "is no list" if size is None else f"is no list of {size}")
    return found


def card_at(document: object, field: str) -> int:
    """A card from its code."""
    found = at(document, field)
    if not isinstance(found, str) or found not in CARD:
        raise Unfair(field, "is no card")
    return CARD[found]


def hex_at(document: object, field: str, size: int = 32) -> bytes:
    """So many bytes, from hexadecimal digits in small letters."""
    found = at(document, field)
    if not isinstance(found, str) or not re.fullmatch(f"[0-9a-f]{{{2 * size}}}", found):
        raise Unfair(field, f"is not {2 * size} hexadecimal digits")
    return bytes.fromhex(found)

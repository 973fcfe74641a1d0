"""A deck from a deal key: the same key gives the same deck on every machine, for ever."""

import hmac
import struct
from collections.abc import Iterator
from itertools import count
from typing import Final


def deck_from_key(key: bytes, cards: int = 32) -> tuple[int, ...]:
    """All of `range(cards)` in the order that `key` decides, each order as likely as any other.

    >>> deck_from_key(b"deal 1", 5)
    (0, 3, 1, 4, 2)
    """
    deck = list(range(cards))
    draws = _words(key)
    place = cards - 1
    while place > 0:
        for word in next(draws):
            size = place + 1
            other = word % size
            if word - other + size > _WORDS:
                continue  # Such words would favour low numbers: too few of them are left for each to come as often.
            deck[place], deck[other] = deck[other], deck[place]
            place -= 1
            if not place:
                break
    return tuple(deck)


def _words(key: bytes) -> Iterator[tuple[int, ...]]:
    """32-bit words, eight at a time: HMAC-SHA-256 of 0, 1, 2, … as eight big-endian bytes, cut in four-byte pieces."""
    for counter in count():
        yield _cut(hmac.digest(key, counter.to_bytes(8, "big"), "sha256"))


_WORDS: Final = 1 << 32
_cut: Final = struct.Struct(">8I").unpack

"""A deck from a deal key: the same key gives the same deck on every machine, for ever."""

import struct
from collections.abc import Iterator
from hashlib import sha256
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
    if len(key) > _BLOCK:
        key = sha256(key).digest()
    whole = key.ljust(_BLOCK, b"\0")
    inner, outer = whole.translate(_INNER), whole.translate(_OUTER)
    for counter in count():  # As `hmac.digest` does it, which looks for its hash each time and takes twice as long.
        yield _cut(sha256(outer + sha256(inner + counter.to_bytes(8, "big")).digest()).digest())


_WORDS: Final = 1 << 32
_BLOCK: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))
_cut: Final = struct.Struct(">8I").unpack

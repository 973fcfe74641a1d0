"""A deck from a deal key: the same key gives the same deck on every machine, for ever."""

import hmac
import struct
from collections.abc import Iterator
from itertools import count


def deck_from_key(key: bytes, cards: int = 32) -> tuple[int, ...]:
    """All of `range(cards)` in the order that `key` decides, each order as likely as any other.

    >>> deck_from_key(b"deal 1", 5)
    (0, 3, 1, 4, 2)
    """
    deck = list(range(cards))
    draws = _words(key)
    for place in range(cards - 1, 0, -1):
        fair = (1 << 32) - (1 << 32) % (place + 1)  # Words from here on would favour low numbers.
        word = next(draws)
        while word >= fair:
            word = next(draws)
        other = word % (place + 1)
        deck[place], deck[other] = deck[other], deck[place]
    return tuple(deck)


def _words(key: bytes) -> Iterator[int]:
    """32-bit words: HMAC-SHA-256 of 0, 1, 2, … as eight big-endian bytes, cut in four-byte pieces."""
    for counter in count():
        for (word,) in _cut(hmac.digest(key, counter.to_bytes(8, "big"), "sha256")):
            yield word


_cut = struct.Struct(">I").iter_unpack

"""A deck from a deal key: the same key gives the same deck on every machine, for ever."""

import hashlib
import hmac
from collections.abc import Iterator


def deck_from_key(key: bytes, cards: int = 32) -> tuple[int, ...]:
    """All of `range(cards)` in the order that `key` decides, each order as likely as any other.

    >>> deck_from_key(b"deal 1", 5)
    (0, 3, 1, 4, 2)
    """
    deck = list(range(cards))
    draws = _words(key)
    for place in range(cards - 1, 0, -1):
        other = _below(place + 1, draws)
        deck[place], deck[other] = deck[other], deck[place]
    return tuple(deck)


def _words(key: bytes) -> Iterator[int]:
    """32-bit words: HMAC-SHA-256 of 0, 1, 2, … as eight big-endian bytes, cut in four-byte pieces."""
    counter = 0
    while True:
        block = hmac.digest(key, counter.to_bytes(8, "big"), hashlib.sha256)
        for start in range(0, len(block), 4):
            yield int.from_bytes(block[start : start + 4], "big")
        counter += 1


def _below(limit: int, draws: Iterator[int]) -> int:
    """A fair number under `limit`; words beyond its last whole multiple would favour low numbers."""
    fair = (1 << 32) // limit * limit
    return next(word for word in draws if word < fair) % limit

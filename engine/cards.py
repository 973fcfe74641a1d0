"""A card is an integer 0-31, a set of cards is a 32-bit mask, and the order of strength is a table."""

from collections.abc import Iterable
from typing import Final

SUITS: Final = "hdcs"
RANKS: Final = "789TJQKA"
CARDS: Final = 32

HEARTS: Final = 0
SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(8)

ALL_CARDS: Final = 0xFFFFFFFF
SUIT_MASKS: Final = (0xFF, 0xFF00, 0xFF0000, 0xFF000000)
TENS_AND_ACES: Final = 0x88888888

NATURAL: Final = (SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE)
TEN_HIGH: Final = (SEVEN, EIGHT, NINE, JACK, QUEEN, KING, TEN, ACE)


def mask_of(cards: Iterable[int]) -> int:
    """The set of `cards`, all different, as a mask."""
    return sum(map(_BIT_OF, cards))


_BIT_OF: Final = tuple(1 << card for card in range(CARDS)).__getitem__
_CARDS_OF_BYTE: Final = tuple(
    tuple(tuple(8 * suit + rank for rank in range(8) if byte >> rank & 1) for byte in range(256)) for suit in range(4)
)


def cards_of(mask: int) -> tuple[int, ...]:
    """The cards of `mask`, by suit and natural rank."""
    hearts, bells, acorns, leaves = _CARDS_OF_BYTE
    return hearts[mask & 255] + bells[mask >> 8 & 255] + acorns[mask >> 16 & 255] + leaves[mask >> 24]


def strength(order: tuple[int, ...]) -> tuple[int, ...]:
    """How strong each of the 32 cards is within its suit, 0 the weakest, when ranks rise as in `order`.

    >>> strength(TEN_HIGH)[TEN], strength(NATURAL)[TEN]
    (6, 3)
    """
    return tuple(order.index(card % 8) for card in range(CARDS))


def above(order: tuple[int, ...]) -> tuple[int, ...]:
    """For each card the mask of the cards of its suit that beat it when ranks rise as in `order`."""
    strengths = strength(order)
    return tuple(
        mask_of(other for other in range(CARDS) if other // 8 == card // 8 and strengths[other] > strengths[card])
        for card in range(CARDS)
    )

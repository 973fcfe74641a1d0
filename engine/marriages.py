"""Marriages: the king and queen of one suit in one hand (§1.4)."""

from typing import Final

from engine.cards import CARDS, KING, QUEEN

MATES: Final = tuple(1 << (card ^ QUEEN ^ KING) if card % 8 in (QUEEN, KING) else 0 for card in range(CARDS))
"""For a king or queen the bit of its partner, for any other card nothing."""


def holds_marriage(hand: int) -> bool:
    """Whether a king and a queen of one suit are in `hand`."""
    return bool(hand & (hand >> 1) & _QUEENS)


def marriage_points(card: int, trump: int) -> int:
    """What the marriage of a king or queen is worth: 40 in trumps, else 20 (§1.4)."""
    return 40 if card >> 3 == trump else 20


_QUEENS: Final = sum(1 << (8 * suit + QUEEN) for suit in range(4))

"""Cards as text, rank then suit: `Ah`, `Td`, `7c`."""

from collections.abc import Iterable
from typing import Final

from engine.cards import RANKS, SUITS, cards_of, mask_of

CODES: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
CARD: Final = {code: card for card, code in enumerate(CODES)}


def parse(text: str) -> tuple[int, ...]:
    """The cards of a text, in its order. An unknown code is a KeyError.

    >>> parse("Ah 7d")
    (7, 8)
    """
    return tuple(CARD[code] for code in text.split())


def parse_mask(text: str) -> int:
    """The set of cards of a text, as a mask."""
    return mask_of(parse(text))


def codes(cards: Iterable[int]) -> list[str]:
    """The codes of `cards`, in their order."""
    return [CODES[card] for card in cards]


def show(mask: int) -> str:
    """A set of cards as text.

    >>> show(parse_mask("Ad Ah 7h"))
    '7h Ah Ad'
    """
    return " ".join(codes(cards_of(mask)))

"""Tricks: what may be played to one and who takes it, for any order of strength, as a tree made once."""

from functools import cache
from typing import Final

from engine.cards import ALL_CARDS, CARDS, NATURAL, SUIT_MASKS, TEN_HIGH, above

NO_TRUMP: Final = -1


class Trick:
    """The cards of a trick so far, and what they oblige the next player to.

    `duties` are masks in falling order of duty: the player plays from the first that meets his hand, else anything.
    `after[card]` is the trick with one more card, for the first two cards; a whole trick is made by `closed`.
    """

    __slots__ = ("after", "beaten_by", "cards", "duties", "order", "top")

    def __init__(  # noqa: PLR0913, PLR0917  Six facts, by place because thousands are made.
        self,
        order: int,
        cards: tuple[int, ...],
        top: int,
        beaten_by: int,
        duties: tuple[int, ...],
        after: "tuple[Trick, ...]" = (),
    ) -> None:
        self.order = order
        """The trump suit, or NO_TRUMP for the natural order."""
        self.cards = cards
        self.top = top
        """Index in `cards` of the card that takes the trick."""
        self.beaten_by = beaten_by
        self.duties = duties
        self.after = after

    def __repr__(self) -> str:
        return f"Trick({self.order}, {self.cards})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trick) and (self.order, self.cards) == (other.order, other.cards)

    def __hash__(self) -> int:
        return hash((self.order, self.cards))

    def top_with(self, card: int) -> int:
        """Index of the card that takes the trick once `card` is added."""
        return len(self.cards) if self.beaten_by >> card & 1 else self.top

    def closed(self, card: int) -> "Trick":
        """The whole trick: `card` is its last."""
        return Trick(self.order, (*self.cards, card), self.top_with(card), 0, ())


def playable(hand: int, trick: Trick, held_back: int = 0) -> int:
    """The cards of `hand` that may be played to `trick` (§7.1-§7.5); `held_back` only if nothing else may (§7.6)."""
    for duty in trick.duties:
        if cards := hand & duty:
            break
    else:
        cards = hand
    if held_back:
        return cards & ~held_back or cards
    return cards


@cache
def empty_trick(trump: int) -> Trick:
    """The empty trick of a game with `trump`, or of one without (NO_TRUMP); all others are reached by `after`."""
    higher = above(NATURAL if trump == NO_TRUMP else TEN_HIGH)
    firsts = []
    for led in range(CARDS):
        seconds = tuple(_grown(trump, higher, (led, card), _top(trump, higher, led, card)) for card in range(CARDS))
        firsts.append(_grown(trump, higher, (led,), 0, seconds))
    return Trick(trump, (), 0, ALL_CARDS, (), tuple(firsts))


def trick_of(trump: int, cards: tuple[int, ...]) -> Trick:
    """The trick of `cards`, which may be whole."""
    trick = empty_trick(trump)
    for card in cards:
        trick = trick.after[card] if trick.after else trick.closed(card)
    return trick


def _top(trump: int, higher: tuple[int, ...], best: int, card: int) -> int:
    """1 when `card` beats `best`, else 0."""
    return _beaten_by(trump, higher, best) >> card & 1


def _beaten_by(trump: int, higher: tuple[int, ...], best: int) -> int:
    if trump in (NO_TRUMP, best >> 3):
        return higher[best]
    return higher[best] | SUIT_MASKS[trump]


def _grown(
    trump: int, higher: tuple[int, ...], cards: tuple[int, ...], top: int, after: tuple[Trick, ...] = ()
) -> Trick:
    best = cards[top]
    return Trick(trump, cards, top, _beaten_by(trump, higher, best), _duties(trump, higher, cards[0], best), after)


def _duties(trump: int, higher: tuple[int, ...], led: int, best: int) -> tuple[int, ...]:
    """What a player owes, strongest first (§7.1-§7.4): follow and beat, follow, overtrump, trump."""
    suit = SUIT_MASKS[led >> 3]
    if trump in (NO_TRUMP, led >> 3):
        return (higher[best], suit)
    trumps = SUIT_MASKS[trump]
    if best >> 3 == trump:
        return (suit, higher[best], trumps)
    return (higher[best], suit, trumps)

"""How good a hand is for betl and durch, the two games that one side plays without trumps."""

from math import fsum

from engine.bots.sight import SUIT_CARDS, of_suit

_CAUGHT = (1.0, 0.55, 0.25, 0.1, 0.03, 0.01, 0.0, 0.0, 0.0)
"""How likely the top card of a suit takes a trick in betl, by the number of unseen cards above it."""

_LEAD = 0.95
"""A danger that the first lead removes counts almost as none; of two such hands the lower one is better."""


def betl_danger(hand: tuple[int, ...]) -> float:
    """Roughly how many tricks this hand takes in betl against its will; the first lead gets rid of one top card.

    Who can beat must, so low cards do not protect the top one: a defender leads under it.
    """
    dangers = [_danger(of_suit(hand, suit), suit) for suit in range(4)]
    return fsum(dangers) - _LEAD * max(_relief(of_suit(hand, suit), suit) for suit in range(4))


def riskiest_suit(hand: tuple[int, ...]) -> int:
    """The suit whose top card is most likely to take a trick in betl."""
    return max(range(4), key=lambda suit: _danger(of_suit(hand, suit), suit))


def betl_lead(hand: tuple[int, ...]) -> int:
    """The top card whose loss relieves a betl most; it must lie under some unseen card, or it takes the trick."""
    suit = max(range(4), key=lambda suit: _relief(of_suit(hand, suit), suit))
    own = of_suit(hand, suit)
    return own[-1] if _relief(own, suit) > 0 else min(hand, key=lambda card: card % 8)


def _danger(own: tuple[int, ...], suit: int) -> float:
    """Of the top card: nothing under it can be led to it, or how few cards may save it."""
    if not own or own[-1] % 8 == len(own) - 1:
        return 0.0
    return _CAUGHT[7 - own[-1] % 8]


def _relief(own: tuple[int, ...], suit: int) -> float:
    if not own or own[-1] == SUIT_CARDS[suit][-1]:
        return 0.0
    return _danger(own, suit) - _danger(own[:-1], suit)


def durch_is_sure(hand: tuple[int, ...]) -> bool:
    """Can nobody take a trick, wherever the cards lie (§8.10, with the talon among the unseen)?"""
    return all(_runs(of_suit(hand, suit)) for suit in range(4))


def _runs(own: tuple[int, ...]) -> bool:
    """Enough cards from the top to draw all others, or nothing but top cards."""
    tops = sum(1 for place, card in enumerate(reversed(own)) if card % 8 == 7 - place)
    return tops >= min(len(own), 8 - len(own))


def durch_losers(hand: tuple[int, ...]) -> int:
    """How many cards of the hand are not sure to take a trick in durch."""
    return sum(len(own) for own in (of_suit(hand, suit) for suit in range(4)) if not _runs(own))

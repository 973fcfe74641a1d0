"""The most modest legal move of a seat: what is played for it when its time has passed."""

from typing import assert_never

from engine.cards import NATURAL, SUIT_MASKS, TEN_HIGH, TENS_AND_ACES, cards_of, strength
from engine.games.voleny.commands import GOODS, Discard, Move, announces, declares, discards, play, trumps
from engine.games.voleny.decide import kinds_open
from engine.games.voleny.playing import cards_open
from engine.games.voleny.state import (
    NO_CARD,
    Announcing,
    Answering,
    ChoosingTrump,
    Declaring,
    Discarding,
    Doubling,
    Over,
    Playing,
    State,
    Undealt,
)
from engine.marriages import MATES
from engine.tricks import NO_TRUMP

_NATURAL = strength(NATURAL)
_TEN_HIGH = strength(TEN_HIGH)


def modest(deal: State) -> Move:
    """The move; it knows no more than the seat does. A state where nobody is to act is an AssertionError."""
    match deal:
        case ChoosingTrump(seat=seat):
            return trumps(seat, _lowest_of_longest_suit(deal.hands[seat]))
        case Discarding():
            return _two_lowest(deal)
        case Declaring(seat=seat):
            return declares(seat, kinds_open(deal)[0])
        case Answering(seat=seat) | Doubling(seat=seat):
            return GOODS[seat]
        case Announcing(seat=seat):
            return announces(seat, ("hra",))
        case Playing():
            return _lowest_play(deal)
        case Over() | Undealt():
            raise AssertionError("nobody is to act")
        case _:
            assert_never(deal)


def lowest(cards: int, strengths: tuple[int, ...]) -> list[int]:
    """Cards from the lowest up; of equal ones hearts first, then bells, acorns, leaves."""
    return sorted(cards_of(cards), key=lambda card: (strengths[card], card))


def _lowest_of_longest_suit(hand: int) -> int:
    longest = max(SUIT_MASKS, key=lambda suit: (hand & suit).bit_count())
    return lowest(hand & longest, _TEN_HIGH)[0]


def _two_lowest(deal: Discarding) -> Discard:
    """Neither ace nor ten nor, where that closes the colour, a trump, as long as there are two others."""
    hand = deal.hands[deal.seat]
    strengths = _NATURAL
    barred = [TENS_AND_ACES]
    if deal.trump_card != NO_CARD:
        hand &= ~(1 << deal.trump_card)
        strengths = _TEN_HIGH
        if deal.rules.forbid_trump_in_talon:
            barred.insert(0, TENS_AND_ACES | SUIT_MASKS[deal.trump_card >> 3])
    free = next((hand & ~bar for bar in barred if (hand & ~bar).bit_count() >= 2), hand)
    return discards(deal.seat)[tuple(sorted(lowest(free, strengths)[:2]))]


def _lowest_play(deal: Playing) -> Move:
    contract = deal.contract
    strengths = _NATURAL if contract.trump == NO_TRUMP else _TEN_HIGH
    card = lowest(cards_open(deal), strengths)[0]
    hand = contract.hands[deal.seat] & deal.left
    if contract.words[deal.seat] and hand & MATES[card]:
        return play(deal.seat, card, True)
    return play(deal.seat, card)

"""The moves open to the seat to act, whole and ready to send, in a stable order."""

from functools import cache
from typing import assert_never

from engine.cards import cards_of
from engine.games.voleny.commands import (
    DECLARES,
    GOODS,
    TAKE_OVERS,
    ChooseTrump,
    Discard,
    Move,
    announces,
    discards,
    trumps,
)
from engine.games.voleny.decide import contracts_open, kinds_open
from engine.games.voleny.doubling import words_open
from engine.games.voleny.playing import plays_open
from engine.games.voleny.state import (
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


def legal(deal: State) -> tuple[Move, ...]:
    """Every move that `decide` would accept of the seat to act; none before the deal and after it."""
    match deal:
        case Playing():
            return plays_open(deal)
        case Doubling():
            return words_open(deal)
        case ChoosingTrump():
            return _choices(deal)
        case Discarding():
            return _discards(deal)
        case Declaring(seat=seat):
            return tuple(DECLARES[seat][game] for game in kinds_open(deal))
        case Answering(seat=seat):
            return (GOODS[seat], TAKE_OVERS[seat])
        case Announcing(seat=seat):
            contracts = contracts_open(deal.hands[seat], deal.trump_card >> 3)
            return tuple(announces(seat, contract) for contract in contracts)
        case Over() | Undealt():
            return ()
        case _:
            assert_never(deal)


def to_act(deal: State) -> tuple[int, ...]:
    """The seats that are asked for a move: one while the deal runs."""
    return () if deal.seat < 0 else (deal.seat,)


def _choices(deal: ChoosingTrump) -> tuple[ChooseTrump, ...]:
    seat = deal.seat
    seven = tuple(trumps(seat, card) for card in cards_of(deal.hands[seat]))
    if not deal.rules.allow_blind:
        return seven
    return seven + tuple(trumps(seat, None, place) for place in range(5))


def _discards(deal: Discarding) -> tuple[Discard, ...]:
    hand = deal.hands[deal.seat]
    if deal.beaten is None:
        hand &= ~(1 << deal.trump_card)
    by_cards = discards(deal.seat)
    return tuple([by_cards[pair] for pair in _pairs(cards_of(hand))])


@cache
def _places(count: int) -> tuple[tuple[int, int], ...]:
    return tuple((low, high) for low in range(count) for high in range(low + 1, count))


def _pairs(cards: tuple[int, ...]) -> list[int]:
    bits = [1 << card for card in cards]
    return [bits[low] | bits[high] for low, high in _places(len(bits))]

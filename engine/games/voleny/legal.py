"""The moves open to the seat to act, whole and ready to send, in a stable order."""

from functools import cache
from itertools import combinations
from typing import assert_never

from engine.cards import CARDS, cards_of
from engine.games.voleny.commands import (
    GOODS,
    TAKE_OVERS,
    ChooseTrump,
    Discard,
    Move,
    announces,
    declares,
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
    if isinstance(deal, Playing):
        return plays_open(deal)
    match deal:
        case Doubling():
            return words_open(deal)
        case ChoosingTrump():
            return _choices(deal)
        case Discarding():
            return _discards(deal)
        case Declaring(seat=seat):
            return tuple([declares(seat, game) for game in kinds_open(deal)])
        case Answering(seat=seat):
            return (GOODS[seat], TAKE_OVERS[seat])
        case Announcing(seat=seat):
            contracts = contracts_open(deal.hands[seat], deal.trump_card >> 3)
            return tuple([announces(seat, contract) for contract in contracts])
        case Over() | Undealt():
            return ()
        case _:
            assert_never(deal)


def to_act(deal: State) -> tuple[int, ...]:
    """The seats that are asked for a move: one while the deal runs."""
    return () if deal.seat < 0 else (deal.seat,)


def _choices(deal: ChoosingTrump) -> tuple[ChooseTrump, ...]:
    by_card = _by_card(deal.seat)
    seven = [by_card[card] for card in cards_of(deal.hands[deal.seat])]
    return (*seven, *_blind(deal.seat)) if deal.rules.allow_blind else tuple(seven)


@cache
def _by_card(seat: int) -> tuple[ChooseTrump, ...]:
    return tuple(trumps(seat, card) for card in range(CARDS))


@cache
def _blind(seat: int) -> tuple[ChooseTrump, ...]:
    return tuple(trumps(seat, blind=place) for place in range(5))


def discardable(deal: Discarding) -> int:
    """The cards of which any two may be laid away (§3.3)."""
    hand = deal.hands[deal.seat]
    return hand & ~(1 << deal.trump_card) if deal.beaten is None else hand


def _discards(deal: Discarding) -> tuple[Discard, ...]:
    return tuple(map(discards(deal.seat).__getitem__, combinations(cards_of(discardable(deal)), 2)))

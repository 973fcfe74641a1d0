"""Deals with wished hands, brought as far as a test needs them. Bára's first card is her trump card."""

from dataclasses import replace

from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Deal
from engine.games.voleny.rules import HOSPODA
from engine.marriages import MATES
from engine.notation import codes, parse
from tests.engine.words import ANA, BARA, CYRIL, announce, declare, discard, good, trump
from tests.given import Told, given

TALON = "8d 9d"
SEVEN, FIVE = slice(0, 7), slice(7, 12)
_SCATTERED = sorted(range(32), key=lambda card: (card % 8 not in (5, 6), card * 11 % 32))
"""Kings and queens first, while there is a choice of hands for them; the suits mixed."""


def dealt(bara="", cyril="", ana="", **rules) -> Told:
    """Bára's first seven are her first packet; what nobody wished for is dealt so that no new marriage arises."""
    twelve, second, third = filled((bara, 12), (cyril, 10), (ana, 10))
    deck = (*twelve[SEVEN], *second[:5], *third[:5], *twelve[FIVE], *second[5:], *third[5:])
    return given(VOLENY.initial).when(Deal(rules=replace(HOSPODA, **rules), dealer=ANA, deck=deck))


def laid_away(bara="7h", cyril="", ana="", *, talon=TALON, **rules) -> Told:
    """Bára has chosen trumps and discarded; she declares next."""
    ten, two, second, third = filled((bara, 10), (talon, 2), (cyril, 10), (ana, 10))
    deal = dealt(text(ten + two), text(second), text(third), **rules)
    return deal.when(trump(BARA, bara.split()[0]), discard(BARA, talon))


def asked(*hands, **options) -> Told:
    """Bára has asked "Barva?"; Cyril answers next."""
    return laid_away(*hands, **options).when(declare(BARA, "colour"))


def betl(*hands, **options) -> Told:
    """Bára has announced a betl; Cyril answers next."""
    return laid_away(*hands, **options).when(declare(BARA, "betl"))


def durch(*hands, **options) -> Told:
    """Bára has announced a durch; Cyril speaks next."""
    return laid_away(*hands, **options).when(declare(BARA, "durch"))


def approved(*hands, **options) -> Told:
    """Both have approved the colour; Bára announces next."""
    return asked(*hands, **options).when(good(CYRIL), good(ANA))


def announced(contract, *hands, **options) -> Told:
    """Bára has announced her contract; Cyril speaks next."""
    return approved(*hands, **options).when(announce(BARA, contract))


def in_play(contract, *hands, **options) -> Told:
    """Nobody has raised anything; Bára leads."""
    begun = {"betl": betl, "durch": durch}.get(contract)
    bid = begun(*hands, **options) if begun else announced(contract, *hands, **options)
    return bid.when(good(CYRIL), good(ANA))


def filled(*wishes):
    """Hands of the wished cards and sizes, each `(text, size)`: the first get the cards that are left over first."""
    hands = [list(parse(wish)) for wish, _ in wishes]
    named = [card for hand in hands for card in hand]
    assert len(set(named)) == len(named), "a card is wished for twice"
    for card in _SCATTERED:
        if card not in named:
            room = [hand for hand, (_, size) in zip(hands, wishes, strict=True) if len(hand) < size]
            apart = [hand for hand in room if not any(MATES[card] >> other & 1 for other in hand)]
            (apart or room)[0].append(card)
    assert [len(hand) for hand in hands] == [size for _, size in wishes], "too many wishes for one hand"
    return [tuple(hand) for hand in hands]


def text(cards):
    """The cards as they are wished for."""
    return " ".join(codes(cards))

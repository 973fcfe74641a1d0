"""Rules §8.10: the tests for sure games, against a search through every layout and every defence on short hands."""

from functools import cache
from itertools import combinations
from random import Random

import pytest

from engine.cards import ALL_CARDS, NATURAL, TEN_HIGH, cards_of, mask_of, strength
from engine.games.voleny.sure import takes_all_with_trumps, takes_all_without_trumps, takes_nothing
from engine.notation import show
from engine.tricks import NO_TRUMP, empty_trick, playable

BELLS = 1
TESTS = {
    "betl": takes_nothing,
    "durch": takes_all_without_trumps,
    "hra": lambda hand, gone: takes_all_with_trumps(hand, gone, BELLS),
}


def cannot_fail(game, hand, out):
    """Whether some plan of the declarer, who leads and sees only what is played, succeeds against every layout."""
    trump = BELLS if game == "hra" else NO_TRUMP
    size = hand.bit_count()
    layouts = frozenset((mask_of(one), out & ~mask_of(one)) for one in combinations(cards_of(out), size))

    @cache
    def wins(hand, layouts, trick, seat):
        if seat == 0:
            return any(after(hand & ~(1 << card), layouts, trick, 0, card) for card in cards_of(playable(hand, trick)))
        by_card = {}
        for hands in layouts:
            for card in cards_of(playable(hands[seat - 1], trick)):
                left = tuple(cards & ~(1 << card) for cards in hands)
                by_card.setdefault(card, set()).add(left)
        return all(after(hand, frozenset(left), trick, seat, card) for card, left in by_card.items())

    def after(hand, layouts, trick, seat, card):
        if len(trick.cards) < 2:
            return wins(hand, layouts, trick.after[card], (seat + 1) % 3)
        taker = (seat + 1 + trick.top_with(card)) % 3
        if (taker == 0) == (game == "betl"):
            return False
        return not any(map(any, layouts)) or wins(hand, layouts, empty_trick(trump), taker)

    return wins(hand, layouts, empty_trick(trump), 0)


def near_sure(game, size, chance):
    """A hand, what is out, and what is gone as if it lay in the talon: good hands, or no row would be sure."""
    order = strength(TEN_HIGH if game == "hra" else NATURAL)
    deck = chance.sample(range(32), 3 * size)
    suits = chance.sample(range(4), chance.choice((1, 2, 2, 3, 4)))

    def worth(card):
        value = order[card] + chance.random() * chance.choice((0.5, 2, 5))
        suit = card // 8
        return (-value if game == "betl" else value) + 6 * (game == "hra" and suit == BELLS) - 5 * (suit not in suits)

    hand = mask_of(sorted(deck, key=worth)[-size:])
    everything = mask_of(deck)
    return hand, everything & ~hand, ALL_CARDS & ~everything


@pytest.mark.parametrize(("size", "hands"), [(2, 100), (3, 60), (4, 12)])
@pytest.mark.parametrize("game", TESTS)
def test_the_rule_agrees_with_a_search(game, size, hands):
    """§8.10: whatever the unseen cards and the defence."""
    chance, answers = Random(f"{game} {size}"), set()
    for _ in range(hands):
        hand, out, gone = near_sure(game, size, chance)
        sure = TESTS[game](hand, gone)
        assert sure is cannot_fail(game, hand, out), f"{show(hand)} against {show(out)}"
        answers.add(sure)
    assert answers == {True, False}, "the hands show nothing"

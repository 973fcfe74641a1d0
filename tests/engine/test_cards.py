"""Rules §1: cards, their order, their points, marriages. One row is one sentence of the rules."""

from itertools import pairwise

import pytest

from engine.cards import ALL_CARDS, SUIT_MASKS
from engine.marriages import holds_marriage
from engine.notation import CODES, parse, parse_mask
from engine.tricks import NO_TRUMP, trick_of
from tests.engine.endings import settled
from tests.engine.test_settlement import row


def test_there_are_32_cards_of_four_suits():
    """§1.1: rank then suit, hearts, bells, acorns, leaves."""
    assert len(set(CODES)) == 32
    assert " ".join(CODES[:9]) == "7h 8h 9h Th Jh Qh Kh Ah 7d"
    assert [CODES[suit.bit_length() - 1] for suit in SUIT_MASKS] == ["Ah", "Ad", "Ac", "As"]
    assert sum(SUIT_MASKS) == ALL_CARDS


@pytest.mark.parametrize(
    ("trump", "order"),
    [
        pytest.param("h", "A T K Q J 9 8 7", id="§1.1: in trump games the ten is second to the ace"),
        pytest.param("", "A K Q J T 9 8 7", id="§1.2: in betl and durch it is below the unter"),
    ],
)
@pytest.mark.parametrize("suit", "hdcs")
def test_each_rank_beats_the_next(trump, order, suit):
    ranks = order.split()
    for high, low in pairwise(ranks):
        cards = parse(f"{low}{suit} {high}{suit}")
        assert trick_of("hdcs".find(trump) if trump else NO_TRUMP, cards).top == 1
        assert trick_of("hdcs".find(trump) if trump else NO_TRUMP, cards[::-1]).top == 0


@pytest.mark.parametrize(
    ("ended", "points"),
    [
        row("the last trick is worth ten", (10, 80), points=10),
        row("an ace in it ten more", (20, 70), points=20, last="8d As 9s"),
        row("and a ten ten more", (30, 60), points=30, last="8d As Ts"),
        row("kings and obers are worth nothing", (10, 80), points=10, last="8d Ks Qs"),
        row("points go to the side that takes the trick", (0, 90), points=0, last="8s As Ts"),
        row("all tricks are worth ninety", (90, 0), points=90),
    ],
)
def test_points(ended, points):
    """§1.3: each ace and ten is worth ten, the last trick ten more."""
    assert settled(**ended).points == points


@pytest.mark.parametrize(
    ("hand", "held"),
    [
        pytest.param("Kh Qh", True, id="king and ober of one suit are a marriage"),
        pytest.param("Ks Qs 7d", True, id="of any suit"),
        pytest.param("Kh Qd Ac", False, id="of two suits they are none"),
        pytest.param("Ah Kh", False, id="ace and king are none"),
        pytest.param("Qh Jh", False, id="ober and unter are none"),
    ],
)
def test_marriages(hand, held):
    """§1.4."""
    assert holds_marriage(parse_mask(hand)) is held

"""Rules §2: who is the forehand, which cards go where, and what he may see of them at first."""

import pytest

from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Deal
from engine.games.voleny.rules import HOSPODA
from tests.given import given

DECK = tuple(range(31, -1, -1))
DECLARERS_FIRST, HIS_SECOND = DECK[0:7], DECK[17:22]
THE_NEXT, THE_DEALER = DECK[7:12] + DECK[22:27], DECK[12:17] + DECK[27:32]


def dealt_by(dealer):
    return given(VOLENY.initial).when(Deal(rules=HOSPODA, dealer=dealer, deck=DECK))


@pytest.mark.parametrize(("dealer", "forehand"), [(0, 1), (1, 2), (2, 0)])
def test_the_forehand_sits_after_the_dealer_and_acts_first(dealer, forehand):
    """§2.1."""
    dealt_by(dealer).then_asks(forehand)


@pytest.mark.parametrize("dealer", range(3))
def test_packets(dealer):
    """§2.2, §2.3: 7, 5, 5, then 5, 5, 5; the forehand sees his seven, the others all ten."""
    deal = dealt_by(dealer)
    forehand, after, last = ((dealer + place) % 3 for place in (1, 2, 3))
    assert set(deal.private(forehand).hand) == set(DECLARERS_FIRST)
    assert set(deal.private(after).hand) == set(THE_NEXT)
    assert set(deal.private(last).hand) == set(THE_DEALER)
    assert last == dealer


@pytest.mark.parametrize("dealer", range(3))
def test_each_is_shown_his_own_cards_and_nobody_the_deck(dealer):
    """§2.3: also in what is told of the dealing."""
    (event,) = dealt_by(dealer).events
    hands = [VOLENY.shown(event, (dealer + place) % 3).hand for place in (1, 2, 3)]
    assert hands == [DECLARERS_FIRST, THE_NEXT, THE_DEALER]
    assert {VOLENY.shown(event, seat).deck for seat in (0, 1, 2, None)} == {None}
    assert VOLENY.shown(event, None).hand is None


def test_the_forehand_takes_up_his_second_five_once_he_has_chosen():
    """§2.3: not before."""
    deal = dealt_by(0)
    deal = deal.when(VOLENY.legal(deal.state)[0])
    assert set(deal.private(1).hand) == {*DECLARERS_FIRST, *HIS_SECOND}


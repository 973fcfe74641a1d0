"""Rules §3: choosing trumps, face down or blind, and laying two cards into the talon."""

import pytest

from engine.games.voleny import VOLENY
from engine.games.voleny.events import HandCompleted, TrumpChosen
from engine.notation import CARD, parse
from tests.engine.deals import asked, dealt, laid_away
from tests.engine.words import ANA, BARA, CYRIL, blind, declare, discard, good, take_over, trump

SEVEN, FIVE = "7h 9c Jd Qs Ad Kc 8s", "Th Td Js Ac 7d"
BARAS = f"{SEVEN} {FIVE}"
EVERYBODY = (ANA, BARA, CYRIL, None)


def test_the_forehand_must_choose_one_of_the_seven_or_draw_blind():
    """§3.1: by default both are open to him."""
    choices = [trump(BARA, code) for code in SEVEN.split()] + [blind(BARA, place) for place in range(5)]
    dealt(BARAS).then_asks(BARA).then_may(*choices)


def test_a_table_may_forbid_to_draw_blind():
    """§3.1: option `allow_blind`."""
    deal = dealt(BARAS, allow_blind=False)
    deal.then_may(*(trump(BARA, code) for code in SEVEN.split()))
    deal.when(blind(BARA, 0)).then_refused("blind_not_allowed")


@pytest.mark.parametrize("code", ["Th", "7d", "9h"])
def test_he_may_not_choose_what_he_has_not_seen(code):
    """§3.1: neither of the second five nor of others."""
    dealt(BARAS).when(trump(BARA, code)).then_refused("card_not_held", cards=parse(code))


@pytest.mark.parametrize(("place", "code"), list(enumerate(FIVE.split())))
def test_a_blind_choice_draws_from_the_second_five(place, code):
    """§3.1: in dealing order; he sees it with the other four, after choosing."""
    dealt(BARAS).when(blind(BARA, place)).then(
        TrumpChosen(seat=BARA, card=CARD[code], blind=place),
        HandCompleted(seat=BARA, cards=parse(FIVE)),
    )


@pytest.mark.parametrize("chosen", [trump(BARA, "7h"), blind(BARA, 2)], ids=["from the seven", "blind"])
def test_the_trump_card_stays_hidden_from_the_others(chosen):
    """§3.2: suit and rank, until both have approved the colour; that it was blind, and where, is seen."""
    deal = dealt(BARAS).when(chosen)
    event = deal.events[0]
    assert [VOLENY.shown(event, seat).card is None for seat in EVERYBODY] == [True, False, True, True]
    assert {VOLENY.shown(event, seat).blind for seat in EVERYBODY} == {chosen.blind}
    for following in (discard(BARA, "8s 7d"), declare(BARA, "colour"), good(CYRIL)):
        deal = deal.when(following)
        assert deal.public().trump is None
        assert [deal.private(seat).trump_card for seat in EVERYBODY] == [None, event.card, None, None]
    assert deal.when(good(ANA)).public().trump == event.card // 8


def test_he_holds_twelve_and_discards_any_two_but_the_trump_card():
    """§3.3."""
    deal = dealt(BARAS).when(trump(BARA, "7h"))
    others = [code for code in BARAS.split() if code != "7h"]
    pairs = [discard(BARA, f"{one} {two}") for place, one in enumerate(others) for two in others[:place]]
    assert len(pairs) == 55
    deal.then_asks(BARA).then_may(*pairs)
    deal.when(discard(BARA, "7h 8s")).then_refused("trump_card_in_talon")
    deal.when(discard(BARA, "8s 9h")).then_refused("card_not_held", cards=parse("9h"))
    assert len(deal.when(discard(BARA, "8s 7d")).private(BARA).hand) == 10


def test_the_card_drawn_blind_may_not_be_discarded_either():
    """§3.3."""
    dealt(BARAS).when(blind(BARA, 4), discard(BARA, "7d 8s")).then_refused("trump_card_in_talon")


def test_one_who_takes_over_may_discard_the_former_trump_card():
    """§3.3: the ban is on the first discard only. Bára takes over the betl of Cyril."""
    deal = asked("7h Kc").when(take_over(CYRIL), discard(CYRIL, "8d 9d"), declare(CYRIL, "betl"), good(ANA))
    deal.when(take_over(BARA), discard(BARA, "7h 8d")).then_asks(BARA)


@pytest.mark.parametrize(("talon", "games"), [
    pytest.param("8s 7d", "colour betl durch", id="with low cards laid away everything is open"),
    pytest.param("Qs Kc", "colour betl durch", id="kings and obers may lie in the talon"),
    pytest.param("Ad 8s", "betl durch", id="an ace in the talon closes the colour game"),
    pytest.param("8s Td", "betl durch", id="so does a ten"),
    pytest.param("9c 8h", "colour betl durch", id="another trump does not"),
    pytest.param("8s Th", "betl durch", id="unless it is the ten of trumps"),
])
def test_what_the_discard_leaves_open(talon, games):
    """§3.4."""
    deal = dealt("7h 9c Jd Qs Ad Kc 8s Th Td Js 8h 7d").when(trump(BARA, "7h"), discard(BARA, talon))
    deal.then_may(*(declare(BARA, game) for game in games.split()))
    if "colour" not in games:
        deal.when(declare(BARA, "colour")).then_refused("colour_closed")


@pytest.mark.parametrize(("talon", "games"), [
    pytest.param("9c 8h", "betl durch", id="a trump in the talon closes the colour game in the same way"),
    pytest.param("8s 7d", "colour betl durch", id="other low cards do not"),
])
def test_a_table_may_keep_trumps_out_of_the_talon(talon, games):
    """§3.4: option `forbid_trump_in_talon`; the discard itself is never refused for it."""
    deal = dealt("7h 9c Jd Qs Ad Kc 8s Th Td Js 8h 7d", forbid_trump_in_talon=True)
    deal.when(trump(BARA, "7h"), discard(BARA, talon)).then_may(*(declare(BARA, game) for game in games.split()))


def test_the_talon_is_shown_to_nobody_else():
    """§3.5: not the discard, not what a take-over picks up."""
    laid = laid_away("7h", talon="8s 7d")
    (event,) = laid.events
    assert [VOLENY.shown(event, seat).cards for seat in EVERYBODY] == [None, parse("7d 8s"), None, None]
    (taken,) = laid.when(declare(BARA, "colour"), take_over(CYRIL)).events
    assert [VOLENY.shown(taken, seat).cards for seat in EVERYBODY] == [None, None, parse("7d 8s"), None]

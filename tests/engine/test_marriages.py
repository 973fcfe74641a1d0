"""Rules §7.8: a marriage is announced in the act of playing its first card."""

import pytest

from engine.games.voleny.events import CardPlayed
from engine.notation import CARD
from tests.engine.deals import announced, in_play
from tests.engine.words import ANA, BARA, CYRIL, flek, good, play, trick

BARAS, CYRILS = "9d Kd Qd Kh Qh Ac", "Ks Qs Jd"


def sto_proti(bara=BARAS, cyril=CYRILS, ana="Kc Qc", **rules):
    deal = announced("hra", bara, cyril, ana, talon="8c 9c", **rules)
    return deal.when(flek(CYRIL, "sto_proti"), good(ANA), good(BARA))


@pytest.mark.parametrize(("code", "points"), [
    pytest.param("Kd", 40, id="§1.4: in trumps it is worth forty"),
    pytest.param("Qd", 40, id="whichever of the two is played first"),
    pytest.param("Kh", 20, id="§1.4: in another suit twenty"),
    pytest.param("Qh", 20, id="by the ober too"),
    pytest.param("Ac", None, id="other cards announce nothing"),
])
def test_it_is_announced_without_a_word(code, points):
    deal = in_play("hra", BARAS, CYRILS, talon="8c 9c").when(play(BARA, code))
    deal.then(CardPlayed(seat=BARA, card=CARD[code], marriage_points=points))
    assert deal.public().marriages == (((points,) if points else ()), ())


def test_a_king_alone_announces_nothing():
    deal = in_play("hra", "9d Kh Ac", "Qh", talon="8c 9c").when(play(BARA, "Kh"))
    deal.then(CardPlayed(seat=BARA, card=CARD["Kh"]))


def test_the_second_card_announces_nothing_more():
    """The queen has gone when the king is played: the other must still be in hand."""
    deal = in_play("hra", "9d Kh Qh Ah Th", "Jh 7h", "9h 8h", talon="8c 9c")
    deal = deal.when(*trick(BARA, "Qh 7h 8h"), play(BARA, "Kh"))
    deal.then(CardPlayed(seat=BARA, card=CARD["Kh"]))
    assert deal.public().marriages == ((20,), ())


def test_in_any_position_and_whoever_takes_the_trick():
    deal = in_play("hra", "9d Jh Ac", "Kh Qh", "Ah", talon="8c 9c")
    deal.when(play(BARA, "Jh"), play(CYRIL, "Qh")).then(CardPlayed(seat=CYRIL, card=CARD["Qh"], marriage_points=20))
    lost = deal.when(*trick(BARA, "Jh Kh Ah"))
    assert lost.public().marriages == ((), (20,))


def test_without_trumps_there_are_none():
    """§7.5: no marriages in betl and durch, and no word for them."""
    deal = in_play("durch", "9d Ah Kh Qh", talon="8c 9c")
    deal.when(play(BARA, "Kh")).then(CardPlayed(seat=BARA, card=CARD["Kh"]))
    deal.when(play(BARA, "Kh", True)).then_refused("marriage_word_not_asked")


def test_the_declarer_of_a_sto_is_asked_for_a_word():
    deal = in_play("sto", BARAS, CYRILS, talon="8c 9c")
    for code in ("Kd", "Qd", "Kh", "Qh"):
        deal.when(play(BARA, code)).then_refused("marriage_word_required")
        deal.when(play(BARA, code, True)).then_asks(CYRIL)
    assert set(deal.game.legal(deal.state)) >= {play(BARA, "Kh", True), play(BARA, "Kh", False), play(BARA, "Ac")}
    assert play(BARA, "Kh") not in deal.game.legal(deal.state)


@pytest.mark.parametrize("word", [True, False])
def test_a_word_that_nobody_asked_for_is_refused(word):
    in_play("hra", BARAS, talon="8c 9c").when(play(BARA, "Kh", word)).then_refused("marriage_word_not_asked")
    in_play("sto", BARAS, talon="8c 9c").when(play(BARA, "Ac", word)).then_refused("marriage_word_not_asked")


def test_yes_announces_and_no_forfeits():
    deal = in_play("sto", "9d Kh Qh Ah Th", "Jh 7h", "9h 8h", talon="8c 9c")
    deal.when(play(BARA, "Kh", True)).then(CardPlayed(seat=BARA, card=CARD["Kh"], marriage=True, marriage_points=20))
    kept = deal.when(play(BARA, "Kh", False)).then(CardPlayed(seat=BARA, card=CARD["Kh"], marriage=False))
    kept = kept.when(play(CYRIL, "7h"), play(ANA, "8h"))
    kept.when(play(BARA, "Qh", True)).then_refused("marriage_word_not_asked")
    assert kept.when(play(BARA, "Qh")).public().marriages == ((), ())


def test_the_word_is_asked_at_every_marriage():
    """§7.8: also at the second, also under `highest`."""
    for option in ("first", "highest"):
        deal = in_play("sto", "9d Kd Qd Kh Qh Ah Th", "Jh 7h", "9h 8h", talon="8c 9c", sto_marriage=option)
        deal = deal.when(play(BARA, "Kh", True), play(CYRIL, "7h"), play(ANA, "8h"))
        deal.when(play(BARA, "Kd")).then_refused("marriage_word_required")
        deal.when(play(BARA, "Kd", True)).then_asks(CYRIL)


def test_the_opponents_of_a_sto_are_not_asked():
    deal = in_play("sto", "9d Kh Qh Js", "Ks Qs", talon="8c 9c").when(play(BARA, "Js"))
    deal.when(play(CYRIL, "Ks", True)).then_refused("marriage_word_not_asked")
    deal.when(play(CYRIL, "Ks")).then(CardPlayed(seat=CYRIL, card=CARD["Ks"], marriage_points=20))


def test_both_defenders_are_asked_once_one_announced_a_hundred_against():
    deal = sto_proti("9d Kh Qh Js As Ts Jc", "Ks Qs 7c", "Kc Qc 9s")
    deal.when(play(BARA, "Js"), play(CYRIL, "Ks")).then_refused("marriage_word_required")
    deal = deal.when(play(BARA, "Js"), play(CYRIL, "Qs", True), play(ANA, "9s"), play(CYRIL, "7c"))
    deal.then_asks(ANA).when(play(ANA, "Kc")).then_refused("marriage_word_required")
    deal.when(play(ANA, "Kc", False)).then_asks(BARA)


def test_the_declarer_is_not_asked_because_of_a_hundred_against():
    deal = sto_proti()
    deal.when(play(BARA, "Kh", True)).then_refused("marriage_word_not_asked")
    deal.when(play(BARA, "Kh")).then(CardPlayed(seat=BARA, card=CARD["Kh"], marriage_points=20))


def test_a_withheld_marriage_is_not_told_to_the_others():
    """§7.8, §7.10: a no would tell of the other card."""
    deal = in_play("sto", BARAS, CYRILS, talon="8c 9c").when(play(BARA, "Kh", False))
    (event,) = deal.events
    told = [deal.game.shown(event, seat).marriage for seat in (ANA, BARA, CYRIL, None)]
    assert told == [None, False, None, None]

"""Rules §7.6: the trump seven of an announced sedma waits until no other card may be played."""

import pytest

from engine.notation import parse
from tests.engine.deals import announced, in_play
from tests.engine.words import ANA, BARA, CYRIL, flek, good, play


def led(*plays, bara="7h 9h Ac 8c", cyril="", ana="", contract="hra sedma"):
    """The cards so far, after a sedma was announced and nothing raised."""
    deal = in_play(contract, bara, cyril, ana, talon="Jc 9c")
    return deal.when(*(play(seat, code) for seat, code in plays))


def test_the_announcer_may_not_lead_it():
    deal = led()
    assert play(BARA, "7h") not in deal.game.legal(deal.state)
    deal.when(play(BARA, "7h")).then_refused("seven_locked")


def test_who_announced_nothing_may_play_it():
    """§7.6: also the declarer of a hra."""
    led(contract="hra").when(play(BARA, "7h")).then_asks(CYRIL)


FIRST_CLUBS = [(BARA, "8c"), (CYRIL, "Tc"), (ANA, "Ac")]


def test_it_is_played_when_nothing_else_may_be():
    """Void of bells, the seven is his only trump."""
    deal = led(*FIRST_CLUBS, (ANA, "9d"), bara="7h 8c As Ks Js 9s 8s 7s Ts Qs", cyril="Tc", ana="Ac 9d")
    deal.then_asks(BARA).then_may(play(BARA, "7h"))


def test_it_is_kept_back_while_another_trump_may_be_played():
    deal = led(*FIRST_CLUBS, (ANA, "9d"), bara="7h 8h 8c As Ks Js 9s 8s 7s Ts", cyril="Tc", ana="Ac 9d")
    deal.then_asks(BARA).then_may(play(BARA, "8h"))
    deal.when(play(BARA, "7h")).then_refused("seven_locked", legal=parse("8h"))


def test_a_seven_that_the_trick_forbids_anyway_is_an_illegal_card():
    """The lock is named only where it is what stands in the way; here the unter of bells must be beaten."""
    deal = led(*FIRST_CLUBS, (ANA, "Jd"), bara="7h 8h 8c Qd 9d As Ks Js 9s 8s", cyril="Tc", ana="Ac Jd")
    deal.then_asks(BARA).then_may(play(BARA, "Qd"))
    deal.when(play(BARA, "7h")).then_refused("illegal_card", legal=parse("Qd"))


def test_the_seven_of_another_suit_is_not_locked():
    led(bara="7h 9h Ac 7c").when(play(BARA, "7c")).then_asks(CYRIL)


def test_the_seven_of_a_defender_is_free_when_the_declarer_announced_none():
    deal = in_play("sto", "9h Kc Qc", "7h As Ks Js 9s 8s 7s Ts Qs", talon="Jc 8c").when(play(BARA, "Qc", True))
    deal.then_asks(CYRIL).when(play(CYRIL, "7h")).then_asks(ANA)


@pytest.mark.parametrize(("words", "refusal"), [
    pytest.param([flek(CYRIL, "sedma_proti"), good(ANA), good(BARA)], "seven_locked", id="who announced it against"),
    pytest.param([flek(CYRIL, "hra"), good(ANA), good(BARA)], None, id="who only doubled hra is free to play it"),
])
def test_a_seven_announced_against_is_locked_for_its_announcer(words, refusal):
    """§7.6, §5.6: Cyril is void of the suit led, with two trumps."""
    deal = announced("hra", "9h Ac Jd", "7h 8h As Ks Js 9s 8s 7s Ts Qs", "Ad", talon="Jc 9c").when(*words)
    told = deal.when(play(BARA, "Jd"), play(CYRIL, "7h"))
    if refusal:
        told.then_refused(refusal, legal=parse("8h"))
    else:
        told.then_asks(ANA)

"""Rules §5.6: the seven and the hundred that a defender announces against."""

import pytest

from engine.games.voleny.events import Doubled, TurnOpened
from tests.engine.deals import TALON, announced, betl
from tests.engine.words import ANA, BARA, CYRIL, flek, good, raises

BARAS = "9h Kh Ac Jc 9c 8c Js 9s 8s Jd"
SEVEN, MARRIAGE = "7h", "Kd Qd"


def cyrils(deal):
    """What Cyril may announce against, together or apart."""
    return {" ".join(move.announces) for move in deal.game.legal(deal.state) if getattr(move, "announces", ())}


@pytest.mark.parametrize(("hand", "open_to_him"), [
    pytest.param("7d 7s 8h", set(), id="without the trump seven and a marriage there is nothing to announce"),
    pytest.param("7h Kd Qs", {"sedma_proti"}, id="the seven against needs the trump seven"),
    pytest.param("8h Kd Qd", {"sto_proti"}, id="the hundred against needs a marriage"),
    pytest.param("7h Ks Qs", {"sedma_proti", "sto_proti", "sedma_proti sto_proti"}, id="both may be announced at once"),
])
def test_what_a_defender_may_announce(hand, open_to_him):
    deal = announced("hra", BARAS, hand, "Qh Kc" + ("" if "7h" in hand else " 7h"))
    assert cyrils(deal) == open_to_him
    for proti in {"sedma_proti", "sto_proti"} - open_to_him:
        deal.when(flek(CYRIL, proti)).then_refused("proti_not_allowed", parts=(proti,))


def test_a_table_may_let_the_hundred_be_announced_without_a_marriage():
    """Option `sto_proti_needs_marriage`."""
    deal = announced("hra", BARAS, "8h 7d", "7h Kc Qc Ks Qd", sto_proti_needs_marriage=False)
    deal.when(flek(CYRIL, "sto_proti")).then_asks(ANA)


@pytest.mark.parametrize(("contract", "proti"), [("hra sedma", "sedma_proti"), ("sto", "sto_proti")])
def test_nothing_against_that_was_announced_for(contract, proti):
    deal = announced(contract, "7h Kh Qh Ac", "Ks Qs Kd Qd", talon="8c 9c")
    deal.when(flek(CYRIL, proti)).then_refused("proti_not_allowed")


@pytest.mark.parametrize(("contract", "bara", "open_to_him"), [
    ("hra sedma", "7h Kc", {"sto_proti"}), ("sto", "8h Kc Qc", {"sedma_proti"}), ("sto sedma", "7h Kc Qc", set()),
])
def test_what_was_not_announced_may_still_be_announced_against(contract, bara, open_to_him):
    assert cyrils(announced(contract, bara, "Ks Qs" + (" 7h" if "7h" not in bara else ""), "9h")) == open_to_him


def test_each_proti_is_announced_once_and_the_partner_neither_repeats_nor_joins_it():
    """Both have a marriage; Cyril has spoken."""
    deal = announced("hra", BARAS, "7h Kd Qd", "Ks Qs").when(flek(CYRIL, "sto_proti")).then_asks(ANA)
    deal.then_may(good(ANA), flek(ANA, "hra"))
    deal.when(flek(ANA, "sto_proti")).then_refused("proti_not_allowed")
    deal.when(raises(ANA, "sto_proti")).then_refused("part_not_open", parts=("sto_proti",))


def test_each_defender_may_announce_one():
    deal = announced("hra", BARAS, "7h 7d", "Ks Qs").when(flek(CYRIL, "sedma_proti"), flek(ANA, "sto_proti"))
    deal.then_asks(BARA)
    assert dict(deal.public().protis) == {"sedma_proti": CYRIL, "sto_proti": ANA}


def test_the_second_defender_may_announce_when_the_first_said_good():
    deal = announced("hra", BARAS, "7d 7s", "7h Ks Qs").when(good(CYRIL)).then_asks(ANA)
    deal.when(flek(ANA, "sedma_proti sto_proti")).then_asks(BARA)


def test_only_in_the_first_turn_of_the_defence():
    deal = announced("hra", BARAS, "7h Kd Qd").when(flek(CYRIL, "hra"), good(ANA), flek(BARA, "hra"))
    assert cyrils(deal) == set()
    deal.when(flek(CYRIL, "sedma_proti")).then_refused("proti_not_allowed")


def test_the_declarer_announces_nothing_against():
    deal = announced("hra", "7h Kh Qh Ac").when(flek(CYRIL, "hra"), good(ANA)).then_asks(BARA)
    deal.when(flek(BARA, "sedma_proti")).then_refused("proti_not_allowed")


def test_there_is_none_against_a_betl():
    betl(BARAS, "7h Kd Qd").when(flek(CYRIL, "sto_proti")).then_refused("proti_not_allowed")


def test_the_declarers_side_raises_a_proti_first():
    """§5.6, §6.1: in its next turn, beside what was raised of its own."""
    deal = announced("hra", BARAS, "7h Kd Qs").when(flek(CYRIL, "hra sedma_proti"), good(ANA))
    assert deal.events[-1] == TurnOpened(seat=BARA, parts=("hra", "sedma_proti"))
    deal.then_may(good(BARA), raises(BARA, "hra"), raises(BARA, "sedma_proti"), raises(BARA, "hra sedma_proti"))
    deal = deal.when(raises(BARA, "sedma_proti")).then_asks(CYRIL).then_may(good(CYRIL), raises(CYRIL, "sedma_proti"))
    assert dict(deal.public().levels) == {"hra": 1, "sedma_proti": 1}


def test_what_is_said_with_a_proti_is_told_as_one_word():
    deal = announced("hra", BARAS, "7h Kd Qs", talon=TALON).when(flek(CYRIL, "hra sedma_proti"))
    deal.then(Doubled(seat=CYRIL, raises=("hra",), joins=(), announces=("sedma_proti",)))

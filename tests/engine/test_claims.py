"""Rules §9: claims. None is certain as yet, so none is offered and every one is refused."""

import pytest

from tests.engine.deals import in_play
from tests.engine.words import ANA, BARA, CYRIL, claim, play, trick

SURE = "Ah Th Kh Qh Jh 9h 8h 7h As Ts"


@pytest.mark.parametrize("contract", ["hra", "hra sedma", "sto", "betl", "durch"])
def test_a_claim_on_lead_is_refused_as_not_certain(contract):
    """§9.1."""
    in_play(contract, SURE, talon="7c 8c").then_asks(BARA).when(claim(BARA)).then_refused("claim_not_certain")


def test_so_is_one_by_who_is_not_on_lead():
    """§9.1: he may claim who leads."""
    in_play("hra", SURE, talon="7c 8c").when(play(BARA, "Ah"), claim(CYRIL)).then_refused("claim_not_certain")


def test_it_is_never_offered():
    """§9.1: the offer itself would tell something."""
    deal = in_play("hra", SURE, talon="7c 8c")
    while legal := deal.game.legal(deal.state):
        assert claim(deal.state.seat) not in legal
        deal = deal.when(legal[0])


def test_a_claim_out_of_turn_is_out_of_turn():
    in_play("hra", SURE, talon="7c 8c").when(claim(ANA)).then_refused("not_your_turn")


def test_after_the_deal_there_is_nothing_to_claim():
    deal = in_play("durch", "9d 7c", "Qc", "8c", talon="Kc Ac").when(*trick(BARA, "7c Qc 8c"))
    deal.when(claim(CYRIL)).then_refused("deal_over")

"""Rules §5: the contract of a trump game, once both others have approved the colour."""

import pytest

from engine.games.voleny.events import ContractAnnounced, SaidGood, TrumpTurned
from engine.notation import CARD
from tests.engine.deals import announced, approved, asked
from tests.engine.words import ANA, BARA, CYRIL, announce, good

ALL = ("hra", "hra sedma", "sto", "sto sedma")


def test_the_trump_card_is_turned_when_both_have_approved():
    """§5.1."""
    deal = asked("9h").when(good(CYRIL)).then(SaidGood(seat=CYRIL))
    deal.when(good(ANA)).then(SaidGood(seat=ANA), TrumpTurned(card=CARD["9h"])).then_asks(BARA)


@pytest.mark.parametrize(("hand", "contracts"), [
    pytest.param("9h Kh Ac", "hra", id="hra needs nothing"),
    pytest.param("9h 7h Ac", "hra, hra sedma", id="sedma needs the trump seven in hand"),
    pytest.param("7h Ac Kd", "hra, hra sedma", id="the trump card counts as in hand"),
    pytest.param("9h 7c 7s", "hra", id="another seven does not do"),
    pytest.param("9h Kh Qh", "hra, sto", id="sto needs a marriage in hand"),
    pytest.param("Kh Qh Ac", "hra, sto", id="of which the trump card may be one"),
    pytest.param("9h Kc Qc", "hra, sto", id="a plain marriage does"),
    pytest.param("9h Kc Qs", "hra", id="king and ober of two suits do not"),
    pytest.param("7h Kc Qc", "hra, hra sedma, sto, sto sedma", id="sto and sedma need both"),
])
def test_what_may_be_announced(hand, contracts):
    """§5.1."""
    deal = approved(hand, ana="" if "7h" in hand else "7h")
    deal = deal.then_asks(BARA).then_may(*(announce(BARA, contract) for contract in contracts.split(", ")))
    for contract in set(ALL) - set(contracts.split(", ")):
        deal.when(announce(BARA, contract)).then_refused("contract_not_allowed")


def test_a_card_in_the_talon_is_not_in_hand():
    """§5.1."""
    approved("9h Qh", talon="7h Kh").when(announce(BARA, "hra sedma")).then_refused("contract_not_allowed")


@pytest.mark.parametrize("contract", ["sedma", "hra sto", "hra sto sedma"])
def test_there_are_four_contracts(contract):
    """§5.1, §5.4: sedma goes with hra or sto; sto replaces hra."""
    approved("7h Kc Qc").when(announce(BARA, contract)).then_refused("contract_not_allowed")


def test_what_is_announced_is_known_to_all():
    """§5.1."""
    deal = announced("sto sedma", "7h Kc Qc").then(ContractAnnounced(seat=BARA, contract=("sto", "sedma")))
    assert (deal.public().contract, deal.public().trump) == (("sto", "sedma"), 0)
    deal.then_asks(CYRIL)

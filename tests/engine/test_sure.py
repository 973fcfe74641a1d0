"""Rules §8.10: sure games, and who pays for having doubled one. Ana (0) and Cyril (2) defend against Bára (1)."""

import pytest

from engine.games.voleny.sure import takes_all_with_trumps, takes_all_without_trumps, takes_nothing
from engine.notation import parse_mask
from tests.engine.endings import settled
from tests.engine.test_settlement import row
from tests.engine.words import ANA, BARA, CYRIL

BELLS = 1


@pytest.mark.parametrize(("hand", "talon", "sure"), [
    pytest.param("Ah Kh Qh Jh Th 9h 8h 7h As Ks", "7c 8c", True, id="all cards are above those that are out"),
    pytest.param("Ah Kh Qh Jh Th 9h 8h 7h As Qs", "7c 8c", False, id="the ober falls to the king"),
    pytest.param("Ah Kh Qh Jh Th 9h 8h 7h As Qs", "Ks 8c", True, id="unless the king lies in his talon"),
    pytest.param("Ah Qh Jh Th 9h 8h 7h As Ks Qs", "7c 8c", True, id="the ace draws the only card that is out"),
    pytest.param("Kh Qh Jh Th 9h 8h 7h As Ks Qs", "7c 8c", False, id="the king does not"),
    pytest.param("Ah Kh Qh 7h As Ks Qs Ac Ad Kd", "7c 8c", False, id="a seven is lost while four are out"),
    pytest.param("Ah Kh Qh 7h As Ks Qs Ac Ad Kd", "Jh Th", True, id="three high cards draw the two that are out"),
    pytest.param("Ah Th Kh Qh Jh 9h 8h 7h As Ts", "7c 8c", False, id="the ten is no high card without trumps"),
])
def test_a_sure_durch(hand, talon, sure):
    assert takes_all_without_trumps(parse_mask(hand), parse_mask(talon)) is sure


@pytest.mark.parametrize(("hand", "talon", "sure"), [
    pytest.param("7h 8h 9h 7d 8d 9d 7c 8c 7s 8s", "Ah Ad", True, id="the lowest cards of every suit"),
    pytest.param("7h 9h Jh 7d 8d 9d 7c 8c 7s 8s", "Ah Ad", False, id="two cards above one that is out are too many"),
    pytest.param("7h 8h Th 7d 8d 9d 7c 8c 7s 8s", "Ah Ad", True, id="one such card is led and beaten"),
    pytest.param("7h 8h Th 7d 8d Jd 7c 8c 7s 8s", "Ah Ac", False, id="in one suit only"),
    pytest.param("7h 8h Ah 7d 8d 9d 7c 8c 7s 8s", "Ac Ad", False, id="an ace is not beaten"),
    pytest.param("7h 8h Ah 7d 8d 9d 7c 8c 7s 9s", "8s Ad", False, id="wherever he leads"),
    pytest.param("7h 8h Th 7d 8d 9d 7c 8c 7s 8s", "9h Ad", True, id="a card in his talon takes nothing from it"),
    pytest.param("7h 8h 9h Th Jh Kh Ah 7d 7c 7s", "8d 8c", True, id="the only card out takes his lead and is gone"),
    pytest.param("7h 8h 9h Th Jh Qh Kh Ah 7d 7c", "8d 8c", True, id="a suit of which none is out is safe"),
    pytest.param("Th 8h 9h 7h Jh Qh Kh Ah Ad Kd", "7d 7c", False, id="without a lead that is beaten it is lost"),
])
def test_a_sure_betl(hand, talon, sure):
    assert takes_nothing(parse_mask(hand), parse_mask(talon)) is sure


@pytest.mark.parametrize(("hand", "talon", "sure"), [
    pytest.param("Ad Td Kd Qd Jd 9d 8d 7d As Ts", "7c 8c", True, id="all trumps and the two best of a suit"),
    pytest.param("Ad Td Kd Qd As Ts Ac Tc Ah Th", "7c 8c", True, id="four high trumps draw the four that are out"),
    pytest.param("Ad Td Kd Jd As Ts Ac Tc Ah Th", "7c 8c", False, id="with the ober out they are not enough"),
    pytest.param("Ad Td Kd As Ts Ac Tc Ah Th Kh", "7d Qd", True, id="trumps in his talon need no drawing"),
    pytest.param("Ad Td Kd As Ts Ac Tc Ah Th Kh", "7d Qc", False, id="three do not draw four"),
    pytest.param("Ad Td Kd Qd Jd 9d 8d 7d As Ks", "7c 8c", False, id="in a side suit the ten beats the king"),
    pytest.param("Ad Td Kd Qd Jd 9d 8d 7d As Ks", "Ts 8c", True, id="unless it lies in his talon"),
])
def test_a_sure_trump_game(hand, talon, sure):
    """He takes all ten tricks: hra, sedma and sto are sure together."""
    assert takes_all_with_trumps(parse_mask(hand), parse_mask(talon), BELLS) is sure


HIS = {"bara": "Ad Td Kd Qd Jd 9d 8d 7d As Ts", "talon": "7c 8c", "last": "8d 8s 9s", "points": 90}
SEVEN = {**HIS, "contract": "hra sedma", "last": "7d 8s 9s"}
STO = {**HIS, "contract": "sto", "marriages": "d40"}
BETL = {"contract": "betl", "bara": "7h 8h 9h 7d 8d 9d 7c 8c 7s 8s", "talon": "Ah Ad", "last": "7h Jh Qh",
        "takers": [CYRIL] * 9}
DURCH = {"contract": "durch", "bara": "Ah Kh Qh Jh Th 9h 8h 7h As Ks", "talon": "7c 8c", "last": "Ks 8s 9s",
         "takers": [BARA] * 9}
BY_ANA, BY_BOTH, ANA_JOINS_LATER = {"doublers": (ANA,)}, {"doublers": (CYRIL, ANA)}, {"doublers": ((CYRIL,), (ANA,))}


@pytest.mark.parametrize(("ended", "payments"), [
    row("undoubled each pays the base", (-1, 2, -1), **HIS),
    row("who doubled alone pays for both, the other the base", (-1, 4, -3), levels={"hra": 1}, **HIS),
    row("whichever of the two it was", (-3, 4, -1), levels={"hra": 1}, **BY_ANA, **HIS),
    row("if both doubled each pays his own", (-2, 4, -2), levels={"hra": 1}, **BY_BOTH, **HIS),
    row("at level three he pays fifteen bases", (-1, 16, -15), levels={"hra": 3}, **HIS),
    row("one who raised in a later turn has doubled it too", (-8, 16, -8), levels={"hra": 3}, **ANA_JOINS_LATER, **HIS),
    row("only the part that was doubled", (-3, 10, -7), levels={"sedma": 1}, **SEVEN),
    row("each part by itself", (-3, 24, -21), levels={"hra": 2, "sedma": 2}, **SEVEN),
    row("a sto with all its tens", (-16, 64, -48), levels={"sto": 1}, **STO),
    row("a silent sto inherits it from hra", (-8, 32, -24), levels={"hra": 1}, marriages="d40", **HIS),
    row("a betl", (-5, 20, -15), levels={"betl": 1}, **BETL),
    row("a durch", (-10, 80, -70), levels={"durch": 2}, **DURCH),
    row("a proti beside it is paid as always", (-81, 162, -81), proti="sto_proti", levels={"sto_proti": 1}, **HIS),
])
def test_who_doubled_pays_for_both(ended, payments):
    """§8.10: what the declarer gets is the same."""
    assert settled(**ended).payments == payments


@pytest.mark.parametrize(("ended", "flags"), [
    row("hra", {"hra": True}, **HIS),
    row("hra and sedma", {"hra": True, "sedma": True}, **SEVEN),
    row("sto", {"sto": True}, **STO),
    row("sto and sedma", {"sto": True, "sedma": True}, **{**STO, "contract": "sto sedma", "last": "7d 8s 9s"}),
    row("a silent sto", {"tiche_sto": True}, marriages="d40", **HIS),
    row("betl", {"betl": True}, **BETL),
    row("durch", {"durch": True}, **DURCH),
    row("never a silent sedma", {"hra": True, "ticha_sedma": False}, **{**HIS, "last": "7d 8s 9s"}),
    row("never a proti", {"hra": True, "sto_proti": False}, proti="sto_proti", **HIS),
    row("a common hand is not", {"hra": False}),
])
def test_a_sure_part_is_marked_whether_or_not_it_was_doubled(ended, flags):
    """§8.10."""
    assert {part.part: part.sure for part in settled(**ended).parts} == flags


@pytest.mark.parametrize(("ended", "payments"), [
    row("a hra", (2, -4, 2), levels={"hra": 1}, **{**HIS, "points": 30}),
    row("a sedma", (3, -6, 3), levels={"sedma": 1}, **{**SEVEN, "last": "8d 8s 9s"}),
    row("a durch", (20, -40, 20), levels={"durch": 1}, **{**DURCH, "takers": [BARA] * 8 + [CYRIL], "last": "Ks 8s 9c"}),
])
def test_a_sure_part_that_was_lost_all_the_same_is_paid_normally(ended, payments):
    """§8.10: by bad play."""
    result = settled(**ended)
    assert result.payments == payments
    assert any(part.sure and not part.won for part in result.parts)


def test_redistribution_comes_before_the_cap():
    """§8.9: the sole doubler of a durch at the last level owes 1270, of which the cap leaves 500."""
    result = settled(levels={"durch": 6}, **DURCH)
    assert (result.payments, result.capped, result.parts[0].per_defender) == ((-10, 510, -500), True, 640)

"""Rules §6: doubling in turns, part by part. A row is what was said, and what may be said then."""

import pytest

from engine.games.voleny.events import Doubled, PlayBegan, SaidGood, TurnOpened
from engine.games.voleny.rules import Rates
from tests.engine.deals import announced, betl, durch
from tests.engine.words import ANA, BARA, CYRIL, flek, good, play, raises

HAND = "7h Kh Qh Ac Jc Js 9s Jd"
PARTNERS = {"cyril": "Kd 8s Tc", "ana": "Ks Qd Th"}
SEATS = {"Cyril": CYRIL, "Ana": ANA, "Bára": BARA}


def doubled(contract, sentence, **rules):
    """`"Cyril hra sedma, Ana good"`: who raises which parts, or says good."""
    deal = announced(contract, HAND, **PARTNERS, talon="9d 9c", **rules)
    for phrase in filter(None, sentence.split(", ")):
        name, parts = phrase.split(" ", 1)
        deal = deal.when(good(SEATS[name]) if parts == "good" else raises(SEATS[name], parts))
    return deal


@pytest.mark.parametrize(("sentence", "asks", "words"), [
    pytest.param("", CYRIL, ["hra", "sedma", "hra sedma"], id="the defence first, from the left, about any part"),
    pytest.param("Cyril good", ANA, ["hra", "sedma", "hra sedma"], id="then the other defender"),
    pytest.param("Cyril hra", ANA, ["hra", "sedma", "hra sedma"], id="who may join the raise, raise another, or both"),
    pytest.param("Cyril hra, Ana good", BARA, ["hra"], id="the declarer only about what was raised"),
    pytest.param("Cyril hra, Ana sedma", BARA, ["hra", "sedma", "hra sedma"], id="by either of them"),
    pytest.param("Cyril hra sedma, Ana good, Bára sedma", CYRIL, ["sedma"], id="and so on in turns"),
    pytest.param("Cyril hra, Ana good, Bára hra, Cyril good", ANA, ["hra"],
                 id="a defender who said good may speak in a later turn"),
])
def test_whose_turn_it_is_and_about_what(sentence, asks, words):
    """§6.2, §6.3."""
    doubled("hra sedma", sentence).then_asks(asks).then_may(good(asks), *(raises(asks, parts) for parts in words))


@pytest.mark.parametrize(("sentence", "levels"), [
    pytest.param("Cyril good, Ana good", (0, 0), id="nobody raises"),
    pytest.param("Cyril hra", (1, 0), id="each part has its own level"),
    pytest.param("Cyril hra, Ana hra", (1, 0), id="joining a raise raises nothing"),
    pytest.param("Cyril hra, Ana hra sedma", (1, 1), id="what is not joined is raised"),
    pytest.param("Cyril hra sedma, Ana good, Bára hra, Cyril good, Ana hra", (3, 1), id="sides alternate"),
])
def test_levels(sentence, levels):
    """§6.1, §6.2."""
    assert doubled("hra sedma", sentence).public().levels == (("hra", levels[0]), ("sedma", levels[1]))


@pytest.mark.parametrize("sentence", [
    pytest.param("Cyril good, Ana good", id="when the defence raises nothing"),
    pytest.param("Cyril good, Ana sedma, Bára good", id="when the declarer leaves it"),
    pytest.param("Cyril sedma, Ana good, Bára sedma, Cyril good, Ana good", id="when the defence leaves it later"),
])
def test_doubling_ends(sentence):
    """§6.2: with a turn in which nothing was raised or announced."""
    deal = doubled("hra sedma", sentence).then_asks(BARA)
    assert deal.events[-1] == PlayBegan(seat=BARA)


@pytest.mark.parametrize(("sentence", "seat", "parts", "code", "named"), [
    pytest.param("", CYRIL, "", "nothing_raised", None, id="a flek raises or announces something"),
    pytest.param("", CYRIL, "sto", "part_not_open", ("sto",), id="what was not announced is not open"),
    pytest.param("Cyril hra, Ana good", BARA, "hra sedma", "part_not_open", ("sedma",),
                 id="what was left alone in a turn is closed"),
    pytest.param("Cyril hra sedma, Ana good, Bára hra", CYRIL, "sedma", "part_not_open", ("sedma",),
                 id="so is what the declarer left alone"),
    pytest.param("Cyril hra", BARA, "hra", "not_your_turn", None, id="both defenders are asked before the declarer"),
])
def test_what_may_not_be_raised(sentence, seat, parts, code, named):
    """§6.2, §6.3."""
    facts = {} if named is None else {"parts": named}
    doubled("hra sedma", sentence).when(raises(seat, parts)).then_refused(code, **facts)


def test_a_raise_and_what_it_opens_are_told():
    """§6.2: the second defender's word tells apart what he raised and what he joined."""
    deal = doubled("hra sedma", "Cyril hra").when(raises(ANA, "hra sedma"))
    deal.then(
        Doubled(seat=ANA, raises=("sedma",), joins=("hra",), announces=()),
        TurnOpened(seat=BARA, parts=("hra", "sedma")),
    )
    deal.when(good(BARA)).then(SaidGood(seat=BARA), PlayBegan(seat=BARA))


UP_TO = "Cyril hra, Ana good, Bára hra, Cyril hra, Ana good, Bára hra, Cyril hra, Ana good, Bára hra"


def test_the_ladder_ends_at_the_sixth_level():
    """§6.1, §6.2: the defence is asked all the same, and can say nothing but good."""
    deal = doubled("hra", UP_TO)
    assert deal.public().levels == (("hra", 6),)
    deal.then_asks(CYRIL).then_may(good(CYRIL))
    deal.when(flek(CYRIL, "hra")).then_refused("level_maximum", parts=("hra",))
    deal = deal.when(good(CYRIL)).then_asks(ANA).when(good(ANA)).then_asks(BARA)
    assert deal.public().phase == "play"


def test_a_table_may_end_it_sooner_and_a_raise_to_the_maximum_may_be_joined():
    """§6.2: option `flek_levels_max`."""
    deal = doubled("hra", "Cyril hra", flek_levels_max=1).then_asks(ANA).then_may(good(ANA), flek(ANA, "hra"))
    deal.when(flek(ANA, "hra")).then_asks(BARA).then_may(good(BARA))
    deal.when(flek(ANA, "hra"), flek(BARA, "hra")).then_refused("level_maximum")


def test_without_doubling_the_defence_is_asked_for_proti_and_take_over():
    """§6.2, §5.6, §4.4: with `flek_levels_max` 0."""
    deal = announced("hra", "9h Kh Ac", "7h Kd Qs", talon="9d 9c", flek_levels_max=0)
    deal.then_may(good(CYRIL), flek(CYRIL, "sedma_proti"))
    deal = deal.when(flek(CYRIL, "sedma_proti"), good(ANA)).then_asks(BARA).then_may(good(BARA))
    deal.when(raises(BARA, "sedma_proti")).then_refused("level_maximum")
    betl(flek_levels_max=0).when(good(CYRIL)).then_asks(ANA)
    assert {type(move).__name__ for move in betl(flek_levels_max=0).game.legal(betl(flek_levels_max=0).state)} == {
        "Good", "TakeOver",
    }


def test_a_betl_and_a_durch_are_doubled_like_any_part():
    """§6.1, §4.5."""
    for begun, part in ((betl, "betl"), (durch, "durch")):
        deal = begun().when(flek(CYRIL, part), flek(ANA, part), flek(BARA, part), good(CYRIL), flek(ANA, part))
        assert deal.then_asks(BARA).public().levels == ((part, 3),)


@pytest.mark.parametrize(("contract", "sentence", "rules"), [
    pytest.param("hra sedma", "Cyril hra, Ana good, Bára good", {}, id="hra with one flek, sedma without"),
    pytest.param("hra sedma", "Cyril good, Ana hra, Bára good", {}, id="whoever said it"),
    pytest.param("hra sedma", "Cyril hra, Ana hra, Bára good", {"rates": Rates(hra=5, sedma=10)},
                 id="where twice the rate of hra is that of sedma"),
])
def test_balanced_contracts_are_not_played(contract, sentence, rules):
    """§6.4: hra counts lost, sedma won, the sum is zero."""
    result = doubled(contract, sentence, **rules).then_asks().result()
    assert (result.played, result.payments, result.points, result.marriages) == (False, (0, 0, 0), (0, 0), ((), ()))
    assert [(row.part, row.won, row.level, row.sure) for row in result.parts] == [
        ("hra", False, 1, False), ("sedma", True, 0, False),
    ]
    assert sum(row.per_defender for row in result.parts) == 0


def test_a_balanced_contract_in_hearts_is_worth_twice():
    """§6.4, §8.1: as every part."""
    rows = doubled("hra sedma", "Cyril hra, Ana good, Bára good").result().parts
    assert [row.per_defender for row in rows] == [-4, 4]


@pytest.mark.parametrize(("contract", "sentence", "rules"), [
    pytest.param("hra sedma", "Cyril hra, Ana good, Bára good", {"play_balanced": True}, id="where the table plays it"),
    pytest.param("hra sedma", "Cyril hra, Ana good, Bára good", {"rates": Rates(sedma=3)}, id="when rates differ"),
    pytest.param("hra sedma", "Cyril hra sedma, Ana good, Bára good", {}, id="when sedma was raised too"),
    pytest.param("hra sedma", "Cyril sedma, Ana good, Bára good", {}, id="when only sedma was raised"),
    pytest.param("hra sedma", "Cyril good, Ana good", {}, id="when nothing was raised"),
    pytest.param("hra", "Cyril hra, Ana good, Bára good", {}, id="when there is no sedma"),
    pytest.param("sto sedma", "Cyril sto, Ana good, Bára good", {}, id="when it is sto and sedma"),
    pytest.param("hra sedma", "Cyril hra, Ana good, Bára hra, Cyril good, Ana good", {}, id="when hra is at two"),
])
def test_other_contracts_are_played(contract, sentence, rules):
    """§6.4."""
    assert doubled(contract, sentence, **rules).then_asks(BARA).public().phase == "play"


def test_a_proti_unbalances_the_contract():
    """§6.4: there is more to play for."""
    deal = announced("hra sedma", HAND, cyril="Kd Qd", talon="9d 9c")
    deal = deal.when(flek(CYRIL, "hra sto_proti"), good(ANA), good(BARA))
    deal.then_asks(BARA).when(play(BARA, "Ac")).then_asks(CYRIL)

"""Options and presets: what a table may settle before anyone sits down. What each does is told with its rule."""

from dataclasses import asdict

import pytest

from engine.games.voleny.rules import HOSPODA, PRESETS, Rates
from schemas.errors import Malformed
from schemas.games.voleny_rules import dump_rules, load_rules
from tests.engine.endings import settled
from tests.engine.test_settlement import TEN_TRICKS, THE_TENTH_TRICK

HOUSE = {
    "allow_blind": True,
    "forbid_trump_in_talon": False,
    "sto_marriage": "first",
    "sto_proti_needs_marriage": True,
    "flek_levels_max": 6,
    "hearts_double": True,
    "cap": 500,
    "play_balanced": False,
    "rates": {"hra": 1, "sedma": 2, "ticha_sedma": 1, "sto": 4, "betl": 5, "durch": 10},
}


def test_hospoda_is_the_default():
    assert asdict(HOSPODA) == HOUSE
    assert load_rules({}) == load_rules({"preset": "hospoda"}) == HOSPODA
    assert dump_rules(HOSPODA) == HOUSE


@pytest.mark.parametrize(("preset", "differs"), [
    ("hospoda", {}),
    ("csm", {"rates": {**HOUSE["rates"], "betl": 15, "durch": 30}}),
    ("krizovy", {"rates": {**HOUSE["rates"], "betl": 10, "durch": 20}}),
    ("mariasek", {"sto_marriage": "highest"}),
])
def test_presets(preset, differs):
    assert asdict(PRESETS[preset]) == {**HOUSE, **differs}


def test_there_are_four_presets():
    assert sorted(PRESETS) == ["csm", "hospoda", "krizovy", "mariasek"]


@pytest.mark.parametrize(("preset", "betl", "durch"), [("hospoda", 5, 10), ("csm", 15, 30), ("krizovy", 10, 20)])
def test_what_a_preset_pays(preset, betl, durch):
    """§8.8."""
    rates = PRESETS[preset].rates
    assert settled(rates=rates, **THE_TENTH_TRICK).parts[0].per_defender == -betl
    assert settled(rates=rates, **TEN_TRICKS).parts[0].per_defender == durch


def test_what_is_given_overrides_the_preset():
    rules = load_rules({"preset": "csm", "cap": 0, "rates": {"hra": 3}})
    assert (rules.cap, rules.rates) == (0, Rates(hra=3, betl=15, durch=30))


@pytest.mark.parametrize("given", [
    pytest.param({"preset": "honba"}, id="an unknown preset"),
    pytest.param({"blind": True}, id="an unknown option"),
    pytest.param({"rates": {"kilo": 4}}, id="an unknown rate"),
    pytest.param({"rates": {"sto": -1}}, id="a negative rate"),
    pytest.param({"rates": {"sto": 1.5}}, id="a part of a chip"),
    pytest.param({"flek_levels_max": 7}, id="a seventh level"),
    pytest.param({"cap": -1}, id="a negative cap"),
    pytest.param({"hearts_double": 1}, id="a number for yes"),
    pytest.param({"sto_marriage": "both"}, id="a third way to count marriages"),
])
def test_what_is_no_option_is_an_error(given):
    with pytest.raises(Malformed):
        load_rules(given)

"""House rules as JSON: a preset and overrides (Options and presets)."""

from dataclasses import replace

import pytest
from hypothesis import given

from engine.games.voleny.rules import HOSPODA, PRESETS, Rates
from schemas.errors import Malformed
from schemas.games.voleny_rules import dump_rules, load_rules, name_rules
from tests.contract.voleny import RULES


@pytest.mark.parametrize(
    ("given_rules", "rules"),
    [
        pytest.param({}, HOSPODA, id="nothing said is the preset hospoda"),
        pytest.param({"preset": "hospoda"}, HOSPODA, id="hospoda"),
        pytest.param({"preset": "csm"}, replace(HOSPODA, rates=Rates(betl=15, durch=30)), id="csm"),
        pytest.param({"preset": "krizovy"}, replace(HOSPODA, rates=Rates(betl=10, durch=20)), id="krizovy"),
        pytest.param({"preset": "mariasek"}, replace(HOSPODA, sto_marriage="highest"), id="mariasek"),
        pytest.param({"cap": 0}, replace(HOSPODA, cap=0), id="an override"),
        pytest.param(
            {"preset": "csm", "rates": {"hra": 3}},
            replace(HOSPODA, rates=Rates(hra=3, betl=15, durch=30)),
            id="some rates override those of the preset, the others stay",
        ),
        pytest.param({"rates": {"hra": 0}}, replace(HOSPODA, rates=Rates(hra=0)), id="a rate may be nothing"),
    ],
)
def test_a_preset_and_overrides(given_rules, rules):
    assert load_rules(given_rules) == rules


@pytest.mark.parametrize(
    ("given_rules", "field"),
    [
        pytest.param(None, "", id="null"),
        pytest.param([], "", id="a list"),
        pytest.param("hospoda", "", id="the bare name of a preset"),
        pytest.param({"preset": "hospůdka"}, "preset", id="an unknown preset"),
        pytest.param({"preset": None}, "preset", id="no preset"),
        pytest.param({"preset": ["csm"]}, "preset", id="a preset that is no word"),
        pytest.param({"jokers": True}, "jokers", id="an unknown option"),
        pytest.param({"allow_blind": 1}, "allow_blind", id="1 is not true"),
        pytest.param({"allow_blind": None}, "allow_blind", id="null is not false"),
        pytest.param({"sto_marriage": "lowest"}, "sto_marriage", id="an unknown marriage of sto"),
        pytest.param({"flek_levels_max": 7}, "flek_levels_max", id="a seventh level"),
        pytest.param({"flek_levels_max": -1}, "flek_levels_max", id="less than no level"),
        pytest.param({"flek_levels_max": 6.0}, "flek_levels_max", id="6.0 is no level"),
        pytest.param({"flek_levels_max": True}, "flek_levels_max", id="true is no level"),
        pytest.param({"cap": -1}, "cap", id="a cap below nothing"),
        pytest.param({"cap": "500"}, "cap", id="a cap as text"),
        pytest.param({"rates": []}, "rates", id="rates that are no object"),
        pytest.param({"rates": {"hra": -1}}, "rates.hra", id="a rate below nothing"),
        pytest.param({"rates": {"hra": 0.5}}, "rates.hra", id="half a chip"),
        pytest.param({"rates": {"hra": 10**40}}, "rates.hra", id="more chips than can be counted"),
        pytest.param({"rates": {"kilo": 4}}, "rates.kilo", id="an unknown rate"),
    ],
)
def test_unknown_options_and_values_are_refused_by_their_place(given_rules, field):
    with pytest.raises(Malformed) as error:
        load_rules(given_rules)
    assert error.value.field == field


@given(RULES)
def test_a_table_shows_every_option_and_reads_it_back(rules):
    shown = dump_rules(rules)
    assert load_rules(shown) == rules
    assert set(shown) | {"preset"} == set(dump_rules(HOSPODA)) | {"preset"}


@given(RULES)
def test_the_short_form_means_the_same(rules):
    assert load_rules(name_rules(rules)) == rules


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_goes_by_its_name_alone(preset):
    assert name_rules(PRESETS[preset]) == {"preset": preset}

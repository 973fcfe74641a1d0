"""House rules of volený as JSON: a preset and any overrides."""

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Final

from engine.games.voleny.rules import PRESETS, Rates, Rules
from schemas.errors import Malformed
from schemas.kept import by_identity
from schemas.values import FLAG, Value, choice, whole

CHIPS_MAX: Final = 1_000_000_000

RULES: Final[dict[str, Value]] = {
    "allow_blind": FLAG,
    "forbid_trump_in_talon": FLAG,
    "sto_marriage": choice("first", "highest"),
    "sto_proti_needs_marriage": FLAG,
    "flek_levels_max": whole(0, 6),
    "hearts_double": FLAG,
    "cap": whole(0, CHIPS_MAX),
    "play_balanced": FLAG,
}
RATES: Final = {rate.name: whole(0, CHIPS_MAX) for rate in fields(Rates)}


def load_rules(value: object) -> Rules:
    """The rules of `{"preset": ..., overrides}`; without a preset it is `hospoda`. Raises Malformed."""
    given = dict(_object("", value))
    preset = given.pop("preset", "hospoda")
    rules = PRESETS.get(preset) if isinstance(preset, str) else None
    if rules is None:
        raise Malformed("preset", f"Must be one of: {', '.join(PRESETS)}.")
    if "rates" in given:
        rates = _read("rates.", RATES, _object("rates", given.pop("rates")))
        rules = replace(rules, rates=replace(rules.rates, **rates))
    return replace(rules, **_read("", RULES, given)) if given else rules


def dump_rules(rules: Rules) -> dict[str, object]:
    """Every option with its value, as a table shows it and `load_rules` reads it."""
    return {
        **{name: getattr(rules, name) for name in RULES},
        "rates": {name: getattr(rules.rates, name) for name in RATES},
    }


kept_rules: Final = by_identity(dump_rules)
"""The same, kept: a table has the same rules in every deal and tells them to each reader. Nobody may change it."""


def name_rules(rules: Rules) -> dict[str, object]:
    """The preset that needs the fewest overrides, and those."""
    return dict(_named(rules))


@lru_cache(maxsize=64)
def _named(rules: Rules) -> dict[str, object]:
    """Every deal is recorded with the rules of its table, which are mostly those of many others."""
    return min((_from_preset(name, rules) for name in PRESETS), key=_overrides)


def _from_preset(name: str, rules: Rules) -> dict[str, object]:
    preset = dump_rules(PRESETS[name])
    named: dict[str, object] = {"preset": name}
    for option, value in dump_rules(rules).items():
        if value != preset[option]:
            named[option] = value
    if "rates" in named:
        standard = PRESETS[name].rates
        named["rates"] = {
            rate: getattr(rules.rates, rate) for rate in RATES if getattr(rules.rates, rate) != getattr(standard, rate)
        }
    return named


def _overrides(named: dict[str, object]) -> int:
    rates = named.get("rates")
    return len(named) + (len(rates) if isinstance(rates, dict) else 0)


def _object(field: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Malformed(field, "Not a valid object.")
    return value


def _read(place: str, known: dict[str, Value], given: dict[str, object]) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise Malformed(f"{place}{name}", "Unknown field.")
    read = {}
    for name, value in given.items():
        try:
            read[name] = known[name].read(value)
        except ValueError as error:
            raise Malformed(f"{place}{name}", str(error)) from None
    return read

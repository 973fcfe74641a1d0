"""Volený: what holds of every deal that is played out, however it went (§1.3, §1.4, §6.1, §8.9, §8.11)."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.games.voleny import VOLENY
from engine.games.voleny.rules import SEATS
from engine.games.voleny.state import Playing
from tests.contract import voleny

SEEDS = st.integers(0, 2**32)


def played_out(rules, seed):
    """The last state of a random deal."""
    chance = Random(seed)
    state = VOLENY.fold(VOLENY.decide(VOLENY.initial, voleny.begun(rules, chance)))
    while VOLENY.to_act(state):
        move = voleny.chosen(state, VOLENY.legal(state), VOLENY.modest(state), chance)
        state = VOLENY.fold(VOLENY.decide(state, move), state)
    return state


@given(voleny.RULES, SEEDS)
def test_ninety_points_lie_in_every_trump_game_that_is_played(rules, seed):
    """§1.3, §3.4: no ace or ten lies in its talon."""
    over = played_out(rules, seed)
    trumps = isinstance(over.ended, Playing) and over.ended.contract.game == "colour"
    assert sum(over.result.points) == (90 if trumps else 0)
    assert over.result.played == isinstance(over.ended, Playing)


@given(voleny.RULES, SEEDS)
def test_marriages_are_at_most_one_of_forty_and_three_of_twenty(rules, seed):
    """§1.4."""
    own, others = played_out(rules, seed).result.marriages
    announced = sorted(own + others)
    assert set(announced) <= {20, 40}
    assert announced.count(20) <= 3
    assert announced.count(40) <= 1


@given(voleny.RULES, SEEDS)
def test_no_defender_pays_or_gets_more_than_the_cap(rules, seed):
    """§8.9."""
    over = played_out(rules, seed)
    declarer = VOLENY.public(over).declarer
    defenders = [chips for seat, chips in enumerate(over.result.payments) if seat != declarer]
    if rules.cap:
        assert all(abs(chips) <= rules.cap for chips in defenders)
    else:
        assert not over.result.capped


@given(voleny.RULES, SEEDS)
def test_without_cap_and_sure_games_each_defender_pays_the_sum_of_the_parts(rules, seed):
    """§8.9, §8.11."""
    over = played_out(rules, seed)
    result, declarer = over.result, VOLENY.public(over).declarer
    assert sum(result.payments) == 0
    if not result.capped and not any(row.sure for row in result.parts):
        amount = sum(row.per_defender for row in result.parts)
        assert result.payments[declarer] == 2 * amount
        assert {result.payments[seat] for seat in range(SEATS) if seat != declarer} == {-amount}


@given(voleny.RULES, SEEDS)
def test_every_part_is_settled_once_at_a_level_within_the_maximum(rules, seed):
    """§6.1, §8.4."""
    rows = played_out(rules, seed).result.parts
    names = [row.part for row in rows]
    assert len(set(names)) == len(names)
    assert all(0 <= row.level <= rules.flek_levels_max for row in rows)
    assert all(row.level == 0 for row in rows if row.part == "ticha_sedma")
    assert not {"hra", "sto"}.issubset(names)
    assert not any(row.sure for row in rows if row.part in ("ticha_sedma", "sedma_proti", "sto_proti"))


@given(voleny.RULES, SEEDS)
def test_the_levels_that_everybody_saw_are_the_levels_that_are_paid(rules, seed):
    """§6.1, §7.10."""
    over = played_out(rules, seed)
    shown = dict(VOLENY.public(over).levels)
    paid = {"hra" if row.part == "tiche_sto" else row.part: row.level for row in over.result.parts}
    paid.pop("ticha_sedma", None)
    assert paid == shown

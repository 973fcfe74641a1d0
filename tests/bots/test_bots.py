"""Bots are clients: any view, any rules, a legal move; and the one that follows rules beats the one that does not."""

import random
import statistics

import pytest

from engine.bots import POLICIES
from engine.games.voleny.rules import PRESETS, Rates, Rules
from engine.shuffle import deck_from_key
from tests.bots.seats import duel, payments, play_move, table_of_bots, view_of

ODD = Rules(
    allow_blind=False,
    forbid_trump_in_talon=True,
    sto_marriage="highest",
    sto_proti_needs_marriage=False,
    flek_levels_max=1,
    hearts_double=False,
    cap=0,
    play_balanced=True,
    rates=Rates(hra=3, sedma=6, betl=0),
)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rules", [*PRESETS.values(), ODD])
def test_every_policy_finishes_deals_under_every_rules(policy, rules):
    for number in range(6):
        paid = payments([policy] * 3, deck_from_key(b"any %d" % number), rules, seed=number)
        assert sum(paid) == 0


@pytest.mark.parametrize("pair", [("rule", "random", "random"), ("random", "rule", "random")])
def test_policies_may_be_mixed(pair):
    for number in range(12):
        assert sum(payments(pair, deck_from_key(b"mixed %d" % number), seed=number)) == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_view_and_the_same_dice_give_the_same_move(policy):
    table = table_of_bots(Rules(), deck_from_key(b"same"))
    view = view_of(table, 0)
    moves = [POLICIES[policy](view, view["legal"], random.Random(5)) for _ in range(3)]
    assert moves[0] == moves[1] == moves[2]
    assert view == view_of(table, 0), "a bot changes nothing of what it is shown"


def test_chance_plays_every_legal_move_as_often():
    legal = [{"type": "good"}, {"type": "take_over"}, {"type": "claim"}]
    rng = random.Random(3)
    chosen = [POLICIES["random"]({}, legal, rng)["type"] for _ in range(3000)]
    for move in legal:
        assert 900 < chosen.count(move["type"]) < 1100


def test_rules_of_thumb_beat_chance_clearly():
    won = duel("rule", "random", 60)
    mean = statistics.mean(won)
    error = statistics.stdev(won) / len(won) ** 0.5
    assert mean > 5, f"{mean:+.2f} ± {error:.2f} chips a deal"
    assert mean > 4 * error


def test_they_beat_chance_also_where_only_the_cards_are_played_by_chance():
    """Most of what chance loses, it loses by taking over; this is about the play alone."""

    def bids_by_rule_and_plays_by_chance(view, legal, rng):
        return rng.choice(legal) if view["phase"] == "play" else POLICIES["rule"](view, legal, rng)

    won = duel("rule", bids_by_rule_and_plays_by_chance, 60)
    assert statistics.mean(won) > 0.3


def test_a_session_of_bots_is_played_without_anybody_else():
    table = table_of_bots(Rules(), deck_from_key(b"session"))
    rng = random.Random(1)
    while table.session.stage == "deal":
        table = play_move(table, POLICIES["rule"], rng)
    assert table.session.deal == 1

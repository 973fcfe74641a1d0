"""What every registered game holds, whatever its rules: a new game is under test the day it is registered."""

import json
from importlib import import_module
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import ALL_CARDS
from engine.errors import CODES, RuleViolation
from engine.games import GAMES
from schemas.games import WIRE

KNOWN = {key: import_module(f"tests.contract.{key}") for key in GAMES}
"""What the contract needs to know of each game; a game without it fails here."""

TRIED_MAX = 300
"""Moves tried in each state, of the thousands that could be sent."""

SEEDS = st.integers(0, 2**32)
every_game = pytest.mark.parametrize("key", GAMES)


def deal(key, rules, seed):
    """A random deal, step by step: the state, the command that was sent to it, and its events."""
    game, known, chance = GAMES[key], KNOWN[key], Random(seed)
    state, command = game.initial, known.begun(rules, chance)
    while True:
        events = game.decide(state, command)
        yield state, command, events
        state = game.fold(events, state)
        if not game.to_act(state):
            return
        command = known.chosen(state, game.legal(state), game.modest(state), chance)


def states(key, rules, seed):
    """Every state of a random deal, the last one too."""
    yield GAMES[key].initial
    for state, _, events in deal(key, rules, seed):
        yield GAMES[key].fold(events, state)


@every_game
@given(data=st.data())
def test_what_is_legal_is_accepted(key, data):
    """And the seat to act has something to do until the deal is over, when nobody has."""
    game, rules, seed = GAMES[key], data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    for state in states(key, rules, seed):
        moves = game.legal(state)
        assert len(moves) == len(set(moves))
        assert bool(moves) == bool(game.to_act(state))
        for move in moves:
            assert game.to_act(state) == (move.seat,)
            assert game.decide(state, move)
        if moves:
            assert game.modest(state) in moves
        assert (game.result(state) is None) == (bool(moves) or state == game.initial)


@every_game
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_not_legal_is_refused_with_a_permanent_code_and_changes_nothing(key, data):
    game, rules, seed = GAMES[key], data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    moves = [move for seat in range(game.seats) for move in KNOWN[key].conceivable(seat)]
    chance = Random(seed)
    for state in states(key, rules, seed):
        legal, before = {*game.legal(state)}, repr(state)
        for move in chance.sample(moves, TRIED_MAX):
            if move not in legal:
                with pytest.raises(RuleViolation) as refusal:
                    game.decide(state, move)
                assert refusal.value.code in CODES
        assert repr(state) == before


@every_game
@settings(max_examples=5)
@given(data=st.data())
def test_every_legal_move_is_conceivable(key, data):
    """Else the test above would overlook some."""
    game, rules, seed = GAMES[key], data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    conceivable = {move for seat in range(game.seats) for move in KNOWN[key].conceivable(seat)}
    for state in states(key, rules, seed):
        assert conceivable.issuperset(game.legal(state))


@every_game
@given(data=st.data())
def test_no_card_is_lost_or_doubled_and_no_chip(key, data):
    game, rules, seed = GAMES[key], data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    for state in states(key, rules, seed):
        places = KNOWN[key].places(state)
        assert sum(places) == ALL_CARDS
        assert sum(place.bit_count() for place in places) == ALL_CARDS.bit_count()
    result = game.result(state)
    assert sum(result.payments) == 0
    assert all(type(chips) is int for chips in result.payments)


@every_game
@settings(max_examples=30)
@given(data=st.data())
def test_what_was_recorded_makes_the_same_state_again(key, data):
    game, rules, seed = GAMES[key], data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    recorded = []
    for state, _, events in deal(key, rules, seed):
        assert game.fold(recorded) == state
        assert type(game.fold(recorded)) is type(state)
        recorded += events
    assert game.result(game.fold(recorded)) is not None


@every_game
@settings(max_examples=60)
@given(data=st.data())
def test_a_seat_sees_the_same_when_only_cards_it_cannot_know_change_places(key, data):
    """Hand, moves and all: what a view offers must not tell what it does not show."""
    game, known = GAMES[key], KNOWN[key]
    rules, seed = data.draw(known.RULES), data.draw(SEEDS)
    chance = Random(seed)
    for state in states(key, rules, seed):
        if not game.to_act(state):
            continue
        for seat in (None, *range(game.seats)):
            hidden = known.unseen(state, seat)
            swap = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
            assert game.view(known.exchanged(state, seat, swap), seat) == game.view(state, seat)


@every_game
@settings(max_examples=40)
@given(data=st.data())
def test_events_are_shown_without_what_a_seat_may_not_know(key, data):
    game, known, wire = GAMES[key], KNOWN[key], WIRE[key]
    rules, seed = data.draw(known.RULES), data.draw(SEEDS)
    for _, _, events in deal(key, rules, seed):
        for event in events:
            for seat in (None, *range(game.seats)):
                shown = game.shown(event, seat)
                actor = getattr(event, "seat", None)
                if seat is None or (actor is not None and actor != seat):
                    assert shown == known.without_secrets(event, seat)
                elif actor == seat:
                    assert shown == event
                assert wire.dump_event(shown)["type"] == wire.dump_event(event)["type"]


@every_game
@settings(max_examples=25)
@given(data=st.data())
def test_moves_events_and_states_survive_the_wire(key, data):
    game, wire = GAMES[key], WIRE[key]
    rules, seed = data.draw(KNOWN[key].RULES), data.draw(SEEDS)
    assert wire.load_rules(_sent(wire.dump_rules(rules))) == rules
    for state, _, events in deal(key, rules, seed):
        assert wire.load_state(_sent(wire.dump_state(state))) == state
        for event in events:
            assert wire.load_event(_sent(wire.dump_event(event))) == event
        for move in game.legal(state):
            assert wire.load_move(move.seat, _sent(wire.dump_move(move))) == move
        for seat in (None, *range(game.seats)):
            view = game.view(state, seat)
            assert _sent(wire.dump_public(view.public))["to_act"] == list(game.to_act(state))
            assert _sent(wire.dump_private(view.private))["seat"] == seat
    last = game.fold(events, state)
    assert wire.load_state(_sent(wire.dump_state(last))) == last


@every_game
@given(data=st.data())
def test_the_modest_move_plays_a_deal_to_its_end(key, data):
    """So that no table hangs, whoever stays away."""
    game, chance = GAMES[key], Random(data.draw(SEEDS))
    command = KNOWN[key].begun(data.draw(KNOWN[key].RULES), chance)
    state = game.fold(game.decide(game.initial, command))
    while game.to_act(state):
        state = game.fold(game.decide(state, game.modest(state)), state)
    assert game.result(state) is not None


def _sent(value):
    return json.loads(json.dumps(value))

"""Finished deals of chance, as records: the same for the same seed on any machine."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from engine.cards import CARDS
from engine.games import GAMES
from engine.games.voleny.commands import Command, Deal
from engine.games.voleny.rules import SEATS
from engine.games.voleny.state import Answering, Declaring, Discarding, State
from schemas.games import WIRE
from schemas.recording import new_record, recorded
from schemas.records import Json

Policy = Callable[[State, Random], Command]

POLICIES: Final = ("random", "bot")
MODEST_SHARE: Final = 0.75
"""How often the random policy is modest until the contract stands: else two deals in three would be a durch."""


def random_records(game: str, seed: int, count: int, policy: str, rules: Json) -> Iterator[Json]:
    """`count` finished records. Deal n of a seed depends on nothing else, so a longer run begins with a shorter one.

    `rules` are a preset and any overrides; Malformed when they are not.
    """
    choose = _random_move if policy == "random" else bot_move(game)
    for number in range(count):
        # Only random() is promised to be the same in every version of Python.
        chance = Random(f"{game}:{seed}:{number}")
        yield _random_record(game, rules, choose, chance)


def _random_record(game: str, rules: Json, choose: Policy, chance: Random) -> Json:
    rule_set, wire = GAMES[game], WIRE[game]
    dealer, deck = _below(chance, SEATS), _shuffled(chance)
    record = new_record(game, rules, dealer, deck)
    deal = Deal(rules=wire.load_rules(rules), dealer=dealer, deck=deck)
    state = rule_set.fold(rule_set.decide(rule_set.initial, deal))
    moves = []
    while seats := rule_set.to_act(state):
        move = choose(state, chance)
        moves.append(recorded(seats[0], move))
        state = rule_set.fold(rule_set.decide(state, move), state)
    result = rule_set.result(state)
    assert result is not None
    return {**record, "moves": moves, "result": wire.dump_result(result)}


def _random_move(state: State, chance: Random) -> Command:
    """Any legal move; in the talon and the answers mostly the modest one, so that all contracts come up."""
    game = GAMES["voleny"]
    if isinstance(state, Discarding | Declaring | Answering) and chance.random() < MODEST_SHARE:
        return game.modest(state)
    moves = game.legal(state)
    return moves[_below(chance, len(moves))]


def bot_move(key: str) -> Policy:
    """The beginner's policy, which sees what a client sees and nothing else."""
    from engine.bots import POLICIES as BOTS

    game, wire, bot = GAMES[key], WIRE[key], BOTS["rule"]

    def choose(state: State, chance: Random) -> Command:
        seat = game.to_act(state)[0]
        shown = game.view(state, seat)
        view = {**wire.dump_public(shown.public), **wire.dump_private(shown.private)}
        return wire.load_move(seat, bot(view, [wire.dump_move(move) for move in game.legal(state)], chance))

    return choose


def _below(chance: Random, bound: int) -> int:
    return int(chance.random() * bound)


def _shuffled(chance: Random) -> tuple[int, ...]:
    deck = list(range(CARDS))
    for last in range(CARDS - 1, 0, -1):
        other = _below(chance, last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)

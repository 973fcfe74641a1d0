"""A sensible beginner: the rules of thumb of volený, each a small function, none of which looks ahead."""

from collections.abc import Mapping, Sequence
from random import Random

from engine.bots.bidding import announce, choose_trump, declare, discard, takes_over
from engine.bots.doubling import double
from engine.bots.playing import card_to_play
from engine.bots.sight import Sight, look
from engine.notation import CARD, CODES

Move = dict[str, object]


def choose(view: Mapping[str, object], legal: Sequence[Move], rng: Random) -> Move:
    """One of `legal`, which is not empty. The same view gives the same move; `rng` is not asked."""
    sight = look(view)
    kinds = {move["type"] for move in legal}
    if "play" in kinds:
        return _play(sight, legal)
    for kind, rule in (
        ("choose_trump", choose_trump),
        ("discard", discard),
        ("declare", declare),
        ("announce", announce),
    ):
        if kind in kinds:
            return rule(sight, legal)
    return _answer(sight, legal)


def _answer(sight: Sight, legal: Sequence[Move]) -> Move:
    """To colour, to betl and in doubling: mostly good."""
    for move in legal:
        if move["type"] == "take_over" and takes_over(sight):
            return move
    return double(sight, legal)


def _play(sight: Sight, legal: Sequence[Move]) -> Move:
    """A marriage is always announced, where a word is asked for."""
    plays = [move for move in legal if move["type"] == "play" and move.get("marriage", True)]
    card = CODES[card_to_play(sight, [CARD[str(move["card"])] for move in plays])]
    return next(move for move in plays if move["card"] == card)

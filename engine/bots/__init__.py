"""Bots: `choose(view, legal, rng)` takes what any client sees and gives one of the moves that any client may send.

Weights are added by `fsum`: `sum` of floats rounds differently since Python 3.12, and a bot would change its mind.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from engine.bots.random_legal import choose as by_chance
from engine.bots.rule_of_thumb import choose as by_rule

Choose = Callable[[Mapping[str, object], Sequence[dict[str, object]], Random], dict[str, object]]

POLICIES: Final[dict[str, Choose]] = {"rule": by_rule, "random": by_chance}

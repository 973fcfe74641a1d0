"""A bot that plays any legal move."""

from collections.abc import Mapping, Sequence
from random import Random


def choose(view: Mapping[str, object], legal: Sequence[dict[str, object]], rng: Random) -> dict[str, object]:
    """One of `legal`, each as likely as any other."""
    return rng.choice(legal)

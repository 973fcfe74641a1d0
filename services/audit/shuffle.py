"""The shuffle: the sealed key of a deal gives the order that was committed to, and the seed of all salts and nonces.

Everything else about fairness (root, leaves, nonces, where each card lies, the commitments to hands, what opens them)
follows from these two and is decided again with the rest of the deal.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidTag

from engine.fairness.commitments import seed_of
from engine.games.voleny.events import Dealt
from engine.notation import CODES
from engine.shuffle import deck_from_key
from engine.table.events import DealCommitted, DealStarted, Event

UNCHECKED: Final = "shuffles, in tables: they need the auditor's private key (--keys)"

OpenKey: TypeAlias = Callable[[str], bytes]
"""The deal key in a sealed text. Raises InvalidTag."""


def unlike(events: Sequence[Event], open_key: OpenKey) -> Iterator[tuple[str, str, str]]:
    """What of the deal that these events begin does not come from its key: field, expected, found."""
    for number, event in enumerate(events):
        if isinstance(event, DealCommitted) and event.sealed_key:
            order, seed, sealed = event.order, event.seed, event.sealed_key
        elif isinstance(event, DealStarted) and event.sealed_key:
            dealt = next((each for each in events if isinstance(each, Dealt)), None)
            order, seed, sealed = (dealt.deck or () if dealt else ()), "", event.sealed_key
        else:
            continue
        try:
            key = open_key(sealed)
        except InvalidTag:
            yield f"e.{number}.sealed_key", "a key that was sealed to this auditor", "another, or a damaged one"
            continue
        if deck_from_key(key) != tuple(order):
            yield f"e.{number}.order", _cards(deck_from_key(key)), _cards(order)
        elif seed and seed_of(key).hex() != seed:
            yield f"e.{number}.seed", seed_of(key).hex(), seed


def _cards(order: Sequence[int]) -> str:
    return " ".join(CODES[card] for card in order)

"""Remembering what was made of a value that comes again and again as the very same object."""

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")
M = TypeVar("M")

KEPT_MAX = 4096


def by_identity(make: Callable[[V], M]) -> Callable[[V], M]:
    """`make`, remembering what it made of the last values; they must not change.

    To hash a card that was played, or a whole session, costs several times as much as to ask whether it is the one
    that was seen before. An equal value that is another object is only made anew.
    """
    kept: dict[int, tuple[V, M]] = {}

    def remembered(value: V) -> M:
        found = kept.get(id(value))
        if found is not None:
            return found[1]
        if len(kept) >= KEPT_MAX:
            kept.clear()
        made = make(value)
        kept[id(value)] = (value, made)  # Held with it, the value lives on, and no other gets its identity.
        return made

    return remembered

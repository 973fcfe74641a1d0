"""A game on the wire is a record of functions, beside the record of its rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.game import Result

R = TypeVar("R")
S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E")
P = TypeVar("P")
Q = TypeVar("Q")

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameWire(Generic[R, S, C, E, P, Q]):
    """Rules R, states S, moves C, events E, public P and private Q views as JSON values, and back.

    All loaders raise Malformed for a wrong shape, but those of events and states, which read only what was written.
    """

    key: str
    load_rules: Callable[[object], R]
    dump_rules: Callable[[R], Json]
    load_move: Callable[[int, Json], C]
    dump_move: Callable[[C], Json]
    dump_event: Callable[[E], Json]
    """What is None is absent, so a shown event keeps its secrets."""
    load_event: Callable[[Json], E]
    """Any version that was ever written."""
    dump_public: Callable[[P], Json]
    dump_private: Callable[[Q], Json]
    dump_result: Callable[[Result], Json]
    dump_state: Callable[[S], Json]
    load_state: Callable[[Json], S]
    stored: tuple[object, ...]
    """The types that `dump_state` writes: a snapshot is read only where they have the same shape."""

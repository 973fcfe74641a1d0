"""A game is a record of functions over its own states, commands, events and views."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Generic, NamedTuple, TypeVar

S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E")
P = TypeVar("P")
Q = TypeVar("Q")


class View(NamedTuple, Generic[P, Q]):
    """What one seat may know: what all know, and what only that seat knows. A spectator's seat is None."""

    seat: int | None
    public: P
    private: Q


class PartResult(NamedTuple):
    """How one part of the contract ended; `per_defender` is what each defender pays before §8.10 and the cap."""

    part: str
    won: bool
    level: int
    per_defender: int
    sure: bool


class Result(NamedTuple):
    """How a deal ended: chips by seat, sum 0; points and marriages as (declarer's side, defence)."""

    payments: tuple[int, ...]
    played: bool
    capped: bool
    points: tuple[int, int]
    marriages: tuple[tuple[int, ...], tuple[int, ...]]
    parts: tuple[PartResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game(Generic[S, C, E, P, Q]):
    """The functions that make a game, over states S, commands C, events E, public views P and private views Q."""

    key: str
    seats: int
    initial: S
    decide: Callable[[S, C], tuple[E, ...]]
    """The events a command causes; raises RuleViolation when the rules forbid it."""
    evolve: Callable[[S, E], S]
    """The state after an event; holds no rule and never refuses."""
    legal: Callable[[S], tuple[C, ...]]
    """Whole commands of the seat to act, in a stable order; empty when the deal is over."""
    to_act: Callable[[S], tuple[int, ...]]
    public: Callable[[S], P]
    private: Callable[[S, int | None], Q]
    shown: Callable[[E, int | None], E]
    """The event as a seat may know it: what it may not know is None."""
    modest: Callable[[S], C]
    """What the clock plays for a seat that let its time pass."""
    result: Callable[[S], Result | None]
    """Payments and what they were for; None while the deal runs."""

    def view(self, state: S, seat: int | None) -> View[P, Q]:
        """What `seat` may know; a spectator is None and sees no hand."""
        return View(seat, self.public(state), self.private(state, seat))

    def fold(self, events: Iterable[E], state: S | None = None) -> S:
        """The state after `events`, from the initial state or from `state`."""
        return reduce(self.evolve, events, self.initial if state is None else state)

"""A decision of any game told as a sentence: `given(...).when(...).then(...)`."""

from dataclasses import dataclass, replace
from typing import Any

from engine.errors import RuleViolation
from engine.games import AnyGame
from engine.games.voleny import VOLENY


@dataclass(frozen=True)
class Told:
    """A game that has come so far, and what its last command did: the events, or the refusal."""

    state: Any
    game: AnyGame = VOLENY
    events: tuple[Any, ...] = ()
    refusal: RuleViolation | None = None

    def when(self, *commands: Any) -> "Told":
        """After `commands`, all of which but the last must be allowed."""
        told = self
        for command in commands:
            assert told.refusal is None, f"{told.refusal} came before {command}"
            told = told._decided(command)
        return told

    def told(self, *events: Any) -> "Told":
        """After `events`, which are trusted."""
        return replace(self, state=self.game.fold(events, self.state), events=events)

    def then(self, *events: Any) -> "Told":
        """The last command caused exactly these."""
        assert self.refusal is None, self.refusal
        assert self.events == events
        return self

    def then_refused(self, code: str, **facts: object) -> "Told":
        """The last command was refused with this code, and its sender is told at least these facts."""
        assert self.refusal is not None, f"allowed, and caused {self.events}"
        assert self.refusal.code == code
        assert {name: self.refusal.facts.get(name) for name in facts} == facts
        return self

    def then_may(self, *commands: Any) -> "Told":
        """The seat to act may do exactly these."""
        legal = self.game.legal(self.state)
        assert len(legal) == len(set(legal))
        assert set(legal) == set(commands)
        return self

    def then_asks(self, *seats: int) -> "Told":
        """It is for these seats to act."""
        assert self.refusal is None, self.refusal
        assert self.game.to_act(self.state) == seats
        return self

    def public(self) -> Any:
        """What everybody sees."""
        return self.game.public(self.state)

    def private(self, seat: int) -> Any:
        """What one seat sees besides."""
        return self.game.private(self.state, seat)

    def result(self) -> Any:
        """How it ended; it must have."""
        assert self.refusal is None, self.refusal
        result = self.game.result(self.state)
        assert result is not None, "the deal still runs"
        return result

    def _decided(self, command: Any) -> "Told":
        try:
            events = self.game.decide(self.state, command)
        except RuleViolation as refusal:
            return replace(self, events=(), refusal=refusal)
        return replace(self, state=self.game.fold(events, self.state), events=events)


def given(state: Any, game: AnyGame = VOLENY) -> Told:
    """The sentence begins: the game stands like this."""
    return Told(state, game)

"""The types of the game that a table runs: the one place to widen when another game sits down at a table."""

from engine.game import Game
from engine.games import GAMES
from engine.games.voleny.commands import Command as GameCommand
from engine.games.voleny.commands import Deal
from engine.games.voleny.events import Event as GameEvent
from engine.games.voleny.rules import Rules
from engine.games.voleny.state import State as GameState
from engine.games.voleny.view import Private, Public

AnyPlay = Game[GameState, GameCommand, GameEvent, Public, Private]

__all__ = [
    "GAMES",
    "AnyPlay",
    "Deal",
    "GameCommand",
    "GameEvent",
    "GameState",
    "Rules",
]

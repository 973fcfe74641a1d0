"""The one registry of games."""

from typing import Any, Final

from engine.game import Game
from engine.games.voleny import VOLENY

AnyGame = Game[Any, Any, Any, Any, Any]
"""For who runs a game without looking into its values, as a table does; each game keeps its own types."""

GAMES: Final = {game.key: game for game in (VOLENY,)}

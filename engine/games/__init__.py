"""The one registry of games."""

from typing import Final

from engine.games.voleny import VOLENY

GAMES: Final = {game.key: game for game in (VOLENY,)}

"""How each game is written and read: the one registry."""

from typing import Final

from schemas.games.voleny import VOLENY_WIRE

WIRE: Final = {wire.key: wire for wire in (VOLENY_WIRE,)}

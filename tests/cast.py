"""The fixed cast of the tests: Ana deals, Bára is the forehand, Cyril sits third, Dana watches."""

from typing import NamedTuple


class Player(NamedTuple):
    """Somebody whom every test knows; `seat` is None for who only watches."""

    id: str
    name: str
    seat: int | None


ANA = Player("u-0a-00000000000000a1", "Ana", 0)
BARA = Player("u-0b-00000000000000b2", "Bára", 1)
CYRIL = Player("u-0c-00000000000000c3", "Cyril", 2)
DANA = Player("u-0d-00000000000000d4", "Dana", None)
CAST = (ANA, BARA, CYRIL, DANA)
SEATED = (ANA, BARA, CYRIL)

"""When the rule bot doubles: rarely, and on what it holds itself."""

from collections.abc import Sequence
from math import fsum

from engine.bots.bidding import has_marriage
from engine.bots.sight import STRENGTH, Sight, of_suit

Move = dict[str, object]

FLEK_MIN = 9.0
RE_MIN = 12.0
LEVEL_MAX = 2
"""No part is raised beyond re."""


def double(sight: Sight, legal: Sequence[Move]) -> Move:
    """The flek that raises just the parts that this hand justifies, else good."""
    wanted = {part for part, level in sight.levels.items() if _justified(sight, part, level)} - set(sight.said)
    good = next(move for move in legal if move["type"] == "good")
    if not wanted:
        return good
    fleks = (move for move in legal if move["type"] == "flek")
    return next((move for move in fleks if move["raise"] == _in_order(wanted) and not move["announce"]), good)


def _in_order(parts: set[str]) -> list[str]:
    return [part for part in ("hra", "sedma", "sto", "betl", "durch", "sedma_proti", "sto_proti") if part in parts]


def _justified(sight: Sight, part: str, level: int) -> bool:
    if level >= LEVEL_MAX:
        return False
    match part:
        case "hra":
            return game_strength(sight) >= (RE_MIN if sight.is_declarer else FLEK_MIN)
        case "sedma":
            return not sight.is_declarer and _breaks_sedma(sight)
        case "betl":
            return not sight.is_declarer and _breaks_betl(sight)
        case _:
            return False


def game_strength(sight: Sight) -> float:
    """How much of the game this hand wins: trumps, aces, guarded tens, marriages."""
    trump = sight.trump
    if trump is None:
        return 0.0
    own = [of_suit(sight.hand, suit) for suit in range(4)]
    trumps = fsum(1.0 + 0.25 * STRENGTH[card] for card in own[trump])
    sides = fsum(_side_strength(cards) for suit, cards in enumerate(own) if suit != trump)
    marriages = fsum((4.0 if suit == trump else 2.0) * has_marriage(sight.hand, suit) for suit in range(4))
    return trumps + sides + marriages


def _side_strength(own: tuple[int, ...]) -> float:
    ranks = {card % 8 for card in own}
    return 1.5 * (7 in ranks) + 0.8 * (3 in ranks and len(own) > 1)


def _breaks_sedma(sight: Sight) -> bool:
    """So many trumps that the declarer will have to play his seven before the last trick."""
    return sight.trump is not None and len(of_suit(sight.hand, sight.trump)) >= 4


def _breaks_betl(sight: Sight) -> bool:
    """Three sevens and their likes leave the declarer no safe suit."""
    return sum(card % 8 <= 1 for card in sight.hand) >= 5

"""How the rule bot chooses trumps, discards, declares, answers and announces: one small function per question."""

from collections.abc import Sequence
from math import fsum

from engine.bots.alone import betl_danger, durch_is_sure, durch_losers
from engine.bots.sight import STRENGTH, Sight, is_point, of_suit
from engine.notation import CARD

BETL_DANGER_MAX = 0.05
"""Up to here a betl is worth more than the colour game that one would play instead."""
TAKE_OVER_DANGER_MAX = 0.12

Move = dict[str, object]

_TRUMP_WORTH = (0.0, 0.2, 0.3, 0.5, 0.7, 1.0, 1.6, 2.2)
"""What a card is worth as a trump beside its number, by strength."""


def choose_trump(sight: Sight, legal: Sequence[Move]) -> Move:
    """The lowest card of the strongest suit of the seven; nobody good draws blind."""
    shown = [move for move in legal if "card" in move]
    suit = max(range(4), key=lambda suit: trump_strength(sight.hand, suit))
    return min(shown, key=lambda move: (_card(move) >> 3 != suit, STRENGTH[_card(move)]))


def trump_strength(hand: tuple[int, ...], suit: int) -> float:
    """How good `suit` would be as trumps: its number first, then its high cards and a marriage."""
    own = of_suit(hand, suit)
    return 1.5 * len(own) + fsum(_TRUMP_WORTH[STRENGTH[card]] for card in own) + 1.5 * has_marriage(hand, suit)


def has_marriage(hand: tuple[int, ...], suit: int) -> bool:
    """King and queen of the suit?"""
    return 8 * suit + 5 in hand and 8 * suit + 6 in hand


def discard(sight: Sight, legal: Sequence[Move]) -> Move:
    """The two cards without which the hand is best for the game that it is best for."""
    return max(legal, key=lambda move: _rest_worth(sight, _cards(move)))


def _rest_worth(sight: Sight, talon: tuple[int, ...]) -> float:
    """A sure durch before a fair betl before the best colour game; a taken-over game knows no colour."""
    rest = tuple(card for card in sight.hand if card not in talon)
    if durch_is_sure(rest):
        return 1000.0
    danger = betl_danger(rest)
    if sight.trump_card is None:
        return -danger
    if danger <= BETL_DANGER_MAX:
        return 500.0 - danger
    return _colour_worth(rest, talon, sight.trump_card >> 3)


def _colour_worth(rest: tuple[int, ...], talon: tuple[int, ...], trump: int) -> float:
    """Aces and tens may not lie in the talon, trumps should not; else what the side suits are worth."""
    closed = sum(is_point(card) for card in talon)
    trumps = sum(card >> 3 == trump for card in talon)
    sides = fsum(_side_suit_worth(of_suit(rest, suit)) for suit in range(4) if suit != trump)
    return sides - 100.0 * closed - 4.0 * trumps


def _side_suit_worth(own: tuple[int, ...]) -> float:
    """A void can be trumped, an ace takes a trick, a ten needs company, a marriage counts 20; the rest loses."""
    if not own:
        return 2.5
    ranks = {card % 8 for card in own}
    ace, ten = 7 in ranks, 3 in ranks
    worth = 1.5 * ace + (2.5 if ace and ten else 0.8 if ten and len(own) > 1 else -1.5 * ten)
    return worth + 3.0 * ({5, 6} <= ranks) - 0.8 * sum(rank not in (3, 7) for rank in ranks)


def declare(sight: Sight, legal: Sequence[Move]) -> Move:
    """Durch when it is sure, betl when it is fair, else colour; where colour is closed, what fails least."""
    games = {str(move["game"]): move for move in legal}
    if "durch" in games and durch_is_sure(sight.hand):
        return games["durch"]
    if "betl" in games and betl_danger(sight.hand) <= BETL_DANGER_MAX:
        return games["betl"]
    if "colour" in games:
        return games["colour"]
    if "betl" in games and betl_danger(sight.hand) < durch_losers(sight.hand):
        return games["betl"]
    return games.get("durch", legal[0])


def takes_over(sight: Sight) -> bool:
    """Only with a hand that needs nothing from the talon."""
    if durch_is_sure(sight.hand):
        return True
    return "betl" not in sight.contract and betl_danger(sight.hand) <= TAKE_OVER_DANGER_MAX


def announce(sight: Sight, legal: Sequence[Move]) -> Move:
    """Sto and sedma on top of hra where the hand justifies them."""
    contracts = {tuple(_words(move["contract"])): move for move in legal}
    first = "sto" if justifies_sto(sight) else "hra"
    wanted = (first, "sedma") if justifies_sedma(sight) else (first,)
    wanted = ("sto", "sedma") if set(wanted) == {"sto", "sedma"} else wanted
    return contracts.get(wanted) or contracts.get((first,)) or legal[0]


def justifies_sedma(sight: Sight) -> bool:
    """Enough trumps to keep the seven for the last trick."""
    trumps = of_suit(sight.hand, _trump(sight))
    high = sum(STRENGTH[card] >= 6 for card in trumps)
    return len(trumps) >= 5 or (len(trumps) >= 4 and high >= 1 and _side_aces(sight) >= 2)


def justifies_sto(sight: Sight) -> bool:
    """Forty in trumps, and aces and tens for most of the other sixty."""
    trump = _trump(sight)
    trumps = of_suit(sight.hand, trump)
    points = sum(is_point(card) for card in sight.hand)
    return has_marriage(sight.hand, trump) and len(trumps) >= 4 and len(trumps) + points >= 9


def _side_aces(sight: Sight) -> int:
    return sum(card % 8 == 7 and card >> 3 != sight.trump for card in sight.hand)


def _trump(sight: Sight) -> int:
    assert sight.trump is not None, "there are no trumps"
    return sight.trump


def _card(move: Move) -> int:
    return CARD[str(move["card"])]


def _cards(move: Move) -> tuple[int, ...]:
    return tuple(CARD[code] for code in _words(move["cards"]))


def _words(value: object) -> list[str]:
    assert isinstance(value, list)
    return value

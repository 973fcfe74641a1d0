"""How the rule bot plays a card: what the trick is worth, who has it so far, and what the card costs."""

from collections.abc import Sequence

from engine.bots.alone import betl_lead, riskiest_suit
from engine.bots.sight import STRENGTH, Sight, is_point, of_suit

_COST = (0.0, 0.3, 0.6, 1.2, 2.0, 2.6, 5.0, 9.0)
"""What it costs to part with a card, by strength; ten points are worth ten."""
_TRUMP_COST = 4.0


def card_to_play(sight: Sight, cards: Sequence[int]) -> int:
    """One of `cards`, which are legal."""
    if sight.is_trick_game:
        return _lead(sight, cards) if not sight.trick else _follow(sight, cards)
    if "betl" in sight.contract:
        return _betl(sight, cards)
    return _durch(sight, cards)


def _lead(sight: Sight, cards: Sequence[int]) -> int:
    """Who plays alone draws trumps from the top; then aces; then whatever is cheapest."""
    if sight.is_declarer and (trump := _trump_to_draw(sight, cards)) is not None:
        return trump
    aces = [card for card in cards if card % 8 == 7 and card >> 3 != sight.trump]
    if aces:
        return min(aces, key=lambda ace: len(of_suit(sight.hand, ace >> 3)))
    return min(cards, key=lambda card: _lead_cost(sight, card))


def _trump_to_draw(sight: Sight, cards: Sequence[int]) -> int | None:
    """The highest trump, if it is the ace or the suit is long."""
    trumps = [card for card in cards if card >> 3 == sight.trump]
    if not trumps:
        return None
    best = max(trumps, key=STRENGTH.__getitem__)
    return best if (STRENGTH[best] == 7 and len(trumps) >= 3) or len(trumps) >= 5 else None


def _lead_cost(sight: Sight, card: int) -> float:
    """Low cards of side suits first; a ten is led last."""
    return _COST[STRENGTH[card]] + (6.0 if card >> 3 == sight.trump else 0.0)


def _follow(sight: Sight, cards: Sequence[int]) -> int:
    return max(cards, key=lambda card: _trick_worth(sight, card) - _cost(sight, card))


def _cost(sight: Sight, card: int) -> float:
    """Trumps are dear, the ace of trumps most: it takes a trick at any time."""
    if card >> 3 != sight.trump:
        return _COST[STRENGTH[card]]
    return _COST[STRENGTH[card]] + (1.5 if STRENGTH[card] == 7 else 1.0) * _TRUMP_COST


def _trick_worth(sight: Sight, card: int) -> float:
    """Points that the trick brings to our side with `card`, or to the other."""
    points = 10.0 * sum(is_point(played) for played in (card, *(played for _, played in sight.trick)))
    return points * _hope(sight, card)


def _hope(sight: Sight, card: int) -> float:
    """From 1, the trick is ours, to -1, it is theirs. Who plays last knows."""
    seat, best = _taker(sight, card)
    ours = seat == sight.seat or (not sight.is_declarer and seat != sight.declarer)
    if len(sight.trick) == 2:
        return 1.0 if ours else -1.0
    if not ours:
        return -1.0 if sight.is_declarer else -0.6
    last = 3 - sight.seat - sight.trick[0][0]
    if not sight.is_declarer and last != sight.declarer:
        return 1.0
    return 0.8 if _is_hard_to_beat(sight, best) else -0.3


def _is_hard_to_beat(sight: Sight, card: int) -> bool:
    """An ace, or a trump of weight."""
    return STRENGTH[card] == 7 or (card >> 3 == sight.trump and STRENGTH[card] >= 5)


def _taker(sight: Sight, card: int) -> tuple[int, int]:
    """Who has the trick once `card` is played, and the card that has it."""
    taker, best = sight.trick[0]
    for seat, played in (*sight.trick[1:], (sight.seat, card)):
        if _beats(played, best, sight.trump):
            taker, best = seat, played
    return taker, best


def _beats(card: int, best: int, trump: int | None) -> bool:
    if card >> 3 == best >> 3:
        order = STRENGTH if trump is not None else _NATURAL
        return order[card] > order[best]
    return card >> 3 == trump


_NATURAL = tuple(card % 8 for card in range(32))


def _betl(sight: Sight, cards: Sequence[int]) -> int:
    """Alone: get rid of what might take a trick. Against: keep the low cards to lead under him."""
    if not sight.trick:
        return betl_lead(sight.hand) if sight.is_declarer else min(cards, key=_NATURAL.__getitem__)
    led, best = sight.trick[0][1], max(_following(sight), key=_NATURAL.__getitem__)
    if not sight.is_declarer:
        return max(cards, key=_NATURAL.__getitem__)
    if cards[0] >> 3 != led >> 3:
        risky = riskiest_suit(sight.hand)
        return max(cards, key=lambda card: (card >> 3 == risky, card % 8))
    over = [card for card in cards if card > best]
    return min(over) if over else max(cards)


def _following(sight: Sight) -> list[int]:
    """The cards of the trick that may take it."""
    led = sight.trick[0][1] >> 3
    return [card for _, card in sight.trick if card >> 3 == led]


def _durch(sight: Sight, cards: Sequence[int]) -> int:
    """Alone: from the top of the longest suit. Against: keep the high cards that may stop him."""
    if sight.is_declarer:
        return max(cards, key=lambda card: (card % 8, len(of_suit(sight.hand, card >> 3))))
    return min(cards, key=_NATURAL.__getitem__)

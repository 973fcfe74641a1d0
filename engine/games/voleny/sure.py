"""Sure games: parts that the declarer cannot fail whatever the unseen cards and the defence (§8.10).

Judged before the first card, from the declarer's ten cards and his talon alone.
"""

from engine.cards import ALL_CARDS, NATURAL, SUIT_MASKS, TEN_HIGH, above, cards_of

_HIGHER = above(NATURAL)
_HIGHER_TEN_HIGH = above(TEN_HIGH)


def takes_all_without_trumps(hand: int, talon: int) -> bool:
    """Whether a durch is sure."""
    out = ALL_CARDS & ~(hand | talon)
    return all(_suit_runs(hand & suit, out & suit, _HIGHER) for suit in SUIT_MASKS)


def takes_all_with_trumps(hand: int, talon: int, trump: int) -> bool:
    """Whether the declarer, on lead, takes all ten tricks with trumps: then hra is sure, and sto, and sedma."""
    out = ALL_CARDS & ~(hand | talon)
    trumps = SUIT_MASKS[trump]
    if _masters(hand & trumps, out & trumps, _HIGHER_TEN_HIGH) < (out & trumps).bit_count():
        return False
    return all(
        _suit_runs(hand & suit, out & suit, _HIGHER_TEN_HIGH) for index, suit in enumerate(SUIT_MASKS) if index != trump
    )


def takes_nothing(hand: int, talon: int) -> bool:
    """Whether a betl is sure: some first lead is beaten, and nothing of what is left can be made to take a trick."""
    out = ALL_CARDS & ~(hand | talon)
    weak = [suit for suit in SUIT_MASKS if not _stays_under(hand & suit, out & suit)]
    if len(weak) > 1:
        return False
    return any(_is_sure_lead(card, hand, out) for card in cards_of(hand & weak[0] if weak else hand))


def _suit_runs(own: int, out: int, higher: tuple[int, ...]) -> bool:
    return _masters(own, out, higher) >= min(own.bit_count(), out.bit_count())


def _masters(own: int, out: int, higher: tuple[int, ...]) -> int:
    """How many own cards of a suit are above all that are out."""
    return sum(1 for card in cards_of(own) if not higher[card] & out)


def _stays_under(own: int, out: int) -> bool:
    """Whether no card out is below an own card of the suit; bits of one suit rise in the natural order."""
    return not own or not out or own.bit_length() <= (out & -out).bit_length()


def _is_sure_lead(card: int, hand: int, out: int) -> bool:
    """Whether a sure betl may begin with `card`, all other suits being safe."""
    suit = SUIT_MASKS[card >> 3]
    if not _HIGHER[card] & out:
        return False
    rest = hand & suit & ~(1 << card)
    return (out & suit).bit_count() == 1 or _stays_under(rest, out & suit)

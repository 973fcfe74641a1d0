"""Sure games: parts that the declarer cannot fail whatever the unseen cards and the defence (§8.10).

Judged before the first card, from the declarer's ten cards and his talon alone. A suit is looked at as
the ranks in his hand and the ranks out, eight bits each, the higher bit the stronger card.
"""

from engine.cards import ALL_CARDS, TEN_HIGH, mask_of, strength

_SHIFTS = (0, 8, 16, 24)


def takes_all_without_trumps(hand: int, talon: int) -> bool:
    """Whether a durch is sure."""
    out = ALL_CARDS & ~(hand | talon)
    return all(_is_run(hand >> shift & 255, out >> shift & 255) for shift in _SHIFTS)


def takes_all_with_trumps(hand: int, talon: int, trump: int) -> bool:
    """Whether the declarer, on lead, takes all ten tricks: then hra is sure, and an announced sto or sedma."""
    out = ALL_CARDS & ~(hand | talon)
    own_trumps, out_trumps = _TEN_HIGH[hand >> 8 * trump & 255], _TEN_HIGH[out >> 8 * trump & 255]
    if _masters(own_trumps, out_trumps) < out_trumps.bit_count():
        return False
    return all(
        _is_run(_TEN_HIGH[hand >> shift & 255], _TEN_HIGH[out >> shift & 255])
        for shift in _SHIFTS
        if shift != 8 * trump
    )


def takes_nothing(hand: int, talon: int) -> bool:
    """Whether a betl is sure: some first lead is beaten, and no card that is left can be made to take a trick."""
    out = ALL_CARDS & ~(hand | talon)
    weak = None
    for shift in _SHIFTS:
        if not _stays_under(hand >> shift & 255, out >> shift & 255):
            if weak is not None:
                return False
            weak = shift
    leads = _SHIFTS if weak is None else (weak,)
    return any(_has_sure_lead(hand >> shift & 255, out >> shift & 255) for shift in leads)


def _masters(own: int, out: int) -> int:
    """How many own cards are above all that are out."""
    return (own >> out.bit_length()).bit_count()


def _is_run(own: int, out: int) -> bool:
    """Whether a suit that is led through takes a trick with every card."""
    return _masters(own, out) >= min(own.bit_count(), out.bit_count())


def _stays_under(own: int, out: int) -> bool:
    """Whether no card out is below an own one, so that the suit can never be made to take a trick."""
    return not own or not out or own < out & -out


def _has_sure_lead(own: int, out: int) -> bool:
    """Whether a sure betl may begin in this suit, the others being safe: the lead is beaten, the rest stays under."""
    leads = (1 << rank for rank in range(8) if own >> rank & 1)
    return any(lead < out and (out.bit_count() == 1 or _stays_under(own ^ lead, out)) for lead in leads)


_PLACES = strength(TEN_HIGH)
_TEN_HIGH = tuple(mask_of(_PLACES[rank] for rank in range(8) if ranks >> rank & 1) for ranks in range(256))
"""For each set of ranks in their natural order the same set with the ten below the ace only."""

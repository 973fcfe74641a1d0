"""Points and payments counted again from what lies on the table, without the code that has settled the deal."""

from collections.abc import Iterator, Sequence

from engine.games.voleny.state import Over, Playing, State
from engine.notation import CODES

ALL_POINTS = 90
"""Four aces and four tens at ten each, and ten for the last trick."""


def miscounted(state: State, payments: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """What of a settled deal is not as counted again: field, expected, found."""
    if not isinstance(state, Over):
        yield "e", "a deal that is over", type(state).__name__
        return
    if sum(payments) or tuple(payments) != state.result.payments:
        yield "e.payments", f"{list(state.result.payments)}, together 0", str(list(payments))
    deal = state.ended
    if isinstance(deal, Playing) and deal.contract.game == "colour":
        expected = _points(deal)
        if state.result.points != expected:
            yield "e.result.points", str(list(expected)), str(list(state.result.points))


def _points(deal: Playing) -> tuple[int, int]:
    """Of the declarer and of the defence, by the names of the cards that each has won."""
    declarer = deal.contract.declarer
    own = sum(10 for taker, cards in deal.taken if taker == declarer for card in cards if CODES[card][0] in "AT")
    talon = sum(10 for card in range(len(CODES)) if deal.contract.talon >> card & 1 and CODES[card][0] in "AT")
    if deal.taken[-1][0] == declarer:
        own += 10
    return own, ALL_POINTS - talon - own

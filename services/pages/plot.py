"""A plot of the chips at each seat over the deals, as points and ticks for a picture of a given size."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

POINTS_MAX = 300
DOTS_MAX: Final = {"wide": 48, "narrow": 20}
SIZES: Final = {"wide": (880, 330), "narrow": (360, 280)}
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 14, 34
_TICKS_WANTED = 5


class Standing(NamedTuple):
    """What lay at the seats after a deal, and what it paid them; deal 0 is the beginning."""

    deal: int
    balances: tuple[int, ...]
    payments: tuple[int, ...]


class Tick(NamedTuple):
    """A mark on an axis: where, in the picture, and for which number."""

    at: float
    value: int


class Dot(NamedTuple):
    """A deal that can be pointed at."""

    x: float
    y: float
    standing: Standing


class Plot(NamedTuple):
    """A picture `width` by `height`: for each seat the points of its line and its dots; ticks of both axes."""

    kind: str
    width: int
    height: int
    left: int
    right: int
    bottom: int
    lines: tuple[str, ...]
    dots: tuple[tuple[Dot, ...], ...]
    deals: tuple[Tick, ...]
    chips: tuple[Tick, ...]


def plot(standings: Sequence[Standing], kind: str) -> Plot:
    """The plot of `standings`, at least two, in the order of their deals. `kind` is one of SIZES."""
    width, height = SIZES[kind]
    left, right, bottom = _LEFT, width - _RIGHT, height - _BOTTOM
    first, last = standings[0].deal, standings[-1].deal
    all_chips = [chips for each in standings for chips in each.balances]
    chips = ticks(min(0, *all_chips), max(0, *all_chips))
    lowest, highest = chips[0], chips[-1]

    def x(deal: float) -> float:
        return round(left + (deal - first) / (last - first) * (right - left), 1)

    def y(value: float) -> float:
        return round(bottom - (value - lowest) / (highest - lowest) * (bottom - _TOP), 1)

    seats = range(len(standings[0].balances))
    shown, pointed = thinned(standings, POINTS_MAX), thinned(standings[1:], DOTS_MAX[kind])
    return Plot(
        kind, width, height, left, right, bottom,
        lines=tuple(" ".join(f"{x(each.deal)},{y(each.balances[seat])}" for each in shown) for seat in seats),
        dots=tuple(tuple(Dot(x(each.deal), y(each.balances[seat]), each) for each in pointed) for seat in seats),
        deals=tuple(Tick(x(deal), deal) for deal in ticks(first, last) if first <= deal <= last),
        chips=tuple(Tick(y(value), value) for value in chips),
    )


def ticks(lowest: int, highest: int) -> list[int]:
    """About five round numbers that reach from below `lowest` to above `highest`."""
    step = _round_step(max(1, (highest - lowest) / _TICKS_WANTED))
    start = lowest // step * step
    found = [start]
    while found[-1] < highest or len(found) < 2:
        found.append(found[-1] + step)
    return found


def _round_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is not below `least`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10


def thinned(standings: Sequence[Standing], count_max: int) -> list[Standing]:
    """At most `count_max` of them at equal distances, with the first and the last."""
    if len(standings) <= count_max:
        return list(standings)
    step = (len(standings) - 1) / (count_max - 1)
    return [standings[place] for place in _places(step, count_max)]


def _places(step: float, count: int) -> Iterable[int]:
    return (round(number * step) for number in range(count))

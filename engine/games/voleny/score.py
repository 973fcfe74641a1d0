"""The settlement of a deal: parts, sure games, cap, payments (§8)."""

from typing import NamedTuple

from engine.cards import CARDS, HEARTS, TENS_AND_ACES
from engine.game import PartResult, Result
from engine.games.voleny.rules import PARTS, SEATS, Rules
from engine.games.voleny.state import NOBODY, Bid, Contract
from engine.games.voleny.sure import takes_all_with_trumps, takes_all_without_trumps, takes_nothing
from engine.tricks import NO_TRUMP

Taken = tuple[tuple[int, tuple[int, ...]], ...]
Marriages = tuple[tuple[int, int], ...]

LAST_TRICK_POINTS = 10
WORTH = tuple(10 if TENS_AND_ACES >> card & 1 else 0 for card in range(CARDS))


class Side(NamedTuple):
    """What one side has: card points with the last trick, and its announced marriages in order."""

    points: int
    marriages: tuple[int, ...]


def settle(contract: Contract, taken: Taken, marriages: Marriages) -> Result:
    """The result of a deal that was played to its end."""
    if contract.trump == NO_TRUMP:
        declarer = defence = Side(0, ())
        rows = [_without_trumps(contract, taken)]
    else:
        declarer, defence = sides(contract, taken, marriages)
        rows = _with_trumps(contract, taken, declarer, defence)
    payments, capped = _payments(contract, rows)
    return Result(
        payments,
        True,
        capped,
        (declarer.points, defence.points),
        (declarer.marriages, defence.marriages),
        tuple(rows),
    )


def hearts_factor(bid: Bid | Contract) -> int:
    """2 when trumps are hearts and the table doubles them (§8: r)."""
    return 2 if bid.trump == HEARTS and bid.rules.hearts_double else 1


def card_points(taken: Taken, seat: int) -> tuple[int, int]:
    """The aces and tens in the tricks of `seat`, and in those of the others, ten each (§1.3)."""
    own = others = 0
    for taker, (first, second, third) in taken:
        worth = WORTH[first] + WORTH[second] + WORTH[third]
        if taker == seat:
            own += worth
        else:
            others += worth
    return own, others


def sides(contract: Contract, taken: Taken, marriages: Marriages) -> tuple[Side, Side]:
    """What the declarer and the defence have after all ten tricks."""
    own, others = card_points(taken, contract.declarer)
    if taken[-1][0] == contract.declarer:
        own += LAST_TRICK_POINTS
    else:
        others += LAST_TRICK_POINTS
    return (
        Side(own, tuple(points for seat, points in marriages if seat == contract.declarer)),
        Side(others, tuple(points for seat, points in marriages if seat != contract.declarer)),
    )


def _without_trumps(contract: Contract, taken: Taken) -> PartResult:
    """Betl or durch (§5.5, §8.8)."""
    hand, talon, rates = contract.hands[contract.declarer], contract.talon, contract.rules.rates
    takers = {taker for taker, _ in taken}
    if contract.game == "betl":
        won, sure = contract.declarer not in takers, takes_nothing(hand, talon)
        return _row(contract, "betl", won, rates.betl, sure)
    won, sure = takers == {contract.declarer}, takes_all_without_trumps(hand, talon)
    return _row(contract, "durch", won, rates.durch, sure)


def _with_trumps(contract: Contract, taken: Taken, declarer: Side, defence: Side) -> list[PartResult]:
    """The rows of a trump game, in the order of the rule book."""
    parts, declarers_seat, (sedma_proti, sto_proti) = contract.parts, contract.declarer, contract.protis
    rates, hearts = contract.rules.rates, hearts_factor(contract)
    sure = takes_all_with_trumps(contract.hands[declarers_seat], contract.talon, contract.trump)
    seven, last = _player_of_seven_in_last_trick(contract, taken), taken[-1][0]
    rows = []
    if "hra" in parts:
        rows.append(_hra(contract, declarer, defence, sure))
    if "sedma" in parts:
        won = seven == last == declarers_seat
        rows.append(_row(contract, "sedma", won, rates.sedma * hearts, sure))
    elif sedma_proti == NOBODY and seven != NOBODY:
        won = (seven == declarers_seat) == (seven == last)
        rows.append(_row(contract, "ticha_sedma", won, rates.ticha_sedma * hearts, False))
    if "sto" in parts:
        tens = _hundred(contract.rules, declarer, defence)
        rows.append(_row(contract, "sto", tens > 0, abs(tens) * rates.sto * hearts, sure))
    if sedma_proti != NOBODY:
        won = seven == last == sedma_proti
        rows.append(_row(contract, "sedma_proti", won, -rates.sedma * hearts, False))
    if sto_proti != NOBODY:
        tens = _hundred(contract.rules, defence, declarer)
        rows.append(_row(contract, "sto_proti", tens > 0, -abs(tens) * rates.sto * hearts, False))
    return rows


def _hra(contract: Contract, declarer: Side, defence: Side, sure: bool) -> PartResult:
    """Hra, or the silent sto that replaces it (§8.1, §8.2)."""
    own = declarer.points + sum(declarer.marriages)
    others = defence.points + sum(defence.marriages)
    won, most = own > others, max(own, others)
    amount = contract.rules.rates.hra * hearts_factor(contract)
    if most >= 100 and contract.protis[1] == NOBODY:
        return _row(contract, "tiche_sto", won, amount * 2 * (1 + (most - 100) // 10), sure)
    return _row(contract, "hra", won, amount, sure)


def _hundred(rules: Rules, side: Side, other: Side) -> int:
    """How many times the rate of sto a side gets for its hundred; negative when it pays (§8.5, §8.6)."""
    total = side.points + sum(side.marriages)
    if not side.marriages:
        counted = side.points
    elif rules.sto_marriage == "first":
        counted = side.points + side.marriages[0]
    else:
        counted = side.points + max(side.marriages)
    if counted >= 100:
        return 1 + (total - 100) // 10
    return -((100 - counted) // 10 + sum(other.marriages) // 10)


def _player_of_seven_in_last_trick(contract: Contract, taken: Taken) -> int:
    """Who played the trump 7 to the last trick, NOBODY when it was played before or lies in the talon."""
    cards = taken[-1][1]
    seven = 8 * contract.trump
    if seven not in cards:
        return NOBODY
    return (taken[-2][0] + cards.index(seven)) % SEATS


def _row(contract: Contract, part: str, won: bool, amount: int, sure: bool) -> PartResult:
    """A part that brings its announcer `amount` from each defender at level 0 if it is won; a loss costs him that."""
    level = 0 if part == "ticha_sedma" else contract.levels[_INDEX[part]]
    return PartResult(part, won, level, (amount if won else -amount) << level, sure)


def _payments(contract: Contract, rows: list[PartResult]) -> tuple[tuple[int, int, int], bool]:
    """Chips by seat, and whether the cap changed them (§8.9)."""
    left, right = (contract.declarer + 1) % SEATS, (contract.declarer + 2) % SEATS
    from_left = from_right = 0
    for row in rows:
        of_left, of_right = _shares(row, contract.doublers[left], contract.doublers[right])
        from_left += of_left
        from_right += of_right
    capped_left, capped_right = _clamp(from_left, contract.rules.cap), _clamp(from_right, contract.rules.cap)
    payments = [0, 0, 0]
    payments[contract.declarer] = capped_left + capped_right
    payments[left], payments[right] = -capped_left, -capped_right
    return (payments[0], payments[1], payments[2]), (capped_left, capped_right) != (from_left, from_right)


def _shares(row: PartResult, left: int, right: int) -> tuple[int, int]:
    """What each defender pays for a part: who doubled a sure one pays for both (§8.10)."""
    amount = row.per_defender
    if row.sure and row.won and row.level:
        base, bit = amount >> row.level, 1 << _INDEX[row.part]
        if not right & bit:
            return 2 * amount - base, base
        if not left & bit:
            return base, 2 * amount - base
    return amount, amount


def _clamp(net: int, cap: int) -> int:
    return max(-cap, min(cap, net)) if cap else net


_INDEX: dict[str, int] = {part: index for index, part in enumerate(PARTS)} | {"tiche_sto": 0}
"""Where the level of a part is found; a silent sto has that of hra."""

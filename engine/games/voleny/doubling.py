"""Doubling and proti: who may raise what, and when the doubling ends (§6, §5.6)."""

from functools import cache

from engine.errors import RuleViolation
from engine.game import PartResult, Result
from engine.games.voleny.commands import GOODS, TAKE_OVERS, Flek, Good, TakeOver, flek
from engine.games.voleny.events import PLAY_BEGAN, SAID_GOOD, DealScored, Doubled, Event, TurnOpened
from engine.games.voleny.rules import (
    PARTS,
    PROTIS,
    SEATS,
    SEDMA_PROTI,
    STO_PROTI,
    bits_of,
    parts_of,
)
from engine.games.voleny.score import hearts_factor
from engine.games.voleny.state import NOBODY, Doubling
from engine.marriages import holds_marriage


def say_good(deal: Doubling) -> tuple[Event, ...]:
    """The seat raises nothing."""
    return SAID_GOOD[deal.seat] + _after_word(deal, deal.said)


def double(deal: Doubling, command: Flek) -> tuple[Event, ...]:
    """The seat raises, joins or announces (§6.2, §5.6). Refused when any part of it is not open to him."""
    raises, protis = bits_of(command.raises), bits_of(command.announces)
    if not raises | protis:
        raise RuleViolation("nothing_raised")
    if shut := raises & ~deal.open:
        raise RuleViolation("part_not_open", parts=parts_of(shut))
    if full := raises & ~raisable(deal):
        raise RuleViolation("level_maximum", parts=parts_of(full))
    if barred := protis & ~announceable(deal):
        raise RuleViolation("proti_not_allowed", parts=parts_of(barred))
    doubled = Doubled(
        seat=deal.seat,
        raises=parts_of(raises & ~deal.said),
        joins=parts_of(raises & deal.said),
        announces=command.announces,
    )
    return (doubled, *_after_word(deal, deal.said | raises | protis))


def words_open(deal: Doubling) -> tuple[Good | Flek | TakeOver, ...]:
    """All that the seat may say now."""
    words = fleks(deal.seat, raisable(deal), announceable(deal))
    if may_take_over(deal):
        return (GOODS[deal.seat], *words, TAKE_OVERS[deal.seat])
    return (GOODS[deal.seat], *words)


def may_take_over(deal: Doubling) -> bool:
    """Whether the seat is answering to a betl (§4.4)."""
    return deal.bid.game == "betl" and deal.turn == 0


def raisable(deal: Doubling) -> int:
    """The open parts below the maximum, and those the partner raised in this turn, to join (§6.2)."""
    highest = deal.bid.rules.flek_levels_max
    below = sum(1 << index for index, level in enumerate(deal.levels) if level < highest)
    return deal.open & (below | deal.said)


def announceable(deal: Doubling) -> int:
    """The proti that the seat may announce in the first turn of the defence (§5.6)."""
    bid = deal.bid
    if deal.turn or bid.game != "colour":
        return 0
    hand, proti = bid.hands[deal.seat], 0
    if "sedma" not in bid.contract and hand >> 8 * bid.trump & 1:
        proti |= SEDMA_PROTI
    if (
        "sto" not in bid.contract
        and deal.protis[1] == NOBODY
        and (holds_marriage(hand) or not bid.rules.sto_proti_needs_marriage)
    ):
        proti |= STO_PROTI
    return proti


@cache
def fleks(seat: int, raisable_bits: int, announceable_bits: int) -> tuple[Flek, ...]:
    """Every flek out of these parts; fewer and earlier parts come first, and nothing before something."""
    return tuple(
        flek(seat, parts_of(raises), tuple(part for part in PROTIS if bits_of((part,)) & protis))
        for raises in _subsets(raisable_bits)
        for protis in _subsets(announceable_bits)
        if raises | protis
    )


def _subsets(bits: int) -> list[int]:
    """The subsets of `bits`, in the order of counting."""
    return [subset for subset in range(bits + 1) if subset & ~bits == 0]


def _after_word(deal: Doubling, said: int) -> tuple[Event, ...]:
    """What follows once the seat has spoken and its side has said `said` in this turn (§6.2)."""
    declarer = deal.bid.declarer
    left = (declarer + 1) % SEATS
    if deal.seat == left:
        return ()
    if said:
        other = declarer if deal.turn % 2 == 0 else left
        return (TurnOpened(seat=other, parts=parts_of(said)),)
    if deal.seat == declarer and _is_balanced(deal):
        return (DealScored(result=_balanced(deal)),)
    return PLAY_BEGAN[declarer]


def _is_balanced(deal: Doubling) -> bool:
    """Whether hra lost with one flek and sedma won without pay for each other (§6.4)."""
    rules = deal.bid.rules
    return (
        not rules.play_balanced
        and deal.bid.contract == ("hra", "sedma")
        and deal.levels == _ONE_FLEK_ON_HRA
        and deal.protis == (NOBODY, NOBODY)
        and 2 * rules.rates.hra == rules.rates.sedma
    )


def _balanced(deal: Doubling) -> Result:
    """The result of a balanced contract, which is not played (§6.4)."""
    amount = deal.bid.rules.rates.sedma * hearts_factor(deal.bid)
    return Result(
        payments=(0, 0, 0),
        played=False,
        capped=False,
        points=(0, 0),
        marriages=((), ()),
        parts=(PartResult("hra", False, 1, -amount, False), PartResult("sedma", True, 0, amount, False)),
    )


_ONE_FLEK_ON_HRA = tuple(int(part == "hra") for part in PARTS)

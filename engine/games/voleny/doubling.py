"""Doubling and proti: who may raise what, and when the doubling ends (§6, §5.6)."""

from functools import cache

from engine.errors import RuleViolation
from engine.game import PartResult, Result
from engine.games.voleny.commands import GOODS, TAKE_OVERS, Flek, Move, flek
from engine.games.voleny.events import PLAY_BEGAN, SAID_GOOD, DealScored, Event, doubled, turn_opened
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
    if full := raises and raises & ~raisable(deal):
        raise RuleViolation("level_maximum", parts=parts_of(full))
    if barred := protis and protis & ~announceable(deal):
        raise RuleViolation("proti_not_allowed", parts=parts_of(barred))
    said = deal.said
    word = doubled(deal.seat, parts_of(raises & ~said), parts_of(raises & said), command.announces)
    return word + _after_word(deal, said | raises | protis)


def words_open(deal: Doubling) -> tuple[Move, ...]:
    """All that the seat may say now: good, every flek, and to a betl the take-over."""
    return _words(deal.seat, raisable(deal), announceable(deal), may_take_over(deal))


def may_take_over(deal: Doubling) -> bool:
    """Whether the seat is answering to a betl (§4.4)."""
    return deal.turn == 0 and deal.bid.game == "betl"


def raisable(deal: Doubling) -> int:
    """The open parts below the maximum, and those the partner raised in this turn, to join (§6.2)."""
    highest = deal.bid.rules.flek_levels_max
    if max(deal.levels) < highest:
        return deal.open
    below = sum(1 << index for index, level in enumerate(deal.levels) if level < highest)
    return deal.open & (below | deal.said)


def announceable(deal: Doubling) -> int:
    """The proti that the seat may announce in the first turn of the defence (§5.6)."""
    bid = deal.bid
    if deal.turn or bid.game != "colour":
        return 0
    hand, protis = bid.hands[deal.seat], 0
    if "sedma" not in bid.parts and hand >> 8 * bid.trump & 1:
        protis |= SEDMA_PROTI
    has_marriage = holds_marriage(hand) or not bid.rules.sto_proti_needs_marriage
    if has_marriage and "sto" not in bid.parts and deal.protis[1] == NOBODY:
        protis |= STO_PROTI
    return protis


@cache
def _words(seat: int, raises: int, protis: int, take_over: bool) -> tuple[Move, ...]:
    fleks = (
        flek(seat, parts_of(raised), tuple(part for part in PROTIS if part in parts_of(announced)))
        for raised in _subsets(raises)
        for announced in _subsets(protis)
        if raised | announced
    )
    return (GOODS[seat], *fleks, *((TAKE_OVERS[seat],) if take_over else ()))


def _subsets(bits: int) -> list[int]:
    """The subsets of `bits`, in the order of counting: nothing first, later parts after earlier ones."""
    return [subset for subset in range(bits + 1) if subset & ~bits == 0]


def _after_word(deal: Doubling, said: int) -> tuple[Event, ...]:
    """What follows once the seat has spoken and its side has said `said` in this turn (§6.2)."""
    declarer = deal.bid.declarer
    left = (declarer + 1) % SEATS
    if deal.seat == left:
        return ()
    if said:
        return turn_opened(left if deal.seat == declarer else declarer, parts_of(said))
    if deal.seat == declarer and _is_balanced(deal):
        return (DealScored(result=_balanced(deal)),)
    return PLAY_BEGAN[declarer]


def _is_balanced(deal: Doubling) -> bool:
    """Whether hra lost with one flek and sedma won without pay for each other (§6.4)."""
    rules = deal.bid.rules
    return (
        deal.bid.parts == ("hra", "sedma")
        and not rules.play_balanced
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

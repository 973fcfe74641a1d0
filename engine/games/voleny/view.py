"""What a seat may know, built up field by field: what is not named here is not shown (§7.10)."""

from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple, assert_never

from engine.cards import cards_of
from engine.game import Result
from engine.games.voleny.commands import Move
from engine.games.voleny.events import (
    CardPlayed,
    Dealt,
    Discarded,
    Event,
    HandCompleted,
    TakenOver,
    TrumpChosen,
)
from engine.games.voleny.legal import legal, to_act
from engine.games.voleny.rules import PARTS, SEATS, Kind, Part, parts_of
from engine.games.voleny.score import card_points
from engine.games.voleny.state import (
    NO_CARD,
    NOBODY,
    Announcing,
    Answering,
    ChoosingTrump,
    Declaring,
    Discarding,
    Doubling,
    Levels,
    Over,
    Playing,
    State,
    Undealt,
)
from engine.tricks import NO_TRUMP

Phase = Literal["choose_trump", "discard", "declare", "answer", "announce", "doubling", "play", "over"]
Cards = tuple[tuple[int, int], ...]
"""Cards on the table: seat and card, in the order played."""


class Public(NamedTuple):
    """What everybody at the table may know."""

    phase: Phase
    dealer: int | None
    to_act: tuple[int, ...]
    declarer: int | None = None
    """Who announced the game that stands, or holds the talon now."""
    game: Kind | None = None
    trump: int | None = None
    contract: tuple[Part, ...] = ()
    protis: tuple[tuple[Part, int], ...] = ()
    """Each announced proti and who announced it."""
    levels: tuple[tuple[Part, int], ...] = ()
    open: tuple[Part, ...] = ()
    """The parts that may be raised in this turn."""
    said: tuple[Part, ...] = ()
    """What the speaking side has raised or announced in this turn."""
    trick: Cards = ()
    last_trick: tuple[Cards, int] | None = None
    tricks_taken: tuple[int, int, int] = (0, 0, 0)
    points: tuple[int, int] = (0, 0)
    marriages: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    result: Result | None = None


class Private(NamedTuple):
    """What only one seat may know; empty for a spectator."""

    seat: int | None
    hand: tuple[int, ...] = ()
    trump_card: int | None = None
    """The forehand's own, until it is turned or void."""
    legal: tuple[Move, ...] = ()


def public(deal: State) -> Public:
    """What everybody may know."""
    if isinstance(deal, Playing):  # Mostly it is.
        return _played(deal)
    match deal:
        case Undealt():
            return Public("over", None, ())
        case ChoosingTrump(dealer=dealer):
            return Public("choose_trump", dealer, to_act(deal))
        case Discarding(dealer=dealer):
            return Public("discard", dealer, to_act(deal), declarer=deal.seat)
        case Declaring(dealer=dealer):
            return Public("declare", dealer, to_act(deal), declarer=deal.seat)
        case Answering(dealer=dealer):
            return Public("answer", dealer, to_act(deal), declarer=_forehand(dealer), game="colour")
        case Announcing(dealer=dealer):
            trump = deal.trump_card >> 3
            return Public("announce", dealer, to_act(deal), declarer=deal.seat, game="colour", trump=trump)
        case Doubling():
            return _doubled(deal)
        case Over():
            return _over(deal)
        case _:
            assert_never(deal)


def private(deal: State, seat: int | None) -> Private:
    """What `seat` alone may know."""
    if seat is None or isinstance(deal, Undealt):
        return Private(seat)
    hand, trump_card = own(deal, seat)
    return Private(seat, cards_of(hand), trump_card, legal(deal) if deal.seat == seat else ())


def own(deal: State, seat: int) -> tuple[int, int | None]:
    """The cards that `seat` holds, and the trump card that it alone knows, if there is one."""
    if isinstance(deal, Playing):
        return deal.contract.hands[seat] & deal.left, None
    return _hand(deal, seat), _trump_card(deal, seat)


def shown(event: Event, seat: int | None) -> Event:
    """The event as `seat` may know it."""
    match event:
        case Dealt(deck=deck, dealer=dealer):
            hand = None if seat is None or deck is None else _dealt_to(deck, (seat - _forehand(dealer)) % SEATS)
            return replace(event, deck=None, hand=hand)
        case TrumpChosen(seat=actor) if actor != seat:
            return replace(event, card=None)
        case HandCompleted(seat=actor) | Discarded(seat=actor) | TakenOver(seat=actor) if actor != seat:
            return replace(event, cards=None)
        case CardPlayed(seat=actor, marriage=False) if actor != seat:
            return replace(event, marriage=None)
        case _:
            return event


def _forehand(dealer: int) -> int:
    return (dealer + 1) % SEATS


def _dealt_to(deck: tuple[int, ...], place: int) -> tuple[int, ...]:
    """What is seen at once, from the forehand's place on (§2.3)."""
    return (deck[:7], deck[7:12] + deck[22:27], deck[12:17] + deck[27:])[place]


def _doubled(deal: Doubling) -> Public:
    bid = deal.bid
    answering = bid.game == "betl" and deal.turn == 0
    return Public(
        "answer" if answering else "doubling",
        bid.dealer,
        to_act(deal),
        declarer=bid.declarer,
        game=bid.game,
        trump=_trump(bid.trump),
        contract=bid.parts,
        protis=_protis(deal.protis),
        levels=_levels(bid.parts, deal.levels, deal.protis),
        open=parts_of(deal.open),
        said=parts_of(deal.said),
    )


def _played(deal: Playing) -> Public:
    contract, taken = deal.contract, deal.taken
    leader = taken[-1][0] if taken else contract.lead
    takers = [taker for taker, _ in taken]
    return Public(
        "play",
        contract.dealer,
        to_act(deal),
        declarer=contract.declarer,
        game=contract.game,
        trump=_trump(contract.trump),
        contract=contract.parts,
        protis=_protis(contract.protis),
        levels=_levels(contract.parts, contract.levels, contract.protis),
        trick=_on_table(leader, deal.trick.cards),
        last_trick=_last_trick(deal),
        tricks_taken=(takers.count(0), takers.count(1), takers.count(2)),
        points=(0, 0) if contract.trump == NO_TRUMP else card_points(taken, contract.declarer),
        marriages=(
            tuple(points for seat, points in deal.marriages if seat == contract.declarer),
            tuple(points for seat, points in deal.marriages if seat != contract.declarer),
        ),
    )


def _over(deal: Over) -> Public:
    result = deal.result
    ended = _played(deal.ended) if isinstance(deal.ended, Playing) else _doubled(deal.ended)
    return ended._replace(
        phase="over",
        to_act=(),
        open=(),
        said=(),
        points=result.points,
        marriages=result.marriages,
        result=result,
    )


def _trump(trump: int) -> int | None:
    return None if trump == NO_TRUMP else trump


# The same few values come again at every card of a deal, so they are kept.
@lru_cache(maxsize=1024)
def _protis(protis: tuple[int, int]) -> tuple[tuple[Part, int], ...]:
    sedma, sto = protis
    announced: list[tuple[Part, int]] = [("sedma_proti", sedma), ("sto_proti", sto)]
    return tuple((part, seat) for part, seat in announced if seat != NOBODY)


@lru_cache(maxsize=1024)
def _levels(parts: tuple[Part, ...], levels: Levels, protis: tuple[int, int]) -> tuple[tuple[Part, int], ...]:
    announced = {*parts, *(part for part, _ in _protis(protis))}
    return tuple((part, level) for part, level in zip(PARTS, levels, strict=True) if part in announced)


@lru_cache(maxsize=4096)
def _on_table(leader: int, cards: tuple[int, ...]) -> Cards:
    return tuple(((leader + place) % SEATS, card) for place, card in enumerate(cards))


def _last_trick(deal: Playing) -> tuple[Cards, int] | None:
    if not deal.taken:
        return None
    leader = deal.taken[-2][0] if len(deal.taken) > 1 else deal.contract.lead
    taker, cards = deal.taken[-1]
    return _on_table(leader, cards), taker


def _hand(deal: State, seat: int) -> int:
    match deal:
        case Undealt():
            return 0
        case Over(ended=ended):
            return _hand(ended, seat)
        case Playing():
            return deal.contract.hands[seat] & deal.left
        case Doubling():
            return deal.bid.hands[seat]
        case _:
            return deal.hands[seat]


def _trump_card(deal: State, seat: int) -> int | None:
    match deal:
        case Discarding() | Declaring() | Answering():
            own = seat == _forehand(deal.dealer) and deal.trump_card != NO_CARD
            return deal.trump_card if own else None
        case _:
            return None

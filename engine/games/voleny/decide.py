"""Every rule of a deal: which commands the state allows and what they cause."""

from typing import TypeVar, assert_never

from engine.cards import ALL_CARDS, CARDS, SUIT_MASKS, TENS_AND_ACES, cards_of, mask_of
from engine.errors import RuleViolation
from engine.games.voleny.commands import (
    Announce,
    ChooseTrump,
    Claim,
    Command,
    Deal,
    Declare,
    Discard,
    Flek,
    Good,
    Move,
    PlayCard,
    TakeOver,
)
from engine.games.voleny.doubling import double, may_take_over, say_good
from engine.games.voleny.events import (
    SAID_GOOD,
    Dealt,
    Event,
    HandCompleted,
    TakenOver,
    TrumpTurned,
    announced,
    declared,
    discarded,
    trump_chosen,
)
from engine.games.voleny.playing import play_card
from engine.games.voleny.rules import KINDS, SEATS, Kind, Part
from engine.games.voleny.state import (
    Announcing,
    Answering,
    ChoosingTrump,
    Declaring,
    Discarding,
    Doubling,
    Over,
    Playing,
    State,
    Undealt,
)
from engine.marriages import holds_marriage

Phase = TypeVar("Phase")


def decide(deal: State, command: Command) -> tuple[Event, ...]:
    """The events `command` causes. Raises RuleViolation when the rules forbid it."""
    if isinstance(command, PlayCard) and isinstance(deal, Playing):
        return play_card(deal, command)
    if isinstance(command, Deal):
        return _deal(_in(Undealt, deal), command)
    return _move(deal, command)


def colour_is_closed(deal: Declaring) -> bool:
    """Whether the discard bars the colour game (§3.4)."""
    barred = TENS_AND_ACES
    if deal.rules.forbid_trump_in_talon:
        barred |= SUIT_MASKS[deal.trump_card >> 3]
    return bool(deal.talon & barred)


def kinds_open(deal: Declaring) -> tuple[Kind, ...]:
    """The games that may be declared (§3.4, §4.1, §4.3)."""
    if deal.beaten is None:
        return KINDS[1:] if colour_is_closed(deal) else KINDS
    return KINDS[KINDS.index(deal.beaten) + 1 :]


def contracts_open(hand: int, trump: int) -> tuple[tuple[Part, ...], ...]:
    """The contracts that `hand` may announce (§5.1)."""
    seven = hand >> 8 * trump & 1
    hundred = holds_marriage(hand)
    contracts: list[tuple[Part, ...]] = [("hra",)]
    if seven:
        contracts.append(("hra", "sedma"))
    if hundred:
        contracts.append(("sto",))
    if seven and hundred:
        contracts.append(("sto", "sedma"))
    return tuple(contracts)


def _move(deal: State, command: Move) -> tuple[Event, ...]:
    if command.seat != deal.seat:
        raise RuleViolation("deal_over" if isinstance(deal, Over) else "not_your_turn")
    match command:
        case Good():
            return _good(deal)
        case Flek():
            return double(_in(Doubling, deal), command)
        case ChooseTrump():
            return _choose_trump(_in(ChoosingTrump, deal), command)
        case Discard():
            return _discard(_in(Discarding, deal), command)
        case Declare():
            return _declare(_in(Declaring, deal), command)
        case TakeOver():
            return _take_over(deal)
        case Announce():
            return _announce(_in(Announcing, deal), command)
        case PlayCard():
            raise RuleViolation("wrong_phase")
        case Claim():
            raise _claim_refused(deal)
        case _:
            assert_never(command)


def _claim_refused(deal: State) -> RuleViolation:
    """Until claims can be judged none is certain (§9.1)."""
    return RuleViolation("claim_not_certain" if isinstance(deal, Playing) else "wrong_phase")


def _in(phase: type[Phase], deal: object) -> Phase:
    if not isinstance(deal, phase):
        raise RuleViolation("wrong_phase")
    return deal


def _deal(deal: Undealt, command: Deal) -> tuple[Event, ...]:
    assert len(command.deck) == CARDS, "a deck has 32 cards"
    assert mask_of(command.deck) == ALL_CARDS, "the cards of a deck are different"
    assert command.dealer in range(SEATS)
    return (Dealt(rules=command.rules, dealer=command.dealer, deck=command.deck),)


def _choose_trump(deal: ChoosingTrump, command: ChooseTrump) -> tuple[Event, ...]:
    """The trump card, from the seven or blind from the five, and then all twelve in hand (§3.1)."""
    if command.blind is not None:
        if not deal.rules.allow_blind:
            raise RuleViolation("blind_not_allowed")
        card = deal.five[command.blind]
    else:
        assert command.card is not None, "a choice of trumps names a card or a place"
        card = command.card
        _must_hold(deal.hands[deal.seat], 1 << card)
    return (trump_chosen(deal.seat, card, command.blind), HandCompleted(seat=deal.seat, cards=deal.five))


def _must_hold(hand: int, cards: int) -> None:
    if missing := cards & ~hand:
        raise RuleViolation("card_not_held", cards=cards_of(missing))


def _discard(deal: Discarding, command: Discard) -> tuple[Event, ...]:
    cards = mask_of(command.cards)
    _must_hold(deal.hands[deal.seat], cards)
    if deal.beaten is None and cards >> deal.trump_card & 1:
        raise RuleViolation("trump_card_in_talon")
    return discarded(deal.seat, command.cards)


def _declare(deal: Declaring, command: Declare) -> tuple[Event, ...]:
    if command.game not in kinds_open(deal):
        raise RuleViolation("colour_closed" if deal.beaten is None else "game_too_low")
    return declared(deal.seat, command.game)


def _good(deal: State) -> tuple[Event, ...]:
    match deal:
        case Answering(seat=seat):
            if seat == deal.dealer:
                return (*SAID_GOOD[seat], TrumpTurned(card=deal.trump_card))
            return SAID_GOOD[seat]
        case Doubling():
            return say_good(deal)
        case _:
            raise RuleViolation("wrong_phase")


def _take_over(deal: State) -> tuple[Event, ...]:
    match deal:
        case Answering():
            talon = deal.talon
        case Doubling() if may_take_over(deal):
            talon = deal.bid.talon
        case _:
            raise RuleViolation("wrong_phase")
    return (TakenOver(seat=deal.seat, cards=cards_of(talon)),)


def _announce(deal: Announcing, command: Announce) -> tuple[Event, ...]:
    if command.contract not in contracts_open(deal.hands[deal.seat], deal.trump_card >> 3):
        raise RuleViolation("contract_not_allowed")
    return announced(deal.seat, command.contract)

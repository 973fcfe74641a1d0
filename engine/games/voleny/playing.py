"""Playing cards: what may be played, marriages, who takes the trick, when the deal ends (§7)."""

from engine.cards import cards_of
from engine.errors import RuleViolation
from engine.games.voleny.commands import PLAYS, PlayCard, play
from engine.games.voleny.events import PLAYED, TAKEN, DealScored, Event, played
from engine.games.voleny.rules import SEATS
from engine.games.voleny.score import settle
from engine.games.voleny.state import Playing
from engine.marriages import MATES, marriage_points
from engine.tricks import NO_TRUMP, playable

TRICKS = 10


def cards_open(deal: Playing) -> int:
    """The cards that the seat to act may play (§7.1-§7.6)."""
    contract = deal.contract
    cards = playable(contract.bid.hands[deal.seat] & deal.left, deal.trick)
    if deal.seat == contract.locked_seat:
        return cards & ~(1 << 8 * contract.bid.trump) or cards
    return cards


def plays_open(deal: Playing) -> tuple[PlayCard, ...]:
    """Every play open to the seat, by card; where a word is asked, first with yes and then with no (§7.8)."""
    seat, contract, left, *_ = deal
    cards = cards_open(deal)
    if contract.words[seat]:
        return _plays_with_words(seat, cards, contract.bid.hands[seat] & left)
    hearts, bells, acorns, leaves = _PLAYS_OF_BYTE[seat]
    return hearts[cards & 255] + bells[cards >> 8 & 255] + acorns[cards >> 16 & 255] + leaves[cards >> 24]


def play_card(deal: Playing, command: PlayCard) -> tuple[Event, ...]:
    """The card, and what it brings about: the trick taken, the deal settled."""
    seat, contract, left, trick, taken, marriages = deal
    card = command.card
    hand = contract.bid.hands[seat] & left
    if not cards_open(deal) >> card & 1:
        raise _refusal(deal, hand, card)
    marriage: int | None = None
    events: tuple[Event, ...]
    if hand & MATES[card] and contract.bid.trump != NO_TRUMP:
        marriage = _marriage(deal, command)
        events = (played(seat, card, command.marriage, marriage),)
    elif command.marriage is not None:
        raise RuleViolation("marriage_word_not_asked")
    else:
        events = PLAYED[seat][card]
    if len(trick.cards) < 2:
        return events
    taker = (seat + 1 + trick.top_with(card)) % SEATS
    events += TAKEN[taker]
    if len(taken) < TRICKS - 1 and not _is_decided(deal, taker):
        return events
    all_taken = (*taken, (taker, (*trick.cards, card)))
    if marriage:
        marriages = (*marriages, (seat, marriage))
    return (*events, DealScored(result=settle(contract, all_taken, marriages)))


def _plays_with_words(seat: int, cards: int, hand: int) -> tuple[PlayCard, ...]:
    plays: list[PlayCard] = []
    for card in cards_of(cards):
        if hand & MATES[card]:
            plays += (play(seat, card, True), play(seat, card, False))
        else:
            plays.append(play(seat, card))
    return tuple(plays)


def _marriage(deal: Playing, command: PlayCard) -> int | None:
    """What the marriage is worth that this card announces; None when the player withholds it (§7.8)."""
    if deal.contract.words[deal.seat]:
        if command.marriage is None:
            raise RuleViolation("marriage_word_required")
        if not command.marriage:
            return None
    elif command.marriage is not None:
        raise RuleViolation("marriage_word_not_asked")
    return marriage_points(command.card, deal.contract.bid.trump)


def _is_decided(deal: Playing, taker: int) -> bool:
    """Betl ends at the declarer's first trick, durch at his first lost one (§7.9)."""
    bid = deal.contract.bid
    if bid.trump != NO_TRUMP:
        return False
    return (taker == bid.declarer) == (bid.game == "betl")


def _refusal(deal: Playing, hand: int, card: int) -> RuleViolation:
    if not hand >> card & 1:
        return RuleViolation("card_not_held", cards=(card,))
    legal = cards_of(cards_open(deal))
    contract = deal.contract
    if deal.seat == contract.locked_seat and card == 8 * contract.bid.trump:
        return RuleViolation("seven_locked", legal=legal)
    return RuleViolation("illegal_card", legal=legal)


_PLAYS_OF_BYTE = tuple(
    tuple(
        tuple(tuple(PLAYS[seat][8 * suit + rank] for rank in range(8) if byte >> rank & 1) for byte in range(256))
        for suit in range(4)
    )
    for seat in range(SEATS)
)

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
    seat, contract, left, trick, _, _ = deal
    return playable(contract.hands[seat] & left, trick, contract.locked[seat])


def plays_open(deal: Playing) -> tuple[PlayCard, ...]:
    """Every play open to the seat, by card; where a word is asked, first with yes and then with no (§7.8)."""
    seat, contract, left, trick, _, _ = deal
    hand = contract.hands[seat] & left
    cards = playable(hand, trick, contract.locked[seat])
    if contract.words[seat]:
        return _plays_with_words(seat, cards, hand)
    plays = _PLAYS_OF_SUIT[seat]
    if one_suit := plays.get(cards):
        return one_suit
    return plays[cards & 0xFF] + plays[cards & 0xFF00] + plays[cards & 0xFF0000] + plays[cards & 0xFF000000]


def play_card(deal: Playing, command: PlayCard) -> tuple[Event, ...]:
    """The card, and what it brings about: the trick taken, the deal settled."""
    seat, contract, left, trick, taken, marriages = deal
    if command.seat != seat:
        raise RuleViolation("not_your_turn")
    card, hand = command.card, contract.hands[seat] & left
    if not playable(hand, trick, contract.locked[seat]) >> card & 1:
        raise _refusal(deal, card)
    events: tuple[Event, ...] = PLAYED[seat][card]
    mate = MATES[card]
    if mate and hand & mate and contract.trump != NO_TRUMP:
        points = _marriage(deal, command)
        if points is not None:
            marriages = (*marriages, (seat, points))
        events = played(seat, card, command.marriage, points)
    elif command.marriage is not None:
        raise RuleViolation("marriage_word_not_asked")
    if len(trick.cards) < 2:
        return events
    taker = (seat + 1 + trick.top_with(card)) % SEATS
    if len(taken) < TRICKS - 1 and (contract.trump != NO_TRUMP or _goes_on(deal, taker)):
        return events + TAKEN[taker]
    result = settle(contract, (*taken, (taker, (*trick.cards, card))), marriages)
    return (*events, *TAKEN[taker], DealScored(result=result))


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
    return marriage_points(command.card, deal.contract.trump)


def _goes_on(deal: Playing, taker: int) -> bool:
    """Whether a betl has no trick of the declarer yet, a durch none of the defence (§7.9)."""
    contract = deal.contract
    return (taker == contract.declarer) == (contract.game == "durch")


def _refusal(deal: Playing, card: int) -> RuleViolation:
    seat, contract, left, trick, _, _ = deal
    hand = contract.hands[seat] & left
    if not hand >> card & 1:
        return RuleViolation("card_not_held", cards=(card,))
    only_locked = playable(hand, trick) >> card & 1
    return RuleViolation("seven_locked" if only_locked else "illegal_card", legal=cards_of(cards_open(deal)))


_PLAYS_OF_SUIT = tuple(
    {
        ranks << 8 * suit: tuple(PLAYS[seat][8 * suit + rank] for rank in range(8) if ranks >> rank & 1)
        for suit in range(4)
        for ranks in range(256)
    }
    for seat in range(SEATS)
)
"""For each seat, and each set of cards of one suit, the commands to play one of them."""

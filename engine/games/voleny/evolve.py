"""What an event makes of a deal. No rule lives here: an event is trusted."""

from operator import add
from typing import TypeVar, assert_never

from engine.cards import mask_of
from engine.games.voleny.events import (
    CardPlayed,
    ContractAnnounced,
    DealScored,
    Dealt,
    Discarded,
    Doubled,
    Event,
    GameDeclared,
    HandCompleted,
    PlayBegan,
    SaidGood,
    TakenOver,
    TrickTaken,
    TrumpChosen,
    TrumpTurned,
    TurnOpened,
)
from engine.games.voleny.rules import PARTS, SEDMA_PROTI, STO_PROTI, bits_of
from engine.games.voleny.state import (
    NO_CARD,
    NOBODY,
    Announcing,
    Answering,
    Bid,
    ChoosingTrump,
    Contract,
    Declaring,
    Discarding,
    Doubling,
    Hands,
    Over,
    Playing,
    State,
)
from engine.tricks import NO_TRUMP, empty_trick

Phase = TypeVar("Phase")

_NEXT = (1, 2, 0)

# A named tuple's own constructor takes twice as long; a card is played thirty times in a deal.
_new = tuple.__new__

_UNRAISED = (0,) * len(PARTS)


def evolve(deal: State, event: Event) -> State:
    """The state after `event`."""
    if isinstance(deal, Playing):
        if isinstance(event, CardPlayed):
            return _card_played(deal, event)
        if isinstance(event, TrickTaken):
            return _trick_taken(deal, event)
    match event:
        case CardPlayed() | TrickTaken():
            raise AssertionError("no cards are being played")
        case SaidGood():
            return _said_good(deal)
        case Doubled():
            return _doubled(deal, event)
        case TurnOpened():
            return _turn_opened(deal, event)
        case PlayBegan():
            return _play_began(deal, event)
        case DealScored():
            assert isinstance(deal, Doubling | Playing)
            return Over(NOBODY, deal, event.result)
        case _:
            return _before_doubling(deal, event)


def _before_doubling(
    deal: State,
    event: Dealt | TrumpChosen | HandCompleted | Discarded | GameDeclared | TakenOver | TrumpTurned | ContractAnnounced,
) -> State:
    match event:
        case Dealt():
            return _dealt(event)
        case TrumpChosen():
            return _trump_chosen(deal, event)
        case HandCompleted():
            return _hand_completed(deal, event)
        case Discarded():
            return _discarded(deal, event)
        case GameDeclared():
            return _game_declared(deal, event)
        case TakenOver():
            return _taken_over(deal, event)
        case TrumpTurned():
            return Announcing(*_in(Answering, deal))
        case ContractAnnounced():
            return _contract_announced(deal, event)
        case _:
            assert_never(event)


def _in(phase: type[Phase], deal: object) -> Phase:
    assert isinstance(deal, phase), f"the event does not fit {type(deal).__name__}"
    return deal


def _card_played(deal: Playing, event: CardPlayed) -> Playing:
    seat, contract, left, trick, taken, marriages = deal
    card = event.card
    if event.marriage_points is not None:
        marriages = (*marriages, (seat, event.marriage_points))
    grown = trick.after[card] if trick.after else trick.closed(card)
    return _new(Playing, (_NEXT[seat], contract, left ^ 1 << card, grown, taken, marriages))


def _trick_taken(deal: Playing, event: TrickTaken) -> Playing:
    _, contract, left, trick, taken, marriages = deal
    taker = event.seat
    return _new(Playing, (taker, contract, left, contract.no_cards, (*taken, (taker, trick.cards)), marriages))


def _dealt(event: Dealt) -> ChoosingTrump:
    """Packets of 7-5-5-5-5-5 from the forehand (§2.2); his second five stay apart until he has chosen (§2.3)."""
    deck = event.deck
    assert deck is not None
    forehand = _NEXT[event.dealer]
    packets = (mask_of(deck[:7]), mask_of(deck[7:12] + deck[22:27]), mask_of(deck[12:17] + deck[27:]))
    hands = (packets[-forehand % 3], packets[(1 - forehand) % 3], packets[(2 - forehand) % 3])
    return ChoosingTrump(forehand, event.rules, event.dealer, hands, deck[17:22])


def _with(by_seat: Hands, seat: int, value: int) -> Hands:
    """The same for the other seats, `value` for this one."""
    first, second, third = by_seat
    if seat == 0:
        return (value, second, third)
    return (first, value, third) if seat == 1 else (first, second, value)


def _trump_chosen(deal: State, event: TrumpChosen) -> Discarding:
    choosing = _in(ChoosingTrump, deal)
    assert event.card is not None
    return Discarding(choosing.seat, choosing.rules, choosing.dealer, choosing.hands, event.card, None)


def _hand_completed(deal: State, event: HandCompleted) -> Discarding:
    seat, rules, dealer, hands, trump_card, beaten = _in(Discarding, deal)
    assert event.cards is not None
    completed = _with(hands, seat, hands[seat] | mask_of(event.cards))
    return Discarding(seat, rules, dealer, completed, trump_card, beaten)


def _discarded(deal: State, event: Discarded) -> Declaring:
    seat, rules, dealer, hands, trump_card, beaten = _in(Discarding, deal)
    assert event.cards is not None
    talon = mask_of(event.cards)
    kept = _with(hands, seat, hands[seat] & ~talon)
    return Declaring(seat, rules, dealer, kept, trump_card, beaten, talon)


def _game_declared(deal: State, event: GameDeclared) -> Answering | Doubling:
    seat, rules, dealer, hands, trump_card, _, talon = _in(Declaring, deal)
    if event.game == "colour":
        return Answering(_NEXT[seat], rules, dealer, hands, trump_card, talon)
    return _doubling(Bid(rules, dealer, seat, event.game, NO_TRUMP, (event.game,), hands, talon))


def _contract_announced(deal: State, event: ContractAnnounced) -> Doubling:
    seat, rules, dealer, hands, trump_card, talon = _in(Announcing, deal)
    return _doubling(Bid(rules, dealer, seat, "colour", trump_card >> 3, event.contract, hands, talon))


def _doubling(bid: Bid) -> Doubling:
    """The first turn of the defence, from the declarer's left (§6.2)."""
    return Doubling(_NEXT[bid.declarer], bid, 0, bits_of(bid.parts), 0, _UNRAISED, (0, 0, 0), (NOBODY, NOBODY))


def _taken_over(deal: State, event: TakenOver) -> Discarding:
    """The taker holds twelve; trumps and whatever was said about a betl are void (§4.1, §4.4)."""
    assert event.cards is not None
    talon, taker = mask_of(event.cards), event.seat
    match deal:
        case Answering(_, rules, dealer, hands):
            held = _with(hands, taker, hands[taker] | talon)
            return Discarding(taker, rules, dealer, held, NO_CARD, "colour")
        case _:
            bid = _in(Doubling, deal).bid
            held = _with(bid.hands, taker, bid.hands[taker] | talon)
            return Discarding(taker, bid.rules, bid.dealer, held, NO_CARD, "betl")


def _said_good(deal: State) -> Answering | Doubling:
    if isinstance(deal, Answering):
        return deal._replace(seat=_NEXT[deal.seat])
    seat, bid, turn, open_parts, said, levels, doublers, protis = _in(Doubling, deal)
    return Doubling(_NEXT[seat], bid, turn, open_parts, said, levels, doublers, protis)


def _doubled(deal: State, event: Doubled) -> Doubling:
    seat, bid, turn, open_parts, said, levels, doublers, protis = _in(Doubling, deal)
    raised, announced = bits_of(event.raises), bits_of(event.announces)
    if raised:
        levels = tuple(map(add, levels, _ONE_MORE[raised]))
    doublers = _with(doublers, seat, doublers[seat] | raised | bits_of(event.joins))
    if announced:
        sedma, sto = protis
        protis = (seat if announced & SEDMA_PROTI else sedma, seat if announced & STO_PROTI else sto)
    return Doubling(_NEXT[seat], bid, turn, open_parts, said | raised | announced, levels, doublers, protis)


def _turn_opened(deal: State, event: TurnOpened) -> Doubling:
    _, bid, turn, _, _, levels, doublers, protis = _in(Doubling, deal)
    return Doubling(event.seat, bid, turn + 1, bits_of(event.parts), 0, levels, doublers, protis)


def _play_began(deal: State, event: PlayBegan) -> Playing:
    _, bid, _, _, _, levels, doublers, protis = _in(Doubling, deal)
    hands, trump, parts = bid.hands, bid.trump, bid.parts
    locked = words = (0, 0, 0)
    if (announcer := bid.declarer if "sedma" in parts else protis[0]) != NOBODY:
        locked = _with(locked, announcer, 1 << 8 * trump)
    if protis[1] != NOBODY:
        words = (1, 1, 1)
    words = _with(words, bid.declarer, int("sto" in parts))
    no_cards = empty_trick(trump)
    contract = Contract(*bid, levels, doublers, protis, event.seat, locked, words, no_cards)
    return Playing(event.seat, contract, hands[0] | hands[1] | hands[2], no_cards, (), ())


_ONE_MORE = tuple(tuple(bits >> index & 1 for index in range(len(PARTS))) for bits in range(1 << len(PARTS)))
"""What a raise of these parts adds to the levels."""

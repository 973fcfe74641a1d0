"""What the contract needs to know of volený: how deals begin, every conceivable move, where the cards are."""

from dataclasses import replace
from itertools import chain, combinations

from hypothesis import strategies as st

from engine.cards import ALL_CARDS, CARDS, cards_of, mask_of
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import (
    Announce,
    ChooseTrump,
    Claim,
    Deal,
    Declare,
    Discard,
    Flek,
    Good,
    PlayCard,
    TakeOver,
)
from engine.games.voleny.events import CardPlayed, Dealt, Discarded, HandCompleted, TakenOver, TrumpChosen
from engine.games.voleny.rules import CONTRACT, KINDS, PARTS, PROTIS, SEATS, Rates, Rules
from engine.games.voleny.state import (
    NO_CARD,
    Announcing,
    Answering,
    ChoosingTrump,
    Declaring,
    Discarding,
    Doubling,
    Over,
    Playing,
    Undealt,
)

CHIPS = st.integers(0, 40)
RULES = st.builds(
    Rules,
    allow_blind=st.booleans(),
    forbid_trump_in_talon=st.booleans(),
    sto_marriage=st.sampled_from(["first", "highest"]),
    sto_proti_needs_marriage=st.booleans(),
    flek_levels_max=st.integers(0, 6),
    hearts_double=st.booleans(),
    cap=st.sampled_from([0, 5, 500]),
    play_balanced=st.booleans(),
    rates=st.builds(Rates, hra=CHIPS, sedma=CHIPS, ticha_sedma=CHIPS, sto=CHIPS, betl=CHIPS, durch=CHIPS)
    | st.just(Rates()),
)
"""House rules of every kind."""


def begun(rules, chance):
    """The command that deals a shuffled deck."""
    return Deal(rules=rules, dealer=chance.randrange(SEATS), deck=tuple(chance.sample(range(CARDS), CARDS)))


def chosen(state, moves, modest, chance):
    """Any legal move; until the contract stands mostly the modest one, else most deals would be a durch."""
    if isinstance(state, Discarding | Declaring | Answering) and chance.random() < 0.75:
        return modest
    return chance.choice(moves)


def played_out(rules, chance):
    """The events of a whole deal."""
    events = list(VOLENY.decide(VOLENY.initial, begun(rules, chance)))
    state = VOLENY.fold(events)
    while VOLENY.to_act(state):
        caused = VOLENY.decide(state, chosen(state, VOLENY.legal(state), VOLENY.modest(state), chance))
        state, events = VOLENY.fold(caused, state), [*events, *caused]
    return events


def conceivable(seat):
    """Every move of the right shape that a seat could send."""
    return chain(
        (ChooseTrump(seat=seat, card=card) for card in range(CARDS)),
        (ChooseTrump(seat=seat, blind=place) for place in range(5)),
        (Discard(seat=seat, cards=pair) for pair in combinations(range(CARDS), 2)),
        (Declare(seat=seat, game=game) for game in KINDS),
        (Good(seat=seat), TakeOver(seat=seat), Claim(seat=seat)),
        (Announce(seat=seat, contract=contract) for contract in _subsets(CONTRACT)),
        (
            Flek(seat=seat, raises=raises, announces=announces)
            for raises in _subsets(PARTS)
            for announces in _subsets(PROTIS)
        ),
        (PlayCard(seat=seat, card=card, marriage=word) for card in range(CARDS) for word in (None, True, False)),
    )


def _subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def places(state):
    """The masks of all places where a card can be; together they are the pack, and no card is in two of them."""
    match state:
        case Undealt():
            return (ALL_CARDS,)
        case ChoosingTrump():
            return (*state.hands, mask_of(state.five))
        case Discarding():
            return state.hands
        case Doubling():
            return (*state.bid.hands, state.bid.talon)
        case Playing():
            played = (mask_of(state.trick.cards), *(mask_of(cards) for _, cards in state.taken))
            hands = tuple(hand & state.left for hand in state.contract.hands)
            return (*hands, state.contract.talon, *played)
        case Over():
            return places(state.ended)
        case _:
            return (*state.hands, state.talon)


def unseen(state, seat):
    """The cards whose places `seat` cannot know; a spectator is None. A talon is known to who laid it away,
    a trump card to all once it is turned."""
    own = set() if seat is None else {*cards_of(_held(state, seat))}
    if seat is not None and _laid_away_by(state) == seat:
        own |= {*cards_of(_talon(state))}
    hidden = set().union(*(cards_of(hand) for hand in _hands(state)), cards_of(_talon(state)))
    if isinstance(state, ChoosingTrump):
        hidden |= {*state.five}
    if isinstance(state, Announcing):
        own |= {state.trump_card}
    return sorted(hidden - own)


def exchanged(state, seat, swap):
    """The state in which the unseen cards have changed places by `swap`, a mapping of cards."""
    own = 0 if seat is None else mask_of(set(cards_of(_held(state, seat))))

    def moved(mask):
        return mask_of(swap.get(card, card) for card in cards_of(mask))

    def hands_of(hands, left=ALL_CARDS):
        return tuple(hand if place == seat else hand & ~left | moved(hand & left) for place, hand in enumerate(hands))

    assert moved(own) == own
    match state:
        case ChoosingTrump():
            five = tuple(swap.get(card, card) for card in state.five)
            return state._replace(hands=hands_of(state.hands), five=five)
        case Doubling():
            bid = state.bid
            return state._replace(bid=bid._replace(hands=hands_of(bid.hands), talon=moved(bid.talon)))
        case Playing():
            was = state.contract
            now = was._replace(hands=hands_of(was.hands, state.left), talon=moved(was.talon))
            left = mask_of(
                card
                for place, hand in enumerate(now.hands)
                for card in cards_of(hand & ~(was.hands[place] & ~state.left))
            )
            return state._replace(contract=now, left=left)
        case _:
            changed = {"hands": hands_of(state.hands)}
            if state.trump_card != NO_CARD:
                changed["trump_card"] = swap.get(state.trump_card, state.trump_card)
            if not isinstance(state, Discarding):
                changed["talon"] = moved(state.talon)
            return state._replace(**changed)


def without_secrets(event, seat):
    """What another seat, or a spectator, may know of an event, spelled out once more and independently."""
    match event:
        case Dealt():
            return replace(event, deck=None)
        case TrumpChosen():
            return replace(event, card=None)
        case HandCompleted() | Discarded() | TakenOver():
            return replace(event, cards=None)
        case CardPlayed(marriage=False):
            return replace(event, marriage=None)
        case _:
            return event


def _hands(state):
    match state:
        case Doubling():
            return state.bid.hands
        case Playing():
            return tuple(hand & state.left for hand in state.contract.hands)
        case _:
            return state.hands


def _held(state, seat):
    return _hands(state)[seat]


def _talon(state):
    match state:
        case ChoosingTrump() | Discarding():
            return 0
        case Doubling():
            return state.bid.talon
        case Playing():
            return state.contract.talon
        case _:
            return state.talon


def _laid_away_by(state):
    """Who laid away the present talon: the forehand, or who took the game over."""
    match state:
        case ChoosingTrump() | Discarding():
            return None
        case Doubling():
            return state.bid.declarer
        case Playing():
            return state.contract.declarer
        case Declaring():
            return state.seat
        case _:
            return (state.dealer + 1) % SEATS

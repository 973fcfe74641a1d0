"""Commitments and openings of a deal as its moves call for them (`engine/FAIRNESS.md`); they decide nothing."""

from collections.abc import Iterable, Sequence

from engine.cards import cards_of
from engine.fairness import commitments
from engine.fairness.commitments import TALON
from engine.games.voleny.events import CardPlayed, Dealt, Discarded, HandCompleted, TakenOver, TrumpTurned
from engine.games.voleny.state import Announcing, Declaring
from engine.table.events import CardOpened, Event, HandsCommitted, LeavesOpened, OfTable, TalonOpened
from engine.table.play import GAMES
from engine.table.state import SEATS, Secret, Table


def salts_of_round(seed: bytes, number: int) -> tuple[tuple[bytes, ...], ...]:
    """By seat, the salts of its tokens in round `number`, by card, and of a talon that it lays away."""
    return tuple(commitments.round_salts(commitments.seat_key(seed, seat), number) for seat in range(SEATS))


def opened_by(table: Table, events: Sequence[Event]) -> tuple[Event, ...]:
    """What `events`, which made `table`, commit to and open. Nothing in a deal that was never committed to."""
    secret, fairness = table.secret, table.session.fairness
    if secret is None or fairness is None:
        return ()
    if secret.salts:
        event = events[-1] if len(events) == 1 else next((each for each in events if type(each) is CardPlayed), None)
        if type(event) is CardPlayed:
            return (_card_opened(secret, event.seat, event.card),)
    elif not fairness.is_watched:
        return tuple([
            _hands_committed(table, secret, event.seat, told=False) for event in events if type(event) is Discarded
        ])
    found: list[Event] = []
    for event in events:
        if not isinstance(event, OfTable):
            found += _opened(table, secret, event)
    return tuple(found)


def _opened(table: Table, secret: Secret, event: Event) -> Iterable[Event]:
    match event:
        case Discarded(seat=seat):
            return (_hands_committed(table, secret, seat, told=True),)
        case Dealt():
            return [_first_leaves(secret, event, seat) for seat in range(SEATS)]
        case HandCompleted(seat=seat, cards=cards):
            assert cards is not None
            return (LeavesOpened(seat=seat, salts=_leaf_salts(secret, cards)),)
        case TrumpTurned(card=card):
            assert isinstance(table.state, Announcing)
            return (_card_opened(secret, table.state.seat, card),)
        case TakenOver(seat=seat):
            return (TalonOpened(seat=seat, salt=secret.salts[secret.discarder][TALON].hex()),)
        case _:
            return ()


def _card_opened(secret: Secret, seat: int, card: int) -> CardOpened:
    return CardOpened(card=card, salt=secret.salts[seat][card].hex())


def _first_leaves(secret: Secret, dealt: Dealt, seat: int) -> LeavesOpened:
    shown = GAMES["voleny"].shown(dealt, seat)
    assert isinstance(shown, Dealt)
    assert shown.hand is not None
    key = commitments.seat_key(secret.seed, seat).hex()
    return LeavesOpened(seat=seat, salts=_leaf_salts(secret, shown.hand), key=key)


def _leaf_salts(secret: Secret, cards: Sequence[int]) -> tuple[str, ...]:
    salts = commitments.leaf_salts(secret.seed)
    return tuple(salts[secret.order.index(card)].hex() for card in cards)


def _hands_committed(table: Table, secret: Secret, discarder: int, *, told: bool) -> HandsCommitted:
    """A fresh start for every hand: the tokens of the round before say nothing of these."""
    assert isinstance(table.state, Declaring)
    number = secret.round + 1
    hands = tuple(cards_of(cards) for cards in table.state.hands)
    salts = salts_of_round(secret.seed, number)
    tokens, talon = sealed(secret.name, salts, number, hands, (discarder, cards_of(table.state.talon)))
    commitment = commitments.round_commitment(secret.name, number, tokens, talon).hex()
    if not told:
        return HandsCommitted(seat=discarder, round=number, commitment=commitment)
    written = tuple(tuple(each.hex() for each in hand) for hand in tokens)
    return HandsCommitted(seat=discarder, round=number, commitment=commitment, tokens=written, talon=talon.hex())


def sealed(
    name: str,
    salts: tuple[tuple[bytes, ...], ...],
    number: int,
    hands: tuple[tuple[int, ...], ...],
    talon: tuple[int, tuple[int, ...]],
) -> tuple[tuple[tuple[bytes, ...], ...], bytes]:
    """The tokens of `hands` by seat, and of the `talon`, who laid it away and its cards, in round `number` with
    its `salts`."""
    discarder, cards = talon
    tokens = tuple(commitments.tokens(name, number, seat, held, salts[seat]) for seat, held in enumerate(hands))
    return tokens, commitments.talon(name, number, cards, salts[discarder][TALON])

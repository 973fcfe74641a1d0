"""Two worlds that differ only in cards a reader may not know look the same to him: every view and every feed item.

A deal is played to some point; then two cards that the reader has not seen change places in the deck, and the same
is played again. If the rules still allow it, the reader must have been sent the same bytes all along.

Commitments differ, as they must: the hash of another card is another hash. So of what is hexadecimal only that counts
which anybody can see without its salt, where the same stands again; and that he was given no salt but his own.
"""

import random
import re
from dataclasses import replace

import pytest

from engine.cards import cards_of
from engine.errors import RuleViolation
from engine.fairness import commitments
from engine.fairness.commitments import TALON
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import ChooseTrump, Discard, PlayCard, TakeOver
from engine.marriages import MATES
from engine.shuffle import deck_from_key
from engine.table import decide, fold
from schemas.table import SPECTATOR, shown_events, view_fragments
from tests.cast import ANA, SEATED
from tests.table.fairly import fair_deal, nonce_of, ready_with, reveal
from tests.table.house import after, deal, full, play, ready

WAITING = after(full(), *map(ready, SEATED))
TRIES = 60
PACKETS = ((*range(7), *range(17, 22)), (*range(7, 12), *range(22, 27)), (*range(12, 17), *range(27, 32)))


SEED = commitments.seed_of(b"the key of both worlds")
WATCHED = after(full(), ready_with(ANA, nonce_of(ANA)), *map(ready, SEATED[1:]))
HEX = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-f])")


class Names:
    """Gives hashes, keys and salts numbers in the order in which they come: the same one has the same number."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def __call__(self, data: bytes) -> bytes:
        return HEX.sub(lambda found: b"#%d" % self._numbers.setdefault(found.group(), len(self._numbers)), data)

    @property
    def known(self) -> set[str]:
        """All that were ever sent."""
        return {each.decode() for each in self._numbers}


def beginning(deck, *, fair=False, watched=False):
    """A table whose deck is dealt as it is given, and what begins the deal: one without commitments, one with."""
    if not fair:
        return WAITING, (deal(deck=deck),)
    start = replace(fair_deal(), deck=deck, seed=SEED)
    return (WATCHED, (start, reveal(ANA, nonce_of(ANA)))) if watched else (WAITING, (start,))


def secrets_from(deck, table, moves, reader) -> set[str]:
    """What opens a card, or a whole hand, that `reader` may not know."""
    opened = {(move.seat, move.card) for move in moves if isinstance(move, PlayCard)}
    if VOLENY.public(table.state).trump is not None:
        turned = next(move for move in moves if isinstance(move, ChooseTrump))
        opened.add((turned.seat, deck[17 + turned.blind] if turned.card is None else turned.card))
    keys = [commitments.seat_key(SEED, seat) for seat in range(3)]
    own = {deck[place] for place in PACKETS[reader]} if reader is not None else set()
    leaves = {salt.hex() for card, salt in zip(deck, commitments.leaf_salts(SEED), strict=True) if card not in own}
    hidden = {
        commitments.round_salts(key, number)[card].hex()
        for seat, key in enumerate(keys) if seat != reader
        for number in range(1, 5) for card in range(32) if (seat, card) not in opened
    }
    discards = [move for move in moves if isinstance(move, Discard)]
    talons = {
        commitments.round_salts(keys[each.seat], number)[TALON].hex()
        for number, each in enumerate(discards, 1)
        if each.seat != reader and not _taken(each, moves, reader)
    }
    foreign = {key.hex() for seat, key in enumerate(keys) if seat != reader}
    return leaves | hidden | talons | foreign | {SEED.hex()}


def _taken(discard, moves, reader):
    """Did `reader` pick this talon up, though he has not laid anything away yet?"""
    later = moves[moves.index(discard) + 1 :]
    first = next((move for move in later if isinstance(move, Discard | TakeOver)), None)
    return isinstance(first, TakeOver) and first.seat == reader


def told(deck, moves, reader, names: "Names | None" = None, **how):
    """All bytes that `reader` is sent from the deal on. Raises RuleViolation if a move is not allowed."""
    table, begins = beginning(deck, **how)
    sent = []
    for command in (*begins, *map(play, moves)):
        events = decide(table, command)
        table = fold(table, events)
        shown, view = shown_events(events), view_fragments(table, len(sent))
        own_events = None if reader is None else shown.by_seat[reader]
        own_view = SPECTATOR if reader is None else view.private[reader]
        bytes_sent = (shown.public if own_events is None else own_events, view.public, own_view)
        sent.append(tuple(map(names, bytes_sent)) if names else bytes_sent)
    return sent


def some_moves(dice, deck):
    """Legal moves from the start to some point before the end: anything before the play, then cards."""
    table = after(WAITING, deal(deck=deck))
    moves = []
    for _ in range(dice.randrange(1, 40)):
        move = dice.choice(VOLENY.legal(table.state))
        if isinstance(move, ChooseTrump | Discard) or dice.random() < 0.5:
            move = dice.choice((move, VOLENY.modest(table.state)))
        following = after(table, play(move))
        if following.session.stage != "deal":
            break
        table = following
        moves.append(move)
    return table, moves


def seen_cards(table, deck, moves, reader):
    """What `reader` has seen: his own cards, all played, the turned trump card, a talon that he picked up.

    With a king or queen also its mate: that a marriage was announced, or was not, is for all to hear (§7.8).
    """
    played = [move.card for move in moves if isinstance(move, PlayCard)]
    seen = {*played, *(mate for card in played for mate in cards_of(MATES[card]))}
    if reader is not None:
        seen |= {deck[place] for place in PACKETS[reader]}
        discards = [move for move in moves if isinstance(move, Discard)]
        seen |= {card for discard in discards if _picked_up(discard, moves, reader) for card in discard.cards}
    turned = [move for move in moves if isinstance(move, ChooseTrump)]
    if VOLENY.public(table.state).trump is not None:
        seen |= {deck[17 + move.blind] if move.card is None else move.card for move in turned}
    return seen


def _picked_up(discard, moves, reader):
    """Did `reader` take over later, or discard himself? Then he has seen these two cards."""
    later = moves[moves.index(discard) :]
    return any(isinstance(move, Discard) and move.seat == reader for move in later)


def swapped(moves, one, other):
    """The same moves where the two cards have changed places."""
    change = {one: other, other: one}

    def renamed(move):
        if isinstance(move, Discard):
            return replace(move, cards=tuple(sorted(change.get(card, card) for card in move.cards)))
        if isinstance(move, ChooseTrump) and move.card is not None:
            return replace(move, card=change.get(move.card, move.card))
        return move

    return [renamed(move) for move in moves]


def other_worlds(dice, deck, table, moves, reader):
    """Decks and moves that `reader` cannot tell from these; some are not allowed by the rules."""
    hidden = sorted(set(range(32)) - seen_cards(table, deck, moves, reader))
    for _ in range(TRIES):
        if len(hidden) < 2:
            return
        one, other = dice.sample(hidden, 2)
        change = {one: other, other: one}
        yield tuple(change.get(card, card) for card in deck), swapped(moves, one, other)


@pytest.fixture
def as_it_lies(monkeypatch):
    """The nonces move nothing, so that a test can say who gets which card."""
    monkeypatch.setattr(commitments, "permutation", lambda *_: tuple(range(32)))


HOW = {"nothing committed": {}, "hashes only": {"fair": True}, "watched": {"fair": True, "watched": True}}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("reader", [None, 0, 1, 2])
def test_no_byte_depends_on_a_card_the_reader_may_not_know(reader, how, as_it_lies):
    dice = random.Random(f"worlds of {reader}")
    compared = 0
    for number in range(15):
        deck = deck_from_key(b"world %d" % number)
        table, moves = some_moves(dice, deck)
        names = Names() if HOW[how] else None
        sent = told(deck, moves, reader, names, **HOW[how])
        if names:
            assert not names.known & secrets_from(deck, table, moves, reader)
        for other_deck, other_moves in other_worlds(dice, deck, table, moves, reader):
            try:
                also_sent = told(other_deck, other_moves, reader, Names() if HOW[how] else None, **HOW[how])
            except RuleViolation:
                continue
            assert also_sent == sent
            compared += 1
            if compared % 4 == 0:
                break
    assert compared >= 30, "the worlds must be many for the test to mean something"


@pytest.mark.parametrize("reader", [None, 0, 1, 2])
def test_a_salt_too_many_would_be_found(reader, as_it_lies):
    dice, deck = random.Random(5), deck_from_key(b"a leak")
    table, moves = some_moves(dice, deck)
    names = Names()
    told(deck, moves, reader, names, fair=True, watched=True)
    hidden = secrets_from(deck, table, moves, reader)
    assert not names.known & hidden
    names(b'{"salt":"%b"}' % commitments.leaf_salts(SEED)[31 if reader != 2 else 0].hex().encode())
    assert names.known & hidden

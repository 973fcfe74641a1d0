"""Two worlds that differ only in cards a reader may not know look the same to him: every view and every feed item.

A deal is played to some point; then two cards that the reader has not seen change places in the deck, and the same
is played again. If the rules still allow it, the reader must have been sent the same bytes all along.
"""

import random
from dataclasses import replace

import pytest

from engine.cards import cards_of
from engine.errors import RuleViolation
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import ChooseTrump, Discard, PlayCard
from engine.marriages import MATES
from engine.shuffle import deck_from_key
from engine.table import decide, fold
from schemas.table import SPECTATOR, shown_events, view_fragments
from tests.cast import SEATED
from tests.table.house import after, deal, full, play, ready

WAITING = after(full(), *map(ready, SEATED))
TRIES = 60
PACKETS = ((*range(7), *range(17, 22)), (*range(7, 12), *range(22, 27)), (*range(12, 17), *range(27, 32)))


def told(deck, moves, reader):
    """All bytes that `reader` is sent from the deal on. Raises RuleViolation if a move is not allowed."""
    table, sent = WAITING, []
    for command in (deal(deck=deck), *map(play, moves)):
        events = decide(table, command)
        table = fold(table, events)
        shown, view = shown_events(events), view_fragments(table, len(sent))
        own_events = None if reader is None else shown.by_seat[reader]
        own_view = SPECTATOR if reader is None else view.private[reader]
        sent.append((shown.public if own_events is None else own_events, view.public, own_view))
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


@pytest.mark.parametrize("reader", [None, 0, 1, 2])
def test_no_byte_depends_on_a_card_the_reader_may_not_know(reader):
    dice = random.Random(f"worlds of {reader}")
    compared = 0
    for number in range(15):
        deck = deck_from_key(b"world %d" % number)
        table, moves = some_moves(dice, deck)
        sent = told(deck, moves, reader)
        for other_deck, other_moves in other_worlds(dice, deck, table, moves, reader):
            try:
                also_sent = told(other_deck, other_moves, reader)
            except RuleViolation:
                continue
            assert also_sent == sent
            compared += 1
            if compared % 4 == 0:
                break
    assert compared >= 30, "the worlds must be many for the test to mean something"

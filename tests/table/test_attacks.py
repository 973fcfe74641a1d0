"""Attacks on fair deals: a server that chooses the order, players who choose nonces, and guesses at the talon.

`MARIAS_TEST_FAIR_DEALS` is over how many joint deals they are counted; a million took 45 s of one core and gave 1,020
on 961 degrees of freedom.
"""

import math
import os
import random
from hashlib import sha256

import pytest

from engine.cards import cards_of
from engine.fairness import commitments
from engine.fairness.commitments import CARDS, TALON
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Discard
from engine.shuffle import deck_from_key
from engine.table import Expire, decide, step
from engine.table.clock import REVEAL_MILLISECONDS
from engine.table.events import CardOpened, DealCommitted, HandsCommitted, LeavesOpened, TalonOpened
from schemas.table import shown_events
from tests.cast import ANA, BARA, CYRIL, SEATED
from tests.table.fairly import KEY, committed, fair_deal, nonce_of, ready_with, reveal, revealed
from tests.table.house import NOON, after, full, play, ready, refused

DEALS = int(os.environ.get("MARIAS_TEST_FAIR_DEALS", "100000"))
NAME = "t-1f-0a1b2c3d4e5f/1"
ACES = frozenset((7, 15, 23, 31))
FOREHAND = (*range(7), *range(17, 22))


def chi_squared_bounds(freedom, sigmas=4.5):
    """Between these a chi-squared value lies but for once in some hundred thousand times (Wilson and Hilferty)."""
    spread = math.sqrt(2 / (9 * freedom))
    return tuple(freedom * (1 - 2 / (9 * freedom) + sign * sigmas * spread) ** 3 for sign in (-1, 1))


def where_each_card_lies(deals, root, server, nonces):
    """How often each card comes to each place, as one number, over `deals` joint deals of one order of the server."""
    table = [[0] * CARDS for _ in range(CARDS)]
    for number in range(deals):
        for row, leaf in zip(table, commitments.permutation(root, server, nonces(number)), strict=True):
            row[leaf] += 1
    return table


def chi_squared(table, deals):
    """Of a sum of permutation matrices, whose rows and columns all have the same sum: (n-1)² degrees of freedom."""
    fair = deals / CARDS
    return sum((count - fair) ** 2 / fair for row in table for count in row) * (CARDS - 1) / CARDS


NONCES = {
    "one honest nonce, the others chosen": lambda number: [bytes(32), b"\xff" * 32, sha256(b"h%d" % number).digest()],
    "one honest nonce, the others none": lambda number: [None, sha256(b"i%d" % number).digest(), None],
    "one nonce that only counts": lambda number: [bytes(32), number.to_bytes(32, "big"), None],
}


@pytest.mark.parametrize("nonces", NONCES)
def test_one_nonce_that_the_server_does_not_know_makes_every_place_as_likely_for_every_card(nonces):
    """The server's order and nonce are the same in all deals: it chose them."""
    each = max(1, DEALS // len(NONCES))
    table = where_each_card_lies(each, sha256(b"chosen root").digest(), bytes(32), NONCES[nonces])
    low, high = chi_squared_bounds((CARDS - 1) ** 2)
    found = chi_squared(table, each)
    print(f"{each} deals, chi-squared {found:.1f} on {(CARDS - 1) ** 2} degrees of freedom")
    assert low < found < high


def test_the_count_would_show_a_shuffle_that_is_a_little_unfair():
    deals = 3_000
    dice = random.Random(3)

    def unfair(number):
        order = list(range(CARDS))
        for place in range(CARDS):  # The well-known mistake: every place is exchanged with any place.
            other = dice.randrange(CARDS)
            order[place], order[other] = order[other], order[place]
        return order

    table = [[0] * CARDS for _ in range(CARDS)]
    for number in range(deals):
        for row, leaf in zip(table, unfair(number), strict=True):
            row[leaf] += 1
    assert chi_squared(table, deals) > chi_squared_bounds((CARDS - 1) ** 2)[1]


def aces_of_the_forehand(key, nonces):
    """What a server wishes for that favours the forehand, if these are the nonces."""
    order, seed = deck_from_key(key), commitments.seed_of(key)
    root = commitments.root_of(commitments.leaves(NAME, seed, order))
    places = commitments.permutation(root, commitments.server_nonce(seed), nonces)
    return sum(order[places[place]] in ACES for place in FOREHAND)


def test_a_server_that_tries_many_keys_gains_nothing_against_one_nonce_that_it_does_not_know():
    guessed = [bytes(32), bytes(32), bytes(32)]
    chosen, honest = [], []
    for number in range(60):
        keys = [sha256(b"try %d %d" % (number, other)).digest() for other in range(16)]
        best = max(keys, key=lambda key: aces_of_the_forehand(key, guessed))
        chosen.append(aces_of_the_forehand(best, guessed))
        honest += [aces_of_the_forehand(best, [None, sha256(b"n%d %d" % (number, t)).digest(), None]) for t in range(4)]
    assert sum(chosen) / len(chosen) > 2.7, "where it knows all nonces the server does choose"
    mean, spread = 4 * 12 / 32, math.sqrt(0.86)  # Hypergeometric: 12 of 32 cards, 4 aces.
    assert abs(sum(honest) / len(honest) - mean) < 4 * spread / math.sqrt(len(honest))


def test_the_last_to_reveal_has_no_choice_but_to_keep_silent():
    """He knows the other nonces, and a server that conspires with him knows the order: two deals are within reach."""
    table = revealed(committed(*SEATED), ANA, BARA)
    dice = random.Random(4)
    for _ in range(200):
        assert refused(table, reveal(CYRIL, dice.randbytes(32))) == "commitment_mismatch"
    spoken = after(table, reveal(CYRIL, nonce_of(CYRIL))).state.hands
    late = NOON + REVEAL_MILLISECONDS
    silent = after(table, Expire(now=late, version_seen=9, version=9)).state.hands
    assert spoken != silent


def test_who_copies_the_commitment_of_another_cannot_cancel_his_nonce_out():
    """Two equal nonces do not make each other void, and the copy is of use only once the other is told."""
    one = after(full(), ready_with(ANA, nonce_of(ANA)), ready_with(BARA, nonce_of(ANA)), ready(CYRIL), fair_deal())
    assert refused(one, reveal(BARA, nonce_of(BARA))) == "commitment_mismatch"
    seen = set()
    for number in range(50):
        nonce = nonce_of(ANA, number)
        table = after(full(), ready_with(ANA, nonce), ready_with(BARA, nonce), ready(CYRIL), fair_deal())
        seen.add(after(table, reveal(ANA, nonce), reveal(BARA, nonce)).state.hands)
    assert len(seen) == 50


class Ear:
    """All that one player is told of a deal, and the cards that he knows."""

    def __init__(self, seat):
        self.seat, self.events, self.known = seat, [], set()

    def hear(self, events, table):
        told = shown_events(events)
        self.events.append(told.by_seat[self.seat] or told.public)
        if table.session.stage == "deal":
            self.known |= set(VOLENY.private(table.state, self.seat).hand)
        self.known |= {event.card for event in events if isinstance(event, CardOpened)}


def early_ended(number):
    """A deal that ends before many cards are played, what seat 1 was told of it, and the talon."""
    dice = random.Random(number)
    table = after(full(), *(ready_with(player, nonce_of(player, number)) for player in SEATED))
    ear, events, talon = Ear(1), [], ()
    commands = [fair_deal(sha256(b"early %d" % number).digest()), *(reveal(p, nonce_of(p, number)) for p in SEATED)]

    def run(command):
        nonlocal table
        made = step(table, command)
        table = made.table
        ear.hear(made.events, table)
        events.extend(made.events)

    for command in commands:
        run(command)
    played = 0
    while table.session.stage == "deal" and played < 4:
        move = VOLENY.modest(table.state)
        if type(move).__name__ == "Discard":
            move = dice.choice([each for each in VOLENY.legal(table.state) if isinstance(each, Discard)])
            talon = move.cards
        played += type(move).__name__ == "PlayCard"
        run(play(move))
    return ear, events, talon


def guesses(ear, events, number):
    """Cards that an attacker names for the talon, each by another way to read what he was told."""
    unknown = sorted(set(range(CARDS)) - ear.known)
    text = b"".join(ear.events)
    (hands,) = [event for event in events if isinstance(event, HandsCommitted)]
    commit = next(event for event in events if isinstance(event, DealCommitted))
    opened = [event for event in events if isinstance(event, CardOpened)]
    sealed = int(hands.talon, 16)
    yield "the hash of the talon", unknown[sealed % len(unknown)]
    yield "its last byte", min(unknown, key=lambda card: (card - sealed % 256) % CARDS)
    yield "the order of the leaves", unknown[max(range(CARDS), key=lambda place: commit.leaves[place]) % len(unknown)]
    first = min(hands.tokens[0])
    yield "the first token of the declarer", unknown[int(first, 16) % len(unknown)]
    yield "the place of an opened token", unknown[sum(int(event.salt, 16) for event in opened) % len(unknown)]
    yield "all that he was told", unknown[int.from_bytes(sha256(text).digest(), "big") % len(unknown)]
    salts = [salt for event in events if isinstance(event, LeavesOpened) and event.seat == ear.seat
             for salt in event.salts]
    yield "his own salts", unknown[int(salts[0], 16) % len(unknown)]


def test_a_deal_that_ended_early_tells_nothing_of_the_talon():
    """Whatever way a player reads what he was told, he names a card of the talon as often as by chance."""
    deals, hits, expected, spread = 400, {}, 0.0, 0.0
    for number in range(deals):
        ear, events, talon = early_ended(number)
        unknown = CARDS - len(ear.known)
        expected += 2 / unknown
        spread += 2 / unknown * (1 - 2 / unknown)
        for way, card in guesses(ear, events, number):
            hits[way] = hits.get(way, 0) + (card in talon)
    assert len(hits) == 7
    for way, found in hits.items():
        assert abs(found - expected) < 4.5 * math.sqrt(spread), (way, found, expected)


def test_no_byte_that_a_player_was_told_opens_the_talon_or_a_card_of_another():
    """The attacker tries every salt and key that he has on every card and place there is."""
    for number in range(6):
        ear, events, _ = early_ended(number)
        (hands,) = [event for event in events if isinstance(event, HandsCommitted)]
        mine = [event for event in events if isinstance(event, LeavesOpened) and event.seat == ear.seat]
        keys = [bytes.fromhex(event.key) for event in mine if event.key]
        salts = [bytes.fromhex(salt) for event in mine for salt in event.salts]
        salts += [bytes.fromhex(event.salt) for event in events if isinstance(event, CardOpened)]
        salts += [salt for key in keys for salt in commitments.round_salts(key, 1)]
        assert not any(isinstance(event, TalonOpened) for event in events)
        unknown = set(range(CARDS)) - ear.known
        pairs = [(one, other) for one in range(CARDS) for other in range(one)]
        assert hands.talon not in {
            commitments.talon(NAME, 1, pair, salt).hex() for pair in pairs for salt in salts[-TALON:]}
        tokens = {token for hand in hands.tokens for token in hand}
        found = {
            card for card in unknown for seat in range(3) for salt in salts
            if commitments.token(NAME, 1, seat, card, salt).hex() in tokens
        }
        assert not found


def test_tokens_lie_in_no_order_that_tells_of_the_cards():
    """The card that stands first among the tokens of a hand is any of its ten."""
    first = [0] * 10
    hand = cards_of(0b1111111111)
    for number in range(2_000):
        salts = commitments.round_salts(sha256(b"seat %d" % number).digest(), 1)
        least = min(commitments.token(NAME, 1, 0, card, salts[card]) for card in hand)
        first[next(card for card in hand if commitments.token(NAME, 1, 0, card, salts[card]) == least)] += 1
    low, high = chi_squared_bounds(9)
    assert max(low, 0) < sum((count - 200) ** 2 / 200 for count in first) < high


def test_a_deal_of_the_same_table_has_other_leaves_though_its_key_is_the_same():
    order, seed = deck_from_key(KEY), commitments.seed_of(KEY)
    one, other = (set(commitments.leaves(f"t-1f-0a1b2c3d4e5f/{deal}", seed, order)) for deal in (1, 2))
    assert not one & other


def test_the_server_says_its_commitment_before_it_hears_a_nonce():
    table = after(full(), *(ready_with(player, nonce_of(player)) for player in SEATED))
    (commit,) = [event for event in decide(table, fair_deal()) if isinstance(event, DealCommitted)]
    other = after(full(), *(ready_with(player, nonce_of(player, 9)) for player in SEATED))
    (again,) = [event for event in decide(other, fair_deal()) if isinstance(event, DealCommitted)]
    assert (commit.root, commit.server_commitment) == (again.root, again.server_commitment)

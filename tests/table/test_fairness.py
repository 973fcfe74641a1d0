"""Nonces, commitments and openings at a table: who is waited for, what is refused, what is told to whom."""

import pytest

from engine.cards import cards_of
from engine.errors import RuleViolation
from engine.fairness import commitments
from engine.games.voleny import VOLENY
from engine.games.voleny.events import CardPlayed, Dealt, HandCompleted
from engine.shuffle import deck_from_key
from engine.table import Expire, at_rest, decide, due, fold, step
from engine.table.clock import REVEAL_MILLISECONDS
from engine.table.events import (
    BecameReady,
    CardOpened,
    DealCommitted,
    DealStarted,
    HandsCommitted,
    LeavesOpened,
    NoncesJoined,
    TalonOpened,
)
from engine.table.openings import salts_of_round, sealed
from engine.table.view import public_session, shown
from schemas.table import dump_events, dump_table, load_events, shown_events, view_fragments
from tests.cast import ANA, BARA, CYRIL, DANA, SEATED
from tests.table.fairly import (
    KEY,
    TABLE,
    committed,
    fair_deal,
    nonce_of,
    ready_with,
    reveal,
    revealed,
    taking_over,
    told,
    whole,
)
from tests.table.house import NOON, after, deal, full, kinds, leave, opened, played_out, ready, refused, sit

WAIT = Expire(now=NOON + REVEAL_MILLISECONDS, version_seen=9, version=9)


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_where_nobody_committed_the_deal_starts_in_one_step():
    events = decide(after(full(), *map(ready, SEATED)), fair_deal())
    assert kinds(events) == ["DealCommitted", "NoncesJoined", "DealStarted", "Dealt"]


def test_the_deal_waits_for_the_nonces_that_were_committed_to():
    table = committed(ANA, CYRIL)
    assert (table.session.stage, public_session(table.session).awaiting) == ("reveal", (0, 2))
    assert due(table) == ("expire", NOON + REVEAL_MILLISECONDS)
    one = revealed(table, CYRIL)
    assert (one.session.stage, public_session(one.session).awaiting) == ("reveal", (0,))
    assert one.deadline == table.deadline, "the others have no more time for that"
    assert revealed(one, ANA).session.stage == "deal"


def test_a_view_says_lobby_and_whose_nonce_is_awaited():
    table = committed(BARA)
    seen = b"{%b}" % view_fragments(table, 9).public
    assert b'"phase":"lobby"' in seen
    assert b'"awaiting":[1]' in seen
    dealt = view_fragments(revealed(table, BARA), 10)
    assert b'"fairness":{"deal":1,"root":"%b"}' % table.session.fairness.root.encode() in dealt.about
    assert b"fairness" not in dealt.brief, "it would be sent again with each move"


@pytest.mark.parametrize("order", [(ANA, BARA, CYRIL), (CYRIL, ANA, BARA)])
def test_the_nonces_decide_whatever_order_they_come_in(order):
    table = committed(*SEATED)
    dealt = revealed(table, *order)
    nonces = [nonce_of(player) for player in SEATED]
    server = commitments.server_nonce(commitments.seed_of(KEY))
    places = commitments.permutation(bytes.fromhex(table.session.fairness.root), server, nonces)
    deck = tuple(deck_from_key(KEY)[leaf] for leaf in places)
    assert dealt.state == VOLENY.fold((Dealt(rules=dealt.state.rules, dealer=2, deck=deck),))


def test_another_nonce_gives_another_deal():
    table = after(full(), ready_with(ANA, nonce_of(ANA, 1)), ready(BARA), ready(CYRIL), fair_deal())
    other = after(table, reveal(ANA, nonce_of(ANA, 1)))
    assert other.state.hands != revealed(committed(ANA), ANA).state.hands


@pytest.mark.parametrize(
    ("why", "command"),
    [
        ("commitment_mismatch", reveal(ANA, nonce_of(ANA, 1))),
        ("commitment_mismatch", reveal(ANA, nonce_of(BARA))),
        ("reveal_not_awaited", reveal(CYRIL, nonce_of(CYRIL))),
        ("reveal_not_awaited", reveal(ANA, nonce_of(ANA), now=NOON + REVEAL_MILLISECONDS + 1)),
        ("not_seated", reveal(DANA, nonce_of(ANA))),
        ("deal_running", ready(ANA)),
        ("deal_running", sit(DANA)),
        ("stale", deal()),
        ("not_due", Expire(now=NOON + REVEAL_MILLISECONDS - 1, version_seen=9, version=9)),
    ],
)
def test_what_does_not_fit_while_nonces_are_awaited_is_refused(why, command):
    table = after(committed(ANA, BARA), *([leave(CYRIL)] if command == sit(DANA) else []))
    assert refused(table, command) == why


def test_a_nonce_is_revealed_once_and_only_before_the_deal():
    table = revealed(committed(ANA, BARA), ANA)
    assert refused(table, reveal(ANA, nonce_of(ANA))) == "reveal_not_awaited"
    assert refused(revealed(table, BARA), reveal(BARA, nonce_of(BARA))) == "reveal_not_awaited"
    assert refused(full(), reveal(BARA, nonce_of(BARA))) == "reveal_not_awaited"


def test_when_time_is_up_the_servers_nonce_stands_in_and_is_marked():
    table = revealed(committed(ANA, BARA), BARA)
    events = decide(table, WAIT)
    assert of(events, NoncesJoined)[0].nonces == ("", nonce_of(BARA).hex(), "")
    assert fold(table, events).session.stage == "deal"


def test_who_leaves_is_not_waited_for_and_a_bot_plays_his_cards():
    table = revealed(committed(ANA, BARA), BARA)
    after_all = step(table, leave(ANA)).table
    assert after_all.session.stage == "deal"
    assert after_all.session.seats[0].is_automatic
    waiting = after(committed(ANA, BARA), leave(ANA))
    assert public_session(waiting.session).awaiting == (1,)
    back = after(waiting, sit(ANA))
    assert public_session(back.session).awaiting == (0, 1), "he came back in time"
    assert revealed(back, ANA, BARA).session.stage == "deal"


def test_a_nonce_counts_for_one_deal():
    table = after(played_out(revealed(committed(ANA), ANA)), *map(ready, SEATED))
    assert kinds(decide(table, fair_deal()))[:2] == ["DealCommitted", "NoncesJoined"]


def test_a_commitment_given_with_the_reveal_is_for_the_next_deal_also_where_ready_is_automatic():
    table = committed(ANA, auto_ready=True)
    table = played_out(after(table, reveal(ANA, nonce_of(ANA), nonce_of(ANA, 1))))
    table = after(table, fair_deal(b"another key"))
    assert public_session(table.session).awaiting == (0,)
    assert refused(table, reveal(ANA, nonce_of(ANA))) == "commitment_mismatch"
    assert after(table, reveal(ANA, nonce_of(ANA, 1))).session.stage == "deal"


def test_bots_and_who_was_put_out_give_no_nonce():
    table = after(opened(bots=(1, 2)), sit(ANA), ready_with(ANA, nonce_of(ANA)), fair_deal())
    assert table.session.fairness.commitments[1:] == ("", "")
    assert revealed(table, ANA).session.stage == "deal"
    again = after(full(), ready_with(ANA, nonce_of(ANA)), leave(ANA), sit(ANA), *map(ready, SEATED))
    assert kinds(decide(again, fair_deal()))[:2] == ["DealCommitted", "NoncesJoined"]


def test_the_house_buys_its_bots_in_before_anything_is_committed_to():
    table = after(
        opened(bots=(1, 2), stake="bankroll", buy_in=1000), sit(ANA, transfer="in"), ready_with(ANA, nonce_of(ANA))
    )
    events = decide(table, fair_deal())
    assert kinds(events) == ["ChipsBrought", "ChipsBrought", "DealCommitted", "DeadlineSet"]
    assert fold(table, events).session.bank == (1000, 1000, 1000)


def test_the_root_is_over_leaves_that_open_to_the_dealt_cards():
    events = whole(*SEATED)
    (commit,), (dealt,) = of(events, DealCommitted), of(events, Dealt)
    (joined,) = of(events, NoncesJoined)
    root = bytes.fromhex(commit.root)
    assert commitments.root_of([bytes.fromhex(leaf) for leaf in commit.leaves]) == root
    nonces = [bytes.fromhex(nonce) for nonce in joined.nonces]
    places = commitments.permutation(root, bytes.fromhex(joined.server_nonce), nonces)
    opened = dict.fromkeys(range(3), ())
    for event in of(events, LeavesOpened):
        opened[event.seat] += event.salts
    where = {0: (*range(7), *range(17, 22)), 1: (*range(7, 12), *range(22, 27)), 2: (*range(12, 17), *range(27, 32))}
    for seat, salts in opened.items():  # Seat 2 deals, so seat 0 is the forehand.
        for place, salt in zip(where[seat], salts, strict=True):
            leaf = commitments.leaf(commit.name, places[place], dealt.deck[place], bytes.fromhex(salt))
            assert leaf.hex() == commit.leaves[places[place]]


def test_the_forehand_is_not_given_what_opens_cards_that_he_has_not_seen():
    events = whole(ANA)
    before = events[: next(place for place, event in enumerate(events) if isinstance(event, HandCompleted))]
    assert [len(event.salts) for event in of(before, LeavesOpened)] == [7, 10, 10]


@pytest.mark.parametrize("choose", [None, taking_over])
def test_every_card_that_is_played_opens_a_token_of_its_seat(choose):
    events = whole(BARA, **({"choose": choose} if choose else {}))
    name, last, tokens = f"{TABLE}/1", 0, ()
    seen = 0
    for event, following in zip(events, [*events[1:], None], strict=True):
        if isinstance(event, HandsCommitted):
            last, tokens = event.round, event.tokens
            commitment = commitments.round_commitment(
                name, last, [list(map(bytes.fromhex, hand)) for hand in tokens], bytes.fromhex(event.talon)
            )
            assert event.commitment == commitment.hex()
            assert all(list(hand) == sorted(hand) and len(hand) == 10 for hand in tokens)
        if isinstance(event, CardPlayed):
            opening = following if isinstance(following, CardOpened) else None
            opening = opening or next(each for each in events[events.index(event) :] if isinstance(each, CardOpened))
            assert opening.card == event.card
            token = commitments.token(name, last, event.seat, event.card, bytes.fromhex(opening.salt))
            assert token.hex() in tokens[event.seat]
            seen += 1
    assert seen >= 3
    assert last == (1 if choose is None else 3)


def test_who_takes_the_talon_up_is_given_what_opens_it():
    events = whole(CYRIL, choose=taking_over)
    rounds = of(events, HandsCommitted)
    taken = of(events, TalonOpened)
    assert len(taken) == 2
    for event, before in zip(taken, rounds, strict=False):
        cards = next(each.cards for each in events[events.index(before) :] if type(each).__name__ == "TakenOver")
        assert commitments.talon(f"{TABLE}/1", before.round, cards, bytes.fromhex(event.salt)).hex() == before.talon
        assert shown(event, event.seat) == event
        assert shown(event, None).salt == shown(event, (event.seat + 1) % 3).salt == ""


def test_rounds_of_the_same_hand_have_nothing_in_common():
    events = whole(CYRIL, choose=taking_over)
    tokens = [token for event in of(events, HandsCommitted) for hand in event.tokens for token in hand]
    assert len(set(tokens)) == len(tokens) == 90


def test_where_nobody_watches_only_hashes_are_told():
    events = whole()
    assert not of(events, CardOpened | LeavesOpened | TalonOpened)
    assert of(events, DealCommitted)[0].leaves == ()
    assert {len(dump_events([event])) < 200 for event in of(events, HandsCommitted)} == {True}


def test_the_hash_of_a_round_is_the_same_whether_its_tokens_are_told_or_not():
    table = after(full(), *map(ready, SEATED), fair_deal())
    hands = tuple(map(cards_of, (0x3FF, 0x3FF << 10, 0x3FF << 20)))
    tokens, talon = sealed(table.secret.name, salts_of_round(table.secret.seed, 1), 1, hands, (0, (30, 31)))
    assert len({token for hand in tokens for token in hand} | {talon}) == 31


def test_no_secret_is_shown_and_none_is_kept_after_the_deal():
    table, events = told(committed(ANA), [reveal(ANA, nonce_of(ANA))])
    assert (table.secret, table.session.fairness) == (None, None)
    assert dump_table(table)
    commit = decide(after(full(), ready_with(ANA, nonce_of(ANA)), ready(BARA), ready(CYRIL)), fair_deal())
    for seat in (None, 0, 1, 2):
        told_seat = shown_events(commit).by_seat[seat or 0] or shown_events(commit).public
        for secret in (commitments.seed_of(KEY).hex(), KEY.hex(), "sealed", '"order"'):
            assert secret.encode() not in told_seat
    keys = [commitments.seat_key(commitments.seed_of(KEY), seat).hex().encode() for seat in range(3)]
    for event in events:
        seen = shown_events([event])
        for seat, key in enumerate(keys):
            assert key not in seen.public
            assert all(key not in (seen.by_seat[other] or b"") for other in range(3) if other != seat)


def test_a_deal_that_is_coming_is_never_kept_outside_its_events():
    table = committed(ANA)
    assert not at_rest(table)
    with pytest.raises(AssertionError):
        dump_table(table)


@pytest.mark.parametrize("choose", [None, taking_over])
def test_a_worker_that_starts_anywhere_in_the_deal_goes_on_the_same(choose):
    table = after(full(), ready_with(ANA, nonce_of(ANA)), ready(BARA), ready(CYRIL))
    commands = [fair_deal(), reveal(ANA, nonce_of(ANA))]
    end, events = told(table, commands, **({"choose": choose} if choose else {}))
    assert fold(table, load_events(dump_events(events))) == end
    half = fold(table, load_events(dump_events(events[:1])))
    assert step(half, reveal(ANA, nonce_of(ANA))).events[1:3] == tuple(
        each for each in events if isinstance(each, NoncesJoined | DealStarted)
    )


def test_ready_says_its_commitment_and_nothing_else_changes():
    events = decide(full(), ready_with(ANA, nonce_of(ANA)))
    assert kinds(events) == ["BecameReady", "NonceCommitted"]
    assert kinds(decide(full(), ready(ANA))) == ["BecameReady"]
    assert of(events, BecameReady)[0].seat == 0


def test_a_reveal_at_no_table_is_refused():
    from engine.table import INITIAL

    with pytest.raises(RuleViolation, match="not_found"):
        decide(INITIAL, reveal(ANA, nonce_of(ANA)))

"""Deals between bots that see and send what any client sees and sends: bytes of views in, bodies of moves out."""

import random

import msgspec

from engine.bots import POLICIES
from engine.games.voleny import VOLENY
from engine.games.voleny.rules import Rules
from engine.shuffle import deck_from_key
from engine.table import INITIAL, OpenTable, StartDeal, Table, decide, fold, step
from schemas.table import Sender, load_command, view_fragments

NOW = 1_767_225_600_000


def table_of_bots(rules: Rules, deck: tuple[int, ...], dealer: int = 2) -> Table:
    """Three bots, and the first deal."""
    opening = OpenTable(now=NOW, creator="u-00-0000000000000000", game="voleny", rules=rules, bots=(0, 1, 2))
    table = fold(INITIAL, decide(INITIAL, opening))
    return step(
        table,
        StartDeal(
            now=NOW, version_seen=1, version=1, first_dealer=dealer, deck=deck, sealed_key="", transfer="house"
        ),
    ).table


def view_of(table: Table, seat: int) -> dict[str, object]:
    """What a client in `seat` sees."""
    fragments = view_fragments(table, 1)
    return msgspec.json.decode(b"{%b,%b}" % (fragments.public, fragments.private[seat]))


def play_move(table: Table, choose, rng: random.Random) -> Table:
    """The table after `choose` has moved for the seat to act."""
    (seat,) = VOLENY.to_act(table.state)
    view = view_of(table, seat)
    legal = view["legal"]
    body = choose(view, legal, rng)
    assert any(body is move for move in legal), "a bot sends one of the moves it was given"
    sender = Sender(actor=f"bot:{seat}", name="", now=NOW, version=1, transfer="")
    return step(table, load_command(table, sender, body, lambda: None)).table


def payments(policies, deck, rules=None, seed=0) -> tuple[int, ...]:
    """What a deal between three policies (names or functions, by seat) pays; the forehand sits in seat 0."""
    rng = random.Random(seed)
    table = table_of_bots(rules or Rules(), deck)
    while table.session.stage == "deal":
        (seat,) = VOLENY.to_act(table.state)
        policy = policies[seat]
        table = play_move(table, POLICIES.get(policy, policy), rng)
    return table.session.bank


def duel(hero, others, decks: int, rules=None) -> list[int]:
    """What `hero` wins in each of the three seats of each deck, against two of `others`."""
    won = []
    for number in range(decks):
        deck = deck_from_key(b"duel %d" % number)
        for seat in range(3):
            policies = [others] * 3
            policies[seat] = hero
            won.append(payments(policies, deck, rules, seed=number)[seat])
    return won

"""The view of a table (contract §3): its members, their shapes, and who sees what."""

import json

import pytest

from engine.games.voleny import VOLENY
from engine.games.voleny.rules import Rules
from engine.notation import CODES
from schemas.moves import load_move
from schemas.table import SPECTATOR, join_code, view_fragments, who
from tests.cast import ANA, BARA, CYRIL, SEATED
from tests.table.house import (
    NOON,
    after,
    deal,
    dealt,
    finished,
    full,
    leave,
    modest,
    next_deal,
    opened,
    play,
    played_out,
    ready,
    sit,
)

CONTRACT = {
    "version", "seat", "phase", "deal", "dealer", "to_act", "hand", "trick", "last_trick", "trump", "contract",
    "levels", "tricks_taken", "points", "legal", "bank", "deadline",
}  # fmt: skip


def view(table, seat=None, version=9):
    fragments = view_fragments(table, version)
    own = SPECTATOR if seat is None else fragments.private[seat]
    return json.loads(b"{%b,%b}" % (fragments.public, own))


def in_play(cards=4, **options):
    """Some cards of the first deal have been played."""
    table = dealt(**options)
    while VOLENY.public(table.state).phase != "play":
        table = after(table, modest(table))
    for _ in range(cards):
        table = after(table, modest(table))
    return table


TABLES = [
    pytest.param(opened(), id="just opened"),
    pytest.param(full(), id="in the lobby"),
    pytest.param(dealt(), id="choosing trumps"),
    pytest.param(in_play(), id="in play"),
    pytest.param(next_deal(full()), id="between deals"),
    pytest.param(finished(), id="over"),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_every_view_has_the_members_of_the_contract(table, seat):
    shown = view(table, seat)
    assert set(shown) >= CONTRACT
    assert (next(iter(shown)), shown["version"], shown["seat"]) == ("version", 9, seat)


@pytest.mark.parametrize("table", TABLES)
def test_a_spectator_has_no_hand_and_no_moves(table):
    shown = view(table)
    assert (shown["hand"], shown["legal"]) == ([], [])
    assert "trump_card" not in shown


def test_once_a_deal_has_ended_nobody_has_a_hand_as_another_may_hold_the_seat_by_then():
    table = played_out(dealt(), lambda table: play(VOLENY.legal(table.state)[0]))
    assert VOLENY.private(table.state, 0).hand, "it ended before all cards were played"
    assert [view(table, seat)["hand"] for seat in range(3)] == [[], [], []]


@pytest.mark.parametrize("table", TABLES)
def test_no_view_tells_a_join_code_or_how_long_bots_are_waited_for(table):
    assert "code" not in view(table, 0)


class TestPhases:
    def test_without_a_deal_it_is_the_lobby(self):
        shown = view(full(), 0)
        assert (shown["phase"], shown["deal"], shown["dealer"]) == ("lobby", 0, None)
        assert (shown["to_act"], shown["hand"], shown["legal"]) == ([], [], [])

    def test_in_a_deal_it_is_that_of_the_game(self):
        shown = view(dealt(), 0)
        assert (shown["phase"], shown["deal"], shown["dealer"], shown["forehand"]) == ("choose_trump", 1, 2, 0)
        assert (shown["to_act"], len(shown["hand"]), len(shown["legal"])) == ([0], 7, 12)

    def test_between_deals_it_is_the_lobby_again_with_the_result_of_the_last(self):
        shown = view(next_deal(full()), 0)
        assert (shown["phase"], shown["deal"], shown["to_act"]) == ("lobby", 1, [])
        assert shown["result"]["payments"] == shown["bank"]
        assert len(shown["last_trick"]["cards"]) == 3

    def test_between_deals_nobody_has_a_hand_as_seats_may_change_hands(self):
        for seat in range(3):
            assert view(next_deal(full()), seat)["hand"] == []

    def test_after_the_last_deal_it_is_over_and_the_standing_is_shown(self):
        shown = view(finished(), 0)
        assert shown["phase"] == "over"
        assert [row["player"] for row in shown["standing"]] == [player.id for player in SEATED]
        assert [row["place"] for row in shown["standing"]] == [1, 2, 3]


class TestPlay:
    def test_shapes(self):
        shown = view(in_play(4), 0)
        assert [set(card) for card in shown["trick"]] == [{"seat", "card"}]
        assert set(shown["last_trick"]) == {"cards", "winner"}
        assert set(shown["points"]) == {"declarer", "defence"}
        assert sum(shown["tricks_taken"]) == 1
        assert shown["levels"] == {"hra": 0}
        assert shown["contract"] == ["hra"]
        assert shown["trump"] in "hdcs"

    def test_only_the_seat_to_act_has_moves_and_each_can_be_sent(self):
        table = in_play(4)
        (seat,) = VOLENY.to_act(table.state)
        assert tuple(load_move(seat, move) for move in view(table, seat)["legal"]) == VOLENY.legal(table.state)
        assert view(table, (seat + 1) % 3)["legal"] == []

    def test_a_seat_sees_its_own_hand(self):
        table = in_play(4)
        for seat in range(3):
            assert view(table, seat)["hand"] == [CODES[card] for card in VOLENY.private(table.state, seat).hand]

    def test_the_forehand_alone_sees_his_trump_card_until_it_is_turned(self):
        table = after(dealt(), modest(dealt()))
        assert "trump_card" in view(table, 0)
        assert "trump_card" not in view(table, 1)
        assert "trump_card" not in view(in_play(0), 0)
        assert view(in_play(0), 1)["trump"] is not None


class TestSeats:
    def test_players_bots_and_free_seats(self):
        table = after(opened(bots=(1,), bot_policy="random"), sit(ANA))
        shown = view(table)
        assert shown["seats"] == [{"player": ANA.id, "name": "Ana"}, {"bot": "random"}, None]
        assert shown["ready"] == [False, True, False]
        assert who(table) == f"{ANA.id}|bot:1|"

    def test_who_left_in_a_deal_is_away_and_a_bot_sees_his_cards(self):
        table = after(dealt(), leave(BARA))
        assert view(table)["seats"][1] == {"player": BARA.id, "name": BARA.name, "away": True}
        assert who(table) == f"{ANA.id}|bot:1|{CYRIL.id}"

    def test_the_code_is_for_private_tables(self):
        assert join_code(opened(private=True, code="krk")) == "krk"
        assert join_code(opened(code="krk")) == ""


class TestDeadline:
    def test_a_turn(self):
        assert view(dealt(turn_seconds=30))["deadline"] == "2026-01-01T00:00:30.000Z"

    def test_being_ready(self):
        assert view(full(turn_seconds=30))["deadline"] == "2026-01-01T00:00:30.000Z"

    def test_none(self):
        assert view(dealt())["deadline"] is None

    def test_how_long_a_bot_is_waited_for_is_nobodys_business(self):
        assert view(after(dealt(turn_seconds=30), leave(ANA)))["deadline"] is None


def test_the_full_rules_are_shown_before_anyone_sits_down():
    shown = view(opened(rules=Rules(cap=7), turn_seconds=9, auto_ready=True))
    assert shown["rules"]["cap"] == 7
    assert set(shown["rules"]) == set(Rules.__slots__)
    assert (shown["turn_seconds"], shown["auto_ready"], shown["bot_policy"]) == (9, True, "rule")
    assert (shown["stake"], shown["deals"]) == ("free", None)


def test_what_moves_do_not_change_is_apart_from_what_they_do():
    table = in_play(4)
    moved = after(table, modest(table, now=NOON))
    assert view_fragments(table, 9).about == view_fragments(moved, 10).about
    assert view_fragments(table, 9).brief != view_fragments(moved, 10).brief
    assert set(json.loads(b"{%b}" % view_fragments(table, 9).brief)) >= CONTRACT - {"seat", "hand", "legal"}


def test_being_ready_is_shown():
    assert view(after(full(), ready(BARA)))["ready"] == [False, True, False]
    assert view(after(full(), *map(ready, SEATED), deal()))["ready"] == [False, False, False]

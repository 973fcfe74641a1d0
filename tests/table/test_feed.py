"""The feed (contract §3): every version reaches every reader, and what a seat may not know is absent."""

import json

import pytest

from engine.games.voleny.commands import ChooseTrump, Declare, TakeOver
from engine.games.voleny.rules import Rules
from engine.notation import codes
from engine.table import INITIAL, OpenTable, decide
from engine.table.events import DeadlineSet
from schemas.table import ends_deal, kinds, shown_events
from tests.cast import ANA, BARA, SEATED
from tests.table.house import (
    DECK,
    after,
    before_the_last_card,
    deal,
    dealt,
    full,
    leave,
    modest,
    opened,
    play,
    ready,
    sit,
)

ALL_READY = after(full(), *map(ready, SEATED))
BANKROLL = {"stake": "bankroll", "buy_in": 1000}


def feed(table, command, seat=None):
    """What `seat` is told of a command, by type."""
    shown = shown_events(decide(table, command))
    own = None if seat is None else shown.by_seat[seat]
    events = json.loads(shown.public if own is None else own)
    return {event["type"]: {name: value for name, value in event.items() if name != "type"} for event in events}


class TestTheDeal:
    def test_each_seat_is_told_the_cards_that_it_sees_at_once(self):
        assert feed(ALL_READY, deal(), 0)["dealt"]["hand"] == codes(DECK[0:7])
        assert feed(ALL_READY, deal(), 1)["dealt"]["hand"] == codes(DECK[7:12] + DECK[22:27])
        assert feed(ALL_READY, deal(), 2)["dealt"]["hand"] == codes(DECK[12:17] + DECK[27:32])

    def test_a_spectator_is_told_that_cards_were_dealt(self):
        assert set(feed(ALL_READY, deal())["dealt"]) == {"rules", "dealer"}

    def test_nobody_is_told_the_sealed_key(self):
        for seat in (None, 0, 1, 2):
            assert feed(ALL_READY, deal(), seat)["deal_started"] == {"deal": 1, "dealer": 2}

    def test_the_forehand_is_told_his_second_five_once_he_has_chosen(self):
        assert feed(dealt(), modest(dealt()), 0)["hand_completed"]["cards"] == codes(DECK[17:22])
        assert feed(dealt(), modest(dealt()), 1)["hand_completed"] == {"seat": 0}

    def test_others_are_told_that_trumps_were_chosen_and_whether_blind(self):
        assert feed(dealt(), play(ChooseTrump(seat=0, blind=2)), 1)["trump_chosen"] == {"seat": 0, "blind": 2}
        assert feed(dealt(), modest(dealt()), 1)["trump_chosen"] == {"seat": 0}
        assert "card" in feed(dealt(), modest(dealt()), 0)["trump_chosen"]

    def test_others_are_told_that_somebody_discarded(self):
        table = after(dealt(), modest(dealt()))
        assert feed(table, modest(table), 2)["discarded"] == {"seat": 0}
        assert len(feed(table, modest(table), 0)["discarded"]["cards"]) == 2

    def test_who_takes_over_is_told_the_talon(self):
        table = after(dealt(), modest(dealt()))
        talon = feed(table, modest(table), 0)["discarded"]["cards"]
        table = after(table, modest(table))
        table = after(table, play(Declare(seat=0, game="colour")))
        assert feed(table, play(TakeOver(seat=1)), 1)["taken_over"]["cards"] == talon
        assert feed(table, play(TakeOver(seat=1)), 0)["taken_over"] == {"seat": 1}


def test_what_all_may_know_is_written_once():
    table = before_the_last_card(dealt())
    assert shown_events(decide(table, modest(table))).by_seat == (None, None, None)


def test_no_seat_is_told_less_than_the_public():
    shown = shown_events(decide(ALL_READY, deal()))
    public = [event["type"] for event in json.loads(shown.public)]
    for own in shown.by_seat:
        assert [event["type"] for event in json.loads(own)] == public


class TestTables:
    def test_the_join_code_is_not_told(self):
        command = OpenTable(now=0, creator=ANA.id, game="voleny", rules=Rules(), private=True, code="krk")
        assert "code" not in feed(INITIAL, command)["table_opened"]

    def test_transfers_are_between_a_player_and_the_bank(self):
        assert feed(opened(**BANKROLL), sit(BARA, transfer="t"))["chips_brought"] == {
            "seat": 0, "player": BARA.id, "chips": 1000,
        }  # fmt: skip

    def test_deadlines_are_told_as_times_of_day(self):
        table = dealt(turn_seconds=30)
        assert feed(table, modest(table, now=table.deadline.at))["deadline_set"] == {"at": "2026-01-01T00:01:00.000Z"}

    def test_a_bots_turn_has_no_deadline(self):
        assert feed(dealt(turn_seconds=30), leave(ANA))["deadline_set"] == {"at": None}


class TestKinds:
    def test_a_move_between_players_concerns_nobody_else(self):
        table = dealt()
        assert kinds(decide(table, modest(table)), table) == ""

    @pytest.mark.parametrize(
        ("table", "command", "kind"),
        [
            pytest.param(opened(), sit(ANA), "lobby", id="somebody sits down"),
            pytest.param(opened(private=True), sit(ANA), "", id="nobody looks for private tables"),
            pytest.param(full(), leave(ANA), "lobby", id="somebody leaves"),
            pytest.param(full(), ready(ANA), "", id="being ready is seen at the table"),
            pytest.param(opened(**BANKROLL), sit(ANA, transfer="t"), "chips,lobby", id="chips come to the table"),
            pytest.param(opened(bots=(0, 1, 2)), deal(), "bot", id="a bot is to act"),
            pytest.param(dealt(), leave(ANA), "bot,lobby", id="a bot takes a seat over"),
        ],
    )
    def test_who_cares(self, table, command, kind):
        assert kinds(decide(table, command), after(table, command)) == kind

    def test_the_end_of_a_deal_is_for_the_bank_and_the_records(self):
        table = before_the_last_card(dealt())
        events = decide(table, modest(table))
        assert kinds(events, after(table, modest(table))) == "bank,record"
        assert ends_deal(events)
        assert not ends_deal(decide(dealt(), modest(dealt())))


def test_a_deadline_of_no_bot_wakes_no_bot():
    assert kinds((DeadlineSet(at=None, kind="bot"),), dealt()) == ""

"""Who may sit where and when (contract §3): opening, sitting, being ready, leaving, private tables."""

import pytest

from engine.games.voleny.rules import Rules
from engine.table import INITIAL, OpenTable, decide, due, seat_of
from engine.table.clock import Due
from engine.table.events import BecameReady, SatDown, SeatFreed, SeatLeft
from tests.cast import ANA, BARA, CYRIL, DANA, SEATED
from tests.table.house import (
    after,
    deal,
    dealt,
    finished,
    full,
    leave,
    modest,
    next_deal,
    opened,
    played_out,
    ready,
    refused,
    sit,
)

WITH_BOTS = {"bots": (0, 2)}
IN_A_DEAL = dealt()
ANA_LEFT = after(IN_A_DEAL, leave(ANA))
OVER = finished()


@pytest.mark.parametrize(
    ("table", "command", "seat"),
    [
        pytest.param(opened(), sit(ANA), 0, id="without a seat one gets the lowest free one"),
        pytest.param(after(opened(), sit(ANA)), sit(BARA), 1, id="and the next one gets the next"),
        pytest.param(opened(), sit(ANA, 2), 2, id="or the seat that one asks for"),
        pytest.param(after(opened(), sit(ANA, 1)), sit(BARA), 0, id="lowest means lowest, not next"),
        pytest.param(opened(**WITH_BOTS), sit(ANA), 1, id="bots sit from the opening"),
        pytest.param(after(full(), leave(BARA)), sit(DANA), 1, id="a seat that was left is free between deals"),
        pytest.param(ANA_LEFT, sit(ANA), 0, id="who left in a deal may sit again in the same seat"),
        pytest.param(ANA_LEFT, sit(ANA, 0), 0, id="also by its number"),
    ],
)
def test_sitting_down(table, command, seat):
    assert decide(table, command)[0] == SatDown(seat=seat, player=command.player, name=command.name)


@pytest.mark.parametrize(
    ("table", "command", "code"),
    [
        pytest.param(INITIAL, sit(ANA), "not_found", id="a table must have been opened"),
        pytest.param(after(opened(), sit(ANA, 1)), sit(BARA, 1), "seat_taken", id="a seat has one player"),
        pytest.param(opened(**WITH_BOTS), sit(ANA, 0), "seat_taken", id="a bot's seat is taken"),
        pytest.param(full(), sit(DANA), "table_full", id="a table has three seats"),
        pytest.param(IN_A_DEAL, sit(DANA), "table_full", id="also while a deal is running"),
        pytest.param(full(), sit(ANA), "already_seated", id="nobody sits down twice"),
        pytest.param(full(), sit(ANA, 1), "already_seated", id="nor in another seat"),
        pytest.param(ANA_LEFT, sit(DANA), "deal_running", id="a seat left in a deal is kept until it ends"),
        pytest.param(ANA_LEFT, sit(DANA, 0), "deal_running", id="also if one asks for it"),
        pytest.param(ANA_LEFT, sit(ANA, 1), "already_seated", id="who comes back comes back to his own seat"),
        pytest.param(OVER, sit(DANA), "table_closed", id="a finished table takes nobody"),
        pytest.param(INITIAL, ready(ANA), "not_found", id="nobody is ready at no table"),
        pytest.param(opened(), ready(ANA), "not_seated", id="being ready needs a seat"),
        pytest.param(after(full(), ready(ANA)), ready(ANA), "already_ready", id="one is ready once"),
        pytest.param(IN_A_DEAL, ready(ANA), "deal_running", id="in a deal nobody gets ready for the next"),
        pytest.param(ANA_LEFT, ready(ANA), "not_seated", id="who left is not ready"),
        pytest.param(OVER, ready(ANA), "table_closed", id="after the last deal nobody can be ready"),
        pytest.param(opened(), leave(ANA), "not_seated", id="leaving needs a seat"),
        pytest.param(ANA_LEFT, leave(ANA), "not_seated", id="one leaves once"),
        pytest.param(full(), deal(), "stale", id="nothing is dealt before all are ready"),
        pytest.param(IN_A_DEAL, deal(), "stale", id="nor while a deal is running"),
        pytest.param(full(), modest(IN_A_DEAL), "wrong_phase", id="before the first deal there is nothing to play"),
        pytest.param(next_deal(full()), modest(IN_A_DEAL), "deal_over", id="nor after a deal"),
    ],
)
def test_refusals(table, command, code):
    assert refused(table, command) == code


def test_a_table_is_opened_once():
    assert refused(opened(), OpenTable(now=0, creator=ANA.id, game="voleny", rules=Rules())) == "table_exists"


class TestPrivateTables:
    TABLE = opened(private=True, code="krk")

    def test_the_code_opens_the_table(self):
        assert decide(self.TABLE, sit(ANA, code="krk"))[0] == SatDown(seat=0, player=ANA.id, name=ANA.name)

    @pytest.mark.parametrize("code", ["", "KRK", "krk "])
    def test_nothing_but_the_code_does(self, code):
        assert refused(self.TABLE, sit(ANA, code=code)) == "code_wrong"

    def test_a_stranger_does_not_learn_which_seats_are_taken(self):
        assert refused(after(self.TABLE, sit(ANA, code="krk")), sit(BARA, 0)) == "code_wrong"

    def test_who_comes_back_is_known(self):
        table = after(self.TABLE, *(sit(player, code="krk") for player in SEATED), *map(ready, SEATED), deal())
        assert after(table, leave(ANA), sit(ANA)) == after(table, leave(ANA), sit(ANA, code="krk"))


class TestReady:
    def test_all_ready_brings_the_deal_at_once(self):
        almost = after(full(), ready(ANA), ready(BARA))
        assert due(almost) is None
        assert due(after(almost, ready(CYRIL))) == Due("deal", 0)

    def test_bots_are_always_ready(self):
        assert due(after(opened(**WITH_BOTS), sit(ANA), ready(ANA))) == Due("deal", 0)
        assert due(opened(bots=(0, 1, 2))) == Due("deal", 0)

    def test_each_deal_needs_the_word_again(self):
        assert due(next_deal(full())) is None

    def test_with_auto_ready_only_the_first(self):
        table = full(auto_ready=True)
        assert due(table) is None
        assert due(next_deal(table)) == Due("deal", 0)

    def test_auto_ready_does_not_speak_for_who_sat_down_later(self):
        table = played_out(after(dealt(auto_ready=True), leave(ANA)))
        assert due(after(table, sit(DANA))) is None
        assert due(after(table, sit(DANA), ready(DANA))) == Due("deal", 0)


class TestLeaving:
    def test_between_deals_the_seat_is_free_at_once(self):
        assert decide(full(), leave(BARA)) == (SeatLeft(seat=1, player=BARA.id), SeatFreed(seat=1))

    def test_in_a_deal_the_seat_is_only_left(self):
        assert decide(IN_A_DEAL, leave(BARA))[0] == SeatLeft(seat=1, player=BARA.id)
        assert SeatFreed(seat=1) not in decide(IN_A_DEAL, leave(BARA))

    def test_after_the_deal_it_is_free(self):
        table = played_out(after(IN_A_DEAL, leave(BARA)))
        assert [held and held.player for held in table.session.seats] == [ANA.id, None, CYRIL.id]

    def test_a_bot_plays_for_who_left_and_no_longer_once_he_is_back(self):
        left = after(IN_A_DEAL, leave(BARA))
        assert (seat_of(left, BARA.id), seat_of(left, "bot:1")) == (None, 1)
        back = after(left, sit(BARA))
        assert (seat_of(back, BARA.id), seat_of(back, "bot:1")) == (1, None)

    def test_who_came_back_stays_after_the_deal(self):
        table = played_out(after(IN_A_DEAL, leave(BARA), sit(BARA)))
        assert [held and held.player for held in table.session.seats] == [player.id for player in SEATED]

    def test_a_bot_gives_its_seat_to_nobody(self):
        assert seat_of(opened(**WITH_BOTS), "bot:0") == 0
        assert seat_of(opened(**WITH_BOTS), "bot:1") is None

    def test_a_finished_table_can_be_left(self):
        assert after(OVER, leave(ANA)).session.seats[0] is None

    def test_all_may_leave_in_a_deal_and_bots_finish_it(self):
        table = played_out(after(IN_A_DEAL, *map(leave, SEATED)))
        assert table.session.seats == (None, None, None)
        assert (table.session.deal, sum(table.session.bank)) == (1, 0)


def test_being_ready_says_no_more_than_that():
    assert decide(full(), ready(ANA)) == (BecameReady(seat=0),)

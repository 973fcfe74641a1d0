"""Deadlines (contract §3): turns, bots, seats that are not ready, and commands that come too late or too early."""

import pytest

from engine.table import Expire, decide, due
from engine.table.clock import Due
from engine.table.events import DeadlineSet, SatDown, SeatFreed, SeatLeft, TurnExpired
from engine.table.state import Deadline
from tests.cast import ANA, BARA, CYRIL, DANA, SEATED
from tests.table.house import NOON, after, deal, dealt, full, kinds, leave, modest, opened, ready, refused, sit

TURN = NOON + 30_000
BOT = NOON + 1_500
TIMED = {"turn_seconds": 30}


def expire(now, *, seen=5, version=5):
    return Expire(now=now, version_seen=seen, version=version)


def deadlines(events):
    return [event for event in events if isinstance(event, DeadlineSet)]


class TestTurns:
    def test_without_turn_seconds_players_have_for_ever(self):
        assert dealt().deadline is None
        assert due(dealt()) is None

    def test_the_deal_gives_the_forehand_his_time(self):
        assert due(dealt(**TIMED)) == Due("expire", TURN)

    def test_each_turn_has_its_whole_time(self):
        table = dealt(**TIMED)
        events = decide(table, modest(table, now=NOON + 7))
        assert deadlines(events) == [DeadlineSet(at=TURN + 7, kind="turn")]

    def test_coming_and_going_of_others_gives_no_more_time(self):
        assert deadlines(decide(dealt(**TIMED), leave(BARA, now=NOON + 7))) == []

    def test_the_end_of_a_deal_ends_the_last_deadline(self):
        table = dealt()._replace(deadline=None)
        assert deadlines(decide(table, modest(table))) == []

    def test_at_the_deadline_a_move_still_counts(self):
        table = dealt(**TIMED)
        assert after(table, modest(table, now=TURN)) != table

    def test_after_the_deadline_it_does_not(self):
        table = dealt(**TIMED)
        assert refused(table, modest(table, now=TURN + 1)) == "turn_expired"

    def test_who_is_not_to_act_hears_just_that(self):
        table = dealt(**TIMED)
        move = modest(after(table, modest(table)), now=TURN + 1)
        other = move.__class__(now=TURN + 1, seat=1, move=type(move.move)(seat=1, cards=move.move.cards))
        assert refused(table, other) == "not_your_turn"


class TestExpiry:
    def test_the_most_modest_move_is_played(self):
        table = dealt(**TIMED)
        expired, *played = decide(table, expire(TURN))
        assert expired == TurnExpired(seat=0)
        assert played == list(decide(table, modest(table, now=TURN)))

    @pytest.mark.parametrize(
        ("table", "command", "code"),
        [
            pytest.param(dealt(**TIMED), expire(TURN - 1), "not_due", id="not before the deadline"),
            pytest.param(dealt(**TIMED), expire(TURN, seen=4), "stale", id="not when something has happened since"),
            pytest.param(dealt(), expire(TURN), "stale", id="not without a deadline"),
            pytest.param(opened(), expire(TURN), "stale", id="not at an empty table"),
        ],
    )
    def test_nothing_expires(self, table, command, code):
        assert refused(table, command) == code

    def test_a_player_whose_time_ran_out_keeps_his_seat(self):
        assert after(dealt(**TIMED), expire(TURN)).session.seats == dealt(**TIMED).session.seats

    def test_the_clock_alone_plays_a_whole_deal(self):
        table = dealt(**TIMED)
        while table.session.stage == "deal":
            table = after(table, expire(table.deadline.at))
        assert table.session.deal == 1
        assert sum(table.session.bank) == 0


class TestBots:
    def test_others_wait_for_a_bot_a_second_and_a_half(self):
        table = after(opened(bots=(0, 1, 2)), deal())
        assert due(table) == Due("expire", BOT)

    def test_the_same_for_a_seat_that_was_left(self):
        assert due(after(dealt(), leave(ANA))) == Due("expire", BOT)

    def test_a_bot_has_no_more_time_at_a_table_with_turns(self):
        assert due(after(dealt(**TIMED), leave(ANA))) == Due("expire", BOT)

    def test_who_comes_back_has_the_time_of_a_player(self):
        back = after(dealt(**TIMED), leave(ANA), sit(ANA, now=NOON + 100))
        assert due(back) == Due("expire", TURN + 100)
        assert due(after(dealt(), leave(ANA), sit(ANA))) is None

    def test_a_late_bot_may_still_move_if_it_is_before_the_clock(self):
        table = after(opened(bots=(0, 1, 2)), deal())
        assert after(table, modest(table, now=BOT + 1)) != table

    def test_the_clock_plays_for_a_silent_bot(self):
        table = after(opened(bots=(0, 1, 2)), deal())
        assert decide(table, expire(BOT))[0] == TurnExpired(seat=0)

    def test_the_deadline_ends_with_the_turn_of_the_bot(self):
        table = after(opened(bots=(0,)), sit(BARA), sit(CYRIL), ready(BARA), ready(CYRIL), deal())
        while table.deadline is not None:
            before, table = table, after(table, modest(table))
        assert deadlines(decide(before, modest(before))) == [DeadlineSet(at=None, kind="bot")]


class TestReadiness:
    def test_who_is_not_ready_within_the_time_of_a_turn_leaves(self):
        table = after(full(**TIMED), ready(BARA))
        assert decide(table, expire(TURN)) == (
            SeatLeft(seat=0, player=ANA.id),
            SeatFreed(seat=0),
            SeatLeft(seat=2, player=CYRIL.id),
            SeatFreed(seat=2),
            DeadlineSet(at=None, kind="ready"),
        )

    def test_the_time_runs_once_the_table_is_full(self):
        assert due(after(opened(**TIMED), sit(ANA), sit(BARA))) is None
        assert due(full(**TIMED)) == Due("expire", TURN)

    def test_one_who_gets_ready_gives_the_others_no_more_time(self):
        assert deadlines(decide(full(**TIMED), ready(ANA, now=NOON + 9))) == []

    def test_when_all_are_ready_nobody_is_waited_for(self):
        table = after(full(**TIMED), *map(ready, SEATED))
        assert (table.deadline, due(table)) == (None, Due("deal", 0))

    def test_when_somebody_leaves_the_others_have_time(self):
        assert due(after(full(**TIMED), leave(ANA))) is None

    def test_a_new_player_starts_the_time_again(self):
        table = after(full(**TIMED), leave(ANA), sit(DANA, now=NOON + 50))
        assert due(table) == Due("expire", TURN + 50)

    def test_between_deals_the_time_runs_from_the_end_of_the_deal(self):
        table = dealt(**TIMED)
        while table.session.stage == "deal":
            table = after(table, modest(table, now=NOON + 77))
        assert due(table) == Due("expire", TURN + 77)

    def test_a_bot_never_leaves(self):
        table = after(opened(bots=(0,), **TIMED), sit(BARA), sit(CYRIL))
        assert kinds(decide(table, expire(TURN))).count("SeatLeft") == 2

    def test_without_turn_seconds_nobody_is_put_out(self):
        assert due(full()) is None


def test_a_deadline_is_set_only_when_it_changes():
    assert decide(full(), leave(ANA))[-1] == SeatFreed(seat=0)
    assert decide(opened(), sit(ANA)) == (SatDown(seat=0, player=ANA.id, name=ANA.name),)


class TestGaps:
    """Spans in which nobody could play: the service was away, or its clock was put forward."""

    AWAY = ((NOON + 10_000, NOON + 3_600_000),)
    AGAIN = NOON + 3_600_000 + 30_000

    def test_a_deadline_inside_is_granted_anew_instead_of_expired(self):
        events = decide(dealt(**TIMED), expire(NOON + 3_600_000), self.AWAY)
        assert events == (DeadlineSet(at=self.AGAIN, kind="turn"),)

    def test_a_move_that_only_the_gap_made_late_counts_and_the_history_says_why(self):
        table = dealt(**TIMED)
        move = modest(table, now=NOON + 3_605_000)
        granted, *events = decide(table, move, self.AWAY)
        assert granted == DeadlineSet(at=self.AGAIN, kind="turn")
        assert events == [
            *decide(table, modest(table, now=NOON + 1_000))[:-1],
            DeadlineSet(at=NOON + 3_635_000, kind="turn")
        ]

    def test_what_was_over_before_stays_over(self):
        table = dealt(**TIMED)
        gaps = ((TURN + 1, TURN + 3_600_000),)
        assert kinds(decide(table, expire(TURN + 3_600_000), gaps))[0] == "TurnExpired"
        assert refused(table, modest(table, now=TURN + 3_600_001), gaps) == "turn_expired"

    def test_so_does_what_is_over_even_with_the_new_time(self):
        table = dealt(**TIMED)
        assert kinds(decide(table, expire(self.AGAIN), self.AWAY))[0] == "TurnExpired"
        assert refused(table, modest(table, now=self.AGAIN + 1), self.AWAY) == "turn_expired"

    def test_a_turn_that_the_gap_only_shortened_is_granted_anew_when_it_is_over(self):
        gaps = ((NOON + 10_000, NOON + 25_000),)
        events = decide(dealt(**TIMED), expire(TURN), gaps)
        assert events == (DeadlineSet(at=NOON + 55_000, kind="turn"),)

    def test_a_turn_that_began_after_it_is_not(self):
        gaps = ((NOON - 60_000, NOON),)
        assert kinds(decide(dealt(**TIMED), expire(TURN), gaps))[0] == "TurnExpired"

    def test_gaps_one_after_the_other_all_count(self):
        gaps = (*self.AWAY, (NOON + 3_610_000, NOON + 3_620_000))
        events = decide(dealt(**TIMED), expire(NOON + 3_620_000), gaps)
        assert events == (DeadlineSet(at=NOON + 3_650_000, kind="turn"),)

    def test_nobody_waits_longer_for_a_bot(self):
        table = dealt()
        table = table._replace(deadline=Deadline(NOON + 20_000, "bot"))
        assert kinds(decide(table, expire(NOON + 3_600_000), self.AWAY))[0] == "TurnExpired"

    def test_an_old_expiry_grants_nothing(self):
        assert refused(dealt(**TIMED), expire(NOON + 3_600_000, seen=4), self.AWAY) == "stale"

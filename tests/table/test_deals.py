"""How deals follow each other: the dealer (§2.1), the length of a session, the extra round, the standing."""

import pytest

from engine.table import decide, due, fold
from engine.table.events import DealEnded, DealStarted, Place, RoundExtended, TableFinished
from tests.cast import ANA, BARA, CYRIL, SEATED
from tests.table.house import (
    after,
    before_the_last_card,
    deal,
    dealt,
    full,
    kinds,
    leave,
    modest,
    next_deal,
    played_out,
    ready,
    with_score,
)


def started(events):
    return next(event for event in events if isinstance(event, DealStarted))


@pytest.mark.parametrize("drawn", [0, 1, 2])
def test_the_first_dealer_is_drawn_and_then_the_old_forehand_deals(drawn):
    table = after(full(), *map(ready, SEATED))
    dealers = []
    for number in range(1, 5):
        event = started(decide(table, deal(first_dealer=drawn)))
        assert event.deal == number
        dealers.append(event.dealer)
        table = after(played_out(after(table, deal(first_dealer=drawn))), *map(ready, SEATED))
    assert dealers == [(drawn + turn) % 3 for turn in range(4)]


def test_a_deal_begins_with_its_number_and_ends_with_its_payments():
    table = before_the_last_card(dealt())
    assert kinds(decide(full_and_ready(), deal()))[:2] == ["DealStarted", "Dealt"]
    events = decide(table, modest(table))
    assert kinds(events)[:3] == ["CardPlayed", "TrickTaken", "DealScored"]
    ended = events[3]
    assert isinstance(ended, DealEnded)
    assert (ended.deal, sum(ended.payments)) == (1, 0)
    assert fold(table, events).session.bank == ended.payments


def full_and_ready():
    return after(full(), *map(ready, SEATED))


def _payments(**options):
    table = before_the_last_card(dealt(**options))
    return next(event.payments for event in decide(table, modest(table)) if isinstance(event, DealEnded))


def _ends_with(score, **options):
    """The last move of the first deal, from a score that makes it end with `score`."""
    table = before_the_last_card(dealt(**options))
    begin = tuple(want - got for want, got in zip(score, _payments(**options), strict=True))
    table = with_score(table, begin)
    return table, decide(table, modest(table))


class TestTheEnd:
    def test_an_open_end_has_no_last_deal(self):
        table, events = _ends_with((4, -2, -2), deals=None)
        assert not {"RoundExtended", "TableFinished"} & set(kinds(events))
        assert fold(table, events).session.stage == "lobby"

    def test_before_the_last_deal_the_session_goes_on(self):
        table, events = _ends_with((4, -2, -2), deals=2)
        assert fold(table, events).session.stage == "lobby"

    def test_after_the_last_deal_the_standing_is_final(self):
        table, events = _ends_with((-2, 4, -2), deals=1)
        first = Place(place=1, seat=1, player=BARA.id, name=BARA.name, chips=4)
        second = Place(place=2, seat=0, player=ANA.id, name=ANA.name, chips=-2)
        third = Place(place=2, seat=2, player=CYRIL.id, name=CYRIL.name, chips=-2)
        assert events[-1] == TableFinished(standing=(first, second, third))
        assert fold(table, events).session.stage == "over"
        assert due(fold(table, events)) is None

    def test_who_left_in_the_last_deal_is_in_the_standing(self):
        table = before_the_last_card(after(dealt(deals=1), leave(CYRIL)))
        table = with_score(table, (1000, 500, -1500))
        finished = next(event for event in decide(table, modest(table)) if isinstance(event, TableFinished))
        assert [place.name for place in finished.standing] == ["Ana", "Bára", "Cyril"]
        assert after(table, modest(table)).session.seats[2] is None

    @pytest.mark.parametrize("score", [(2, 2, -4), (0, 0, 0), (-4, 2, 2)])
    def test_a_shared_first_place_adds_three_deals(self, score):
        table, events = _ends_with(score, deals=1)
        assert RoundExtended(deals=4) in events
        session = fold(table, events).session
        assert (session.stage, session.deals) == ("lobby", 4)

    def test_a_shared_second_place_adds_nothing(self):
        _, events = _ends_with((4, -2, -2), deals=1)
        assert "RoundExtended" not in kinds(events)

    def test_the_round_is_extended_once(self):
        table, events = _ends_with((2, 2, -4), deals=1)
        table = fold(table, events)
        for _ in range(2):
            table = next_deal(table)
        table = before_the_last_card(after(table, *map(ready, SEATED), deal()))
        payments = next(event.payments for event in decide(table, modest(table)) if isinstance(event, DealEnded))
        table = with_score(table, tuple(want - got for want, got in zip((1, 1, -2), payments, strict=True)))
        finished = decide(table, modest(table))[-1]
        assert isinstance(finished, TableFinished)
        assert [place.place for place in finished.standing] == [1, 1, 3]


def test_free_balances_stay_with_the_seat():
    table, events = _ends_with((4, -2, -2))
    assert after(fold(table, events), leave(ANA)).session.bank == (4, -2, -2)

"""Chips at the table (contract §3, stake bankroll): nobody can lose more than lies before him, and all comes home."""

import pytest

from engine.games.voleny.rules import Rules
from engine.table import INITIAL, OpenTable, decide
from engine.table.events import ChipsBrought, ChipsReturned, SatDown, SeatFreed, SeatLeft
from tests.cast import ANA, BARA, CYRIL, DANA, SEATED
from tests.table.house import (
    NOON,
    after,
    before_the_last_card,
    deal,
    dealt,
    full,
    kinds,
    leave,
    modest,
    opened,
    played_out,
    ready,
    refused,
    sit,
)

BANKROLL = {"stake": "bankroll", "buy_in": 100, "rules": Rules(cap=50)}


def opening(**options):
    return OpenTable(now=NOON, creator=ANA.id, game="voleny", **{"stake": "bankroll", **options})


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(opening(rules=Rules(cap=0), buy_in=1000), "bankroll_needs_cap", id="without a cap all may go"),
        pytest.param(opening(rules=Rules(cap=50), buy_in=99), "buy_in_too_low", id="a buy-in covers twice the cap"),
    ],
)
def test_a_table_where_one_could_lose_more_than_he_brings_is_not_opened(command, code):
    assert refused(INITIAL, command) == code


def test_twice_the_cap_is_enough():
    assert len(decide(INITIAL, opening(rules=Rules(cap=50), buy_in=100))) == 1


def test_sitting_down_brings_the_buy_in():
    assert decide(opened(**BANKROLL), sit(ANA, transfer="t1")) == (
        SatDown(seat=0, player=ANA.id, name=ANA.name),
        ChipsBrought(seat=0, player=ANA.id, chips=100, transfer="t1"),
    )
    assert full(**BANKROLL).session.bank == (100, 100, 100)


def test_leaving_returns_what_lies_at_the_seat():
    table = played_out(dealt(**BANKROLL))
    chips = table.session.bank[0]
    assert chips != 100
    assert decide(table, leave(ANA))[:3] == (
        SeatLeft(seat=0, player=ANA.id),
        ChipsReturned(seat=0, player=ANA.id, chips=chips, transfer="in-Ana-back"),
        SeatFreed(seat=0),
    )
    assert after(table, leave(ANA)).session.bank[0] == 0


def test_who_left_in_a_deal_has_his_chips_back_after_it():
    table = before_the_last_card(after(dealt(**BANKROLL), leave(CYRIL)))
    assert "ChipsReturned" not in kinds(decide(dealt(**BANKROLL), leave(CYRIL)))
    returned = [event for event in decide(table, modest(table)) if isinstance(event, ChipsReturned)]
    assert [(event.seat, event.player, event.transfer) for event in returned] == [(2, CYRIL.id, "in-Cyril-back")]
    assert after(table, modest(table)).session.bank[2] == 0


def test_who_comes_back_in_the_deal_brings_nothing_again():
    table = after(dealt(**BANKROLL), leave(CYRIL))
    assert kinds(decide(table, sit(CYRIL, transfer="again"))) == ["SatDown"]
    table = after(table, sit(CYRIL, transfer="again"))
    assert table.session.bank == (100, 100, 100)
    assert decide(played_out(table), leave(CYRIL))[1].transfer == "in-Cyril-back"


def _with_bank(table, bank):
    return table._replace(session=table.session._replace(bank=bank))


def test_one_who_holds_less_than_he_can_lose_is_not_ready():
    table = _with_bank(full(**BANKROLL), (99, 100, 101))
    assert refused(table, ready(ANA)) == "insufficient_chips"
    assert decide(table, ready(BARA))
    assert decide(table, ready(CYRIL))


def test_auto_ready_does_not_speak_for_him_either():
    table = before_the_last_card(dealt(auto_ready=True, **BANKROLL))
    short = _with_bank(table, (90, 300, 300))
    readied = [event.seat for event in decide(short, modest(short)) if type(event).__name__ == "BecameReady"]
    assert readied == [1, 2]


def test_the_house_brings_chips_for_a_bot_that_is_short():
    table = after(opened(bots=(1, 2), **BANKROLL), sit(ANA, transfer="t"), ready(ANA))
    assert decide(table, deal())[:2] == (
        ChipsBrought(seat=1, player="", chips=100, transfer="house-1"),
        ChipsBrought(seat=2, player="", chips=100, transfer="house-2"),
    )
    second = after(played_out(after(table, deal())))
    short = _with_bank(second, (200, 99, 120))
    brought = [event for event in decide(after(short, ready(ANA)), deal()) if isinstance(event, ChipsBrought)]
    assert brought == [ChipsBrought(seat=1, player="", chips=100, transfer="house-1")]


def test_at_the_end_of_the_session_all_chips_go_home():
    table = dealt(deals=1, **BANKROLL)
    table = before_the_last_card(table._replace(session=table.session._replace(score=(9, 0, -9))))
    events = decide(table, modest(table))
    returned = [event for event in events if isinstance(event, ChipsReturned)]
    assert [event.player for event in returned] == [player.id for player in SEATED]
    assert sum(event.chips for event in returned) == 300
    over = after(table, modest(table))
    assert (over.session.stage, over.session.bank) == ("over", (0, 0, 0))
    assert kinds(decide(over, leave(ANA))) == ["SeatLeft", "SeatFreed"]


def test_a_new_player_brings_his_own_chips():
    table = after(played_out(dealt(**BANKROLL)), leave(ANA), sit(DANA, transfer="dana"))
    assert table.session.bank[0] == 100


def test_the_standing_is_what_was_won_not_what_was_brought():
    table = played_out(dealt(**BANKROLL))
    assert sum(table.session.score) == 0
    assert sum(table.session.bank) == 300

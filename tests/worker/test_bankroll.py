"""Chips move from an account to a table and back once, whoever dies between the two sides."""

import pytest

from services.store import accounts, keys, views
from services.worker import batch, handle
from tests.worker.house import ANA, BARA, CYRIL, PLAYERS, TABLE, House, worker

CAP = {"preset": "hospoda", "cap": 100}


@pytest.fixture
def bankroll(house: House) -> House:
    """A table with a buy-in of 300, and three accounts of 1,000."""
    for player in PLAYERS:
        accounts.open_account(house.redis, player, 1_000)
    house.open(stake="bankroll", buy_in=300, rules=CAP)
    return house


def balances(house: House) -> list[int | None]:
    return [accounts.balance(house.redis, player) for player in PLAYERS]


def test_sitting_down_takes_the_buy_in_to_the_table(bankroll: House) -> None:
    assert bankroll.say(TABLE, ANA, "sit")["s"] == "applied"
    assert balances(bankroll) == [700, 1_000, 1_000]
    assert bankroll.view()["bank"] == [300, 0, 0]


def test_who_cannot_pay_does_not_sit_down(bankroll: House) -> None:
    accounts.withdraw(bankroll.redis, ANA, "elsewhere", 900, "t-00-00000000000f")
    refused = bankroll.say(TABLE, ANA, "sit")
    assert (refused["c"], refused["d"]) == ("insufficient_chips", {"balance": 100, "chips": 300})
    assert bankroll.view()["seats"] == [None] * 3
    assert balances(bankroll)[0] == 100


def test_who_has_no_account_does_not_sit_down(bankroll: House) -> None:
    assert bankroll.say(TABLE, "u-03-00000000000000ff", "sit")["c"] == "insufficient_chips"


def test_a_seat_that_is_refused_costs_nothing(bankroll: House) -> None:
    bankroll.say(TABLE, ANA, "sit", seat=1)
    assert bankroll.say(TABLE, BARA, "sit", seat=1)["c"] == "seat_taken"
    assert bankroll.say(TABLE, ANA, "sit", seat=2)["c"] == "already_seated"
    assert balances(bankroll) == [700, 1_000, 1_000]


def test_free_tables_never_ask_an_account(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("an account was asked")

    monkeypatch.setattr(handle.accounts, "withdraw", refuse)
    house.open()
    assert house.say(TABLE, ANA, "sit")["s"] == "applied"


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("moment", ["before the buy-in", "after the buy-in"])
def test_a_worker_that_dies_around_the_buy_in_takes_it_once(
    bankroll: House, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    real = accounts.withdraw

    def withdraw(*args: object) -> None:
        monkeypatch.setattr(handle.accounts, "withdraw", real)
        if moment == "after the buy-in":
            real(*args)
        raise Killed

    monkeypatch.setattr(handle.accounts, "withdraw", withdraw)
    bankroll.send(TABLE, CYRIL, {"type": "sit"}, key="sit")
    with pytest.raises(Killed):
        bankroll.settle()
    bankroll.redis.delete(keys.workers(), *(keys.lease(each) for each in bankroll.worker.owned.leases))
    bankroll.worker = worker(bankroll.redis, "successor")
    bankroll.settle()
    assert views.receipt(bankroll.redis, TABLE, CYRIL, "sit")["s"] == "applied"
    assert balances(bankroll) == [1_000, 1_000, 700]
    assert bankroll.view()["bank"] == [300, 0, 0]


def test_a_buy_in_whose_seat_is_gone_when_it_is_decided_again_comes_back(bankroll: House) -> None:
    """Paid, but the table had moved on: decided again, the seat is taken, and the refusal is stored first."""
    stale = bankroll.worker._tables.get(TABLE)
    bankroll.say(TABLE, ANA, "sit", seat=0)
    bankroll.worker._tables.put(TABLE, stale)
    refused = bankroll.say(TABLE, BARA, "sit", seat=0)
    assert refused["c"] == "seat_taken"
    assert balances(bankroll) == [700, 1_000, 1_000]
    assert accounts.under_way(bankroll.redis, keys.partition_of(BARA)) == []


def test_a_refund_that_was_not_made_because_the_worker_died_is_left_under_way(
    bankroll: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes settle it: they know from the table's history that it never arrived."""
    stale = bankroll.worker._tables.get(TABLE)
    bankroll.say(TABLE, ANA, "sit", seat=0)
    bankroll.worker._tables.put(TABLE, stale)

    def die(*args: object) -> None:
        raise Killed

    monkeypatch.setattr(batch.accounts, "refund", die)
    bankroll.send(TABLE, BARA, {"type": "sit", "seat": 0}, key="sit")
    with pytest.raises(Killed):
        bankroll.settle()
    assert views.receipt(bankroll.redis, TABLE, BARA, "sit")["c"] == "seat_taken"
    assert balances(bankroll)[1] == 700
    [buy_in] = accounts.under_way(bankroll.redis, keys.partition_of(BARA))
    assert (buy_in.player, buy_in.table) == (BARA, TABLE)


def test_the_house_brings_the_chips_of_bots(house: House) -> None:
    for player in PLAYERS:
        accounts.open_account(house.redis, player, 1_000)
    house.open(stake="bankroll", buy_in=300, rules=CAP, bots=[1, 2])
    house.say(TABLE, ANA, "sit")
    house.say(TABLE, ANA, "ready")
    assert house.view()["deal"] == 1
    assert house.view()["bank"] == [300, 300, 300]

"""Chips between accounts and tables: whoever dies between the two sides, none is lost and none is there twice."""

import random

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis

from engine.errors import RuleViolation
from services.processes import settlement, sweep
from services.processes.follow import Follower
from services.store import accounts, history, keys, outbox
from services.store.wire import StoreUnavailable
from services.worker import batch
from tests.worker.house import ANA, BARA, OTHER, PARTITIONS, PLAYERS, TABLE, House, worker

BUY_IN = 2_000
LATER = 10**15


@pytest.fixture
def house():
    """A store with one worker, at which three players have an account each."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    for player in PLAYERS:
        accounts.open_account(client, player)
    yield House(client)
    client.close()


def settle(redis: Redis, *, forgotten: bool = True) -> None:
    """Everything is handled that the log points at, and what was forgotten is found."""
    follower(redis).turn(None)
    follower(redis).turn(None)
    for partition in settlement.concerned(redis, PARTITIONS):
        settlement.retry_stuck(redis, partition)
        if forgotten:
            settlement.forgotten(redis, partition, LATER)


def follower(redis: Redis) -> Follower:
    """A process that has just started."""
    return Follower(redis, settlement.PROCESS, PARTITIONS, lambda told: settlement.settlement(redis, told))


def succeed(house: House) -> None:
    """The worker is dead, its leases have run out, and another begins."""
    house.redis.delete(keys.workers(), *(keys.lease(partition) for partition in PARTITIONS))
    house.worker = worker(house.redis, "successor")


def at_tables(house: House) -> int:
    """The chips that lie at tables, by their own histories."""
    tables = [table for partition in PARTITIONS for table in history.tables_of(house.redis, partition)]
    return sum(sum(house.view(table)["bank"]) for table in tables)


def in_accounts(redis: Redis) -> int:
    """The chips of all players and of the house."""
    names = [name.decode().rpartition(":")[2] for name in redis.keys("m:*:acct:*")]
    chips = {name: accounts.balance(redis, name) for name in names}
    assert all(balance >= 0 for name, balance in chips.items() if not name.endswith("-house"))
    return sum(chips.values())


def assert_all_chips_are_there(house: House) -> None:
    """Accounts, house and tables are zero together, and nothing is under way."""
    assert in_accounts(house.redis) + at_tables(house) == 0
    assert [each for partition in PARTITIONS for each in accounts.under_way(house.redis, partition)] == []


def test_a_buy_in_goes_to_the_table_and_what_is_left_comes_back(house: House) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    assert house.say(TABLE, ANA, "sit")["s"] == "applied"
    assert accounts.balance(house.redis, ANA) == 10_000 - BUY_IN
    settle(house.redis, forgotten=False)
    assert_all_chips_are_there(house)
    assert house.say(TABLE, ANA, "leave")["s"] == "applied"
    settle(house.redis)
    settle(house.redis)
    assert accounts.balance(house.redis, ANA) == 10_000
    ledger = accounts.postings(house.redis, ANA, None, 10).postings
    assert [(posting.chips, posting.table) for posting in ledger] == [
        (10_000, None), (-BUY_IN, TABLE), (BUY_IN, TABLE)
    ]
    assert ledger[-1].version == 3, "it leads to the event that returned them"


def test_bots_play_from_the_account_of_the_house(house: House) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN, bots=[1, 2])
    house.say(TABLE, ANA, "sit")
    house.say(TABLE, ANA, "ready")
    assert house.view()["phase"] != "lobby"
    settle(house.redis)
    assert accounts.balance(house.redis, keys.HOUSE) == -2 * BUY_IN - 10_000, "it has opened Ana's account, too"
    assert_all_chips_are_there(house)


def test_who_cannot_pay_does_not_sit(house: House) -> None:
    house.open(stake="bankroll", buy_in=10_001)
    answer = house.say(TABLE, ANA, "sit")
    assert answer["c"] == "insufficient_chips"
    assert accounts.balance(house.redis, ANA) == 10_000
    assert_all_chips_are_there(house)


def test_a_worker_that_dies_after_it_has_withdrawn_is_succeeded_without_loss(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)

    def die(*given: object) -> None:
        raise StoreUnavailable("the worker is gone")

    monkeypatch.setattr(batch, "apply_many", die)
    house.send(TABLE, ANA, {"type": "sit"})
    with pytest.raises(StoreUnavailable):
        house.settle()
    monkeypatch.undo()
    assert accounts.balance(house.redis, ANA) == 10_000 - BUY_IN, "one side is done"
    assert house.view()["bank"] == [0, 0, 0], "the other is not"
    settle(house.redis)
    assert accounts.balance(house.redis, ANA) == 10_000 - BUY_IN, "what may still come is left alone"
    succeed(house)
    house.settle()
    assert house.view()["bank"] == [BUY_IN, 0, 0]
    settle(house.redis)
    assert_all_chips_are_there(house)


def test_a_buy_in_of_a_sit_that_was_refused_is_given_back_though_its_worker_died(house: House) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, ANA, "sit")
    house.say(TABLE, BARA, "leave")
    cursor = history.cursors(house.redis, ["01"])["01"]
    accounts.withdraw(house.redis, BARA, f"{TABLE}.{cursor}", BUY_IN, TABLE)
    settlement.forgotten(house.redis, "01", 0)
    assert accounts.balance(house.redis, BARA) == 10_000 - BUY_IN, "it is not old enough"
    settle(house.redis)
    assert accounts.balance(house.redis, BARA) == 10_000
    with pytest.raises(RuleViolation, match="transfer_refunded"):
        accounts.withdraw(house.redis, BARA, f"{TABLE}.{cursor}", BUY_IN, TABLE)
    assert_all_chips_are_there(house)


@pytest.mark.parametrize("foreign", ["nonsense", f"{BARA}|{TABLE}|nonsense", f"{BARA}|nowhere|nowhere.1-0", "a|b|c|d"])
def test_a_buy_in_that_no_worker_named_is_told_and_keeps_none_of_the_others(
    house: House, foreign: str, caplog: pytest.LogCaptureFixture
) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, BARA, "leave")
    cursor = history.cursors(house.redis, ["01"])["01"]
    house.redis.hset(keys.buy_ins("01"), foreign, 1)
    accounts.withdraw(house.redis, BARA, f"{TABLE}.{cursor}", BUY_IN, TABLE)
    settle(house.redis)
    assert accounts.balance(house.redis, BARA) == 10_000
    assert "cannot be settled" in caplog.text
    assert foreign.encode() in house.redis.hkeys(keys.buy_ins("01")), "it stays for the operator to see"


def test_a_late_withdrawal_of_a_worker_that_was_long_replaced_is_given_back(house: House) -> None:
    """It had read the account before its successor refused the sit and found nothing to give back."""
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, BARA, "leave")
    transfer = f"{TABLE}.{history.cursors(house.redis, ['01'])['01']}"
    accounts.refund(house.redis, BARA, transfer)
    accounts.withdraw(house.redis, BARA, transfer, BUY_IN, TABLE)
    settle(house.redis)
    assert accounts.balance(house.redis, BARA) == 10_000
    assert_all_chips_are_there(house)


BETWEEN = ["refused", "swept", "refused swept", "swept refused", "swept swept"]


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("paid", [False, True])
def test_a_million_million_chips_come_back_whenever_a_late_withdrawal_falls(
    house: House, between: str, paid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker sleeps between reading the account and writing to it; meanwhile others refuse the sit and sweep."""
    rich, chips = "u-01-000000000000f00d", 10**12
    accounts.open_account(house.redis, rich, chips)
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, BARA, "leave")
    transfer = f"{TABLE}.{history.cursors(house.redis, ['01'])['01']}"
    if paid:
        accounts.withdraw(house.redis, rich, transfer, chips, TABLE)
    write = accounts._write

    def late(*given: object) -> bool:
        monkeypatch.setattr(accounts, "_write", write)
        for what in between.split():
            if what == "refused":
                accounts.refund(house.redis, rich, transfer)
            else:
                settlement.forgotten(house.redis, "01", LATER)
        return write(*given)

    monkeypatch.setattr(accounts, "_write", late)
    accounts.withdraw(house.redis, rich, transfer, chips, TABLE)
    settle(house.redis)
    assert accounts.balance(house.redis, rich) == chips
    assert_all_chips_are_there(house)


def test_a_buy_in_that_came_is_not_given_back_though_the_log_is_behind(house: House) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, ANA, "sit")
    for partition in PARTITIONS:
        settlement.forgotten(house.redis, partition, LATER)
    assert accounts.balance(house.redis, ANA) == 10_000 - BUY_IN
    assert_all_chips_are_there(house)


def test_a_process_that_dies_after_it_has_paid_pays_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, ANA, "sit")
    house.say(TABLE, ANA, "leave")
    for _ in range(3):
        dying = follower(house.redis)
        monkeypatch.setattr(dying, "keep", lambda: None)
        dying.turn(None)
        assert outbox.handled(house.redis, settlement.PROCESS, ["01"]) == {"01": outbox.START}
    settle(house.redis)
    assert accounts.balance(house.redis, ANA) == 10_000
    assert_all_chips_are_there(house)


def test_what_cannot_be_posted_is_kept_and_the_others_are_paid(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    for player in (ANA, BARA):
        house.say(TABLE, player, "sit")
        house.say(TABLE, player, "leave")
    name = keys.account(ANA)
    kept = house.redis.hgetall(name)
    house.redis.delete(name)
    house.redis.set(name, "?")
    settle(house.redis)
    assert accounts.balance(house.redis, BARA) == 10_000
    [field] = outbox.stuck(house.redis, "01")
    assert field == f"settlement/{TABLE}/3"
    assert "are not posted" in caplog.text
    house.redis.delete(name)
    house.redis.hset(name, mapping=kept)
    settle(house.redis)
    assert outbox.stuck(house.redis, "01") == {}
    assert accounts.balance(house.redis, ANA) == 10_000
    assert_all_chips_are_there(house)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_all_chips_are_there(
    house: House, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Players come, play, go and come again at two tables; workers and processes die at random."""
    chance = random.Random(seed)
    apply_many, seen, deaths = batch.apply_many, [], 0

    def mortal(redis: Redis, entries: list) -> list:
        seen.append(len(entries))
        if chance.random() < 0.05 and entries:
            apply_many(redis, entries[: chance.randrange(len(entries) + 1)])
            raise StoreUnavailable("the worker is gone")
        return apply_many(redis, entries)

    house.open(TABLE, stake="bankroll", buy_in=BUY_IN, bots=[2], auto_ready=True)
    house.open(OTHER, stake="bankroll", buy_in=BUY_IN + 500)
    monkeypatch.setattr(batch, "apply_many", mortal)
    for _ in range(150):
        table, player = chance.choice((TABLE, OTHER)), chance.choice(PLAYERS)
        kind = chance.choice(("sit", "sit", "ready", "ready", "leave"))
        house.send(table, player, {"type": kind})
        if table == TABLE and house.view(TABLE)["to_act"]:
            _play_one(house, chance)
        for _ in range(3):
            try:
                house.settle()
            except StoreUnavailable:
                deaths += 1
                succeed(house)
        if chance.random() < 0.2:
            dying = follower(house.redis)
            if chance.random() < 0.5:
                dying.keep = lambda: None  # type: ignore[method-assign]
            dying.turn(None)
    monkeypatch.undo()
    house.settle()
    settle(house.redis)
    assert deaths > 3
    assert_all_chips_are_there(house)
    transfers = [name for name in house.redis.keys("m:*:post:*") if b"house" not in name]
    assert sum(house.redis.xlen(name) for name in transfers) > 10


def _play_one(house: House, chance: random.Random) -> None:
    [seat] = house.view(TABLE)["to_act"]
    legal = house.view(TABLE, seat)["legal"]
    current = house.view(TABLE)["seats"][seat]
    actor = f"bot:{seat}" if current.get("bot") or current.get("away") else current["player"]
    if legal:
        house.send(TABLE, actor, chance.choice(legal))


def test_old_pointers_go_once_every_reader_has_passed_them(house: House) -> None:
    house.open()
    for _ in range(60):
        house.say(TABLE, ANA, "sit")
        house.say(TABLE, ANA, "leave")
    log = keys.log("01")
    settle(house.redis)
    sweep.trim(house.redis, PARTITIONS)
    assert house.redis.xlen(log) == 121, "the projections have not"
    ends = outbox.log_ends(house.redis, PARTITIONS)
    outbox.set_handled(house.redis, "bots", ends)
    house.redis.hset(keys.checkpoint("p01"), "01", ends["01"])
    sweep.trim(house.redis, PARTITIONS)
    assert 1 <= house.redis.xlen(log) < 121

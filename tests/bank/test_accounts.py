"""Accounts in the store: two sides to every posting, once by its id, never below zero, whoever dies."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from engine.errors import RuleViolation
from services.store import accounts, keys
from services.store.accounts import Origin, UnknownPosting
from tests.cast import ANA, BARA

TABLE = "t-0c-0123456789ab"


def total(store: Redis) -> int:
    """All chips: accounts and houses, and what lies at tables by the same postings."""
    by_account: dict[str, int] = {}
    for name in store.scan_iter("m:*:post:*"):
        player = name.decode().rpartition(":")[2]
        for _, fields in store.xrange(name):
            side = 1 if fields[b"credit"].decode() == player else -1
            by_account[player] = by_account.get(player, 0) + side * int(fields[b"chips"])
            table = next((fields[s] for s in (b"debit", b"credit") if fields[s].startswith(b"table:")), None)
            if table is not None:
                by_account[table.decode()] = by_account.get(table.decode(), 0) - side * int(fields[b"chips"])
        assert accounts.balance(store, player) == by_account[player]
    return sum(by_account.values())


def test_a_new_account_begins_with_a_grant_that_the_house_has_paid(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    accounts.open_account(store, ANA.id)
    accounts.open_account(store, ANA.id, chips=5)
    assert accounts.balance(store, ANA.id) == 10_000
    assert accounts.balance(store, accounts.house_of("0a")) == -10_000
    [grant] = accounts.postings(store, ANA.id, None, 10).postings
    assert (grant.chips, grant.table, grant.deal, grant.version) == (10_000, None, None, None)
    assert total(store) == 0


def test_who_has_no_account_has_no_balance(store: Redis) -> None:
    assert accounts.balance(store, ANA.id) is None
    assert accounts.postings(store, ANA.id, None, 10) == (0, ())


def test_a_transfer_is_done_once(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    for _ in range(3):
        accounts.withdraw(store, ANA.id, "sit-1", 4_000, TABLE)
    assert accounts.balance(store, ANA.id) == 6_000
    for _ in range(3):
        accounts.deposit(store, ANA.id, "sit-1-back", 4_100, Origin(TABLE, 3, 77))
    assert accounts.balance(store, ANA.id) == 10_100


def test_a_transfer_with_another_amount_under_the_same_id_is_refused(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    accounts.withdraw(store, ANA.id, "sit-1", 4_000, TABLE)
    with pytest.raises(RuleViolation, match="transfer_id_reused"):
        accounts.withdraw(store, ANA.id, "sit-1", 4_001, TABLE)
    assert accounts.balance(store, ANA.id) == 6_000


def test_an_account_never_goes_below_zero(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    with pytest.raises(RuleViolation, match="insufficient_chips"):
        accounts.withdraw(store, ANA.id, "sit-1", 10_001, TABLE)
    accounts.withdraw(store, ANA.id, "sit-1", 10_000, TABLE)
    assert accounts.balance(store, ANA.id) == 0
    with pytest.raises(RuleViolation, match="insufficient_chips"):
        accounts.withdraw(store, BARA.id, "sit-2", 1, TABLE)


def test_the_house_may_go_below_zero(store: Redis) -> None:
    accounts.lend(store, "bot-1", 10**12, Origin(TABLE, 1, 4))
    accounts.lend(store, "bot-1", 10**12, Origin(TABLE, 1, 4))
    assert accounts.balance(store, keys.HOUSE) == -(10**12)
    accounts.deposit(store, keys.HOUSE, "bot-1-back", 10**12 + 1, Origin(TABLE, 9, 400))
    assert accounts.balance(store, keys.HOUSE) == 1


@pytest.mark.parametrize("chips", [10**12, 10**12 + 1, 3 * 10**8, 2**53 + 1])
def test_large_amounts_arrive_unchanged(store: Redis, chips: int) -> None:
    accounts.open_account(store, ANA.id, chips=chips)
    accounts.withdraw(store, ANA.id, "sit", chips - 1, TABLE)
    accounts.deposit(store, ANA.id, "back", chips, Origin(TABLE, 1, 2))
    assert accounts.balance(store, ANA.id) == chips + 1
    amounts = [posting.chips for posting in accounts.postings(store, ANA.id, None, 10).postings]
    assert amounts == [chips, 1 - chips, chips]


def test_a_refused_sit_gives_its_chips_back_once(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    accounts.withdraw(store, ANA.id, "sit-1", 4_000, TABLE)
    for _ in range(3):
        accounts.refund(store, ANA.id, "sit-1")
    assert accounts.balance(store, ANA.id) == 10_000
    with pytest.raises(RuleViolation, match="transfer_refunded"):
        accounts.withdraw(store, ANA.id, "sit-1", 4_000, TABLE)
    assert total(store) == 0


def test_what_was_never_withdrawn_is_not_refunded(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    accounts.refund(store, ANA.id, "sit-1")
    assert accounts.balance(store, ANA.id) == 10_000


def test_a_buy_in_is_under_way_until_it_has_arrived_or_is_refunded(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    for transfer in ("sit-1", "sit-2", "sit-3"):
        accounts.withdraw(store, ANA.id, transfer, 100, TABLE)
    found = sorted(accounts.under_way(store, "0a"), key=lambda buy_in: buy_in.transfer)
    assert [buy_in[:3] for buy_in in found] == [(ANA.id, TABLE, f"sit-{n}") for n in (1, 2, 3)]
    accounts.arrived(store, found[0])
    accounts.refund(store, ANA.id, "sit-3")
    accounts.withdraw(store, ANA.id, "sit-1", 100, TABLE)
    assert [buy_in.transfer for buy_in in accounts.under_way(store, "0a")] == ["sit-2"]
    assert accounts.balance(store, ANA.id) == 9_800


def test_a_ledger_is_read_in_pages(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    for number in range(7):
        accounts.withdraw(store, ANA.id, f"sit-{number}", 10, TABLE)
    seen, after = [], None
    while page := accounts.postings(store, ANA.id, after, 3).postings:
        assert len(page) <= 3
        seen += page
        after = page[-1].id
    assert [posting.id for posting in seen] == [f"grant-{ANA.id}", *(f"sit-{number}" for number in range(7))]
    assert sum(posting.chips for posting in seen) == accounts.balance(store, ANA.id)


def test_a_page_after_an_unknown_posting_is_refused(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    with pytest.raises(UnknownPosting):
        accounts.postings(store, ANA.id, "nothing", 3)


def test_a_key_of_another_type_stops_the_whole_transfer(store: Redis) -> None:
    accounts.open_account(store, ANA.id)
    store.delete(keys.transfers(ANA.id))
    store.set(keys.transfers(ANA.id), "?")
    with pytest.raises(ResponseError):
        accounts.withdraw(store, ANA.id, "sit-1", 10, TABLE)
    assert accounts.balance(store, ANA.id) == 10_000
    assert store.xlen(keys.postings(ANA.id)) == 1


@pytest.mark.server
def test_many_at_once_lose_no_chip(server_url: str) -> None:
    from services.store.connect import connect

    client = connect(server_url)
    accounts.open_account(client, ANA.id)

    def take(number: int) -> str:
        try:
            accounts.withdraw(client, ANA.id, f"sit-{number % 20}", 700, TABLE)
        except RuleViolation as refusal:
            return refusal.code
        return "ok"

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(take, range(40)))
    assert set(answers) == {"ok", "insufficient_chips"}
    assert accounts.balance(client, ANA.id) == 10_000 - 14 * 700
    assert total(client) == 0
    client.close()

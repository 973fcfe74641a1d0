"""The bank is a column of answers: each line asks for a transfer and says what the bank makes of it."""

import random

import pytest

from engine.bank import Bank, Refund, Transfer, decide, evolve, is_limited
from engine.errors import RuleViolation

HOUSE = "u-00-house"

TABLES = {
    "a transfer is done once, however often it is asked": """
        t1 house ana   100 ok
        t1 house ana   100 again
        t1 house ana   101 transfer_id_reused
        t1 house bara  100 transfer_id_reused
        t1 ana   house 100 transfer_id_reused
        -- house -100 ana 100
    """,
    "nobody but the house goes below zero": """
        t1 house ana   100 ok
        t2 ana   bara  101 insufficient_chips
        t2 ana   bara  100 ok
        t3 ana   bara    1 insufficient_chips
        t4 dana  bara    1 insufficient_chips
        -- house -100 ana 0 bara 100
    """,
    "a refused transfer has not used up its id": """
        t1 ana   bara    5 insufficient_chips
        t2 house ana     5 ok
        t1 ana   bara    5 ok
        -- house -5 bara 5
    """,
    "chips are counted from one": """
        t1 house ana     0 chips_not_positive
        t2 house ana    -5 chips_not_positive
        t3 house ana     1 ok
        -- house -1 ana 1
    """,
    "the earlier fault is named": """
        t1 house ana   100 ok
        t1 ana   ana     0 transfer_id_reused
        t2 ana   ana     0 chips_not_positive
        t2 ana   ana   500 accounts_equal
        t2 ana   bara  500 insufficient_chips
        -- house -100 ana 100
    """,
    "a table takes what is brought and gives back what was won there": """
        g1 house ana  1000 ok
        g2 house bara 1000 ok
        b1 ana   table:t-1f-0a1b2c3d4e5f 1000 ok
        b2 bara  table:t-1f-0a1b2c3d4e5f 1000 ok
        b3 table:t-1f-0a1b2c3d4e5f ana   1400 ok
        b4 table:t-1f-0a1b2c3d4e5f bara   600 ok
        -- house -2000 ana 1400 bara 600 table:t-1f-0a1b2c3d4e5f 0
    """,
    "what did not come about is taken back once": """
        g1 house ana  1000 ok
        b1 ana   table:t-1f-0a1b2c3d4e5f 400 ok
        b1 refund ok
        b1 refund again
        b1 ana   table:t-1f-0a1b2c3d4e5f 400 transfer_refunded
        b1 ana   table:t-1f-0a1b2c3d4e5f 401 transfer_id_reused
        b2 refund again
        -- house -1000 ana 1000
    """,
    "what was spent meanwhile cannot be taken back": """
        g1 house ana   100 ok
        t1 ana   bara  100 ok
        t2 bara  cyril  60 ok
        t1 refund insufficient_chips
        -- house -100 bara 40 cyril 60
    """,
    "large amounts stay whole": """
        t1 house ana 1000000000001 ok
        t2 ana  bara 1000000000000 ok
        t3 house ana 9007199254740993 ok
        -- house -9008199254740994 ana 9007199254740994 bara 1000000000000
    """,
}


def _account(word: str) -> str:
    return HOUSE if word == "house" else word


def _command(words: list[str]) -> Transfer | Refund:
    if words[1] == "refund":
        return Refund(id=words[0])
    return Transfer(id=words[0], debit=_account(words[1]), credit=_account(words[2]), chips=int(words[3]))


def _answer(bank: Bank, command: Transfer | Refund) -> tuple[str, Bank]:
    try:
        events = decide(bank, command)
    except RuleViolation as refusal:
        return refusal.code, bank
    for event in events:
        bank = evolve(bank, event)
    return "ok" if events else "again", bank


@pytest.mark.parametrize("column", TABLES.values(), ids=TABLES)
def test_the_bank_answers(column: str) -> None:
    bank = Bank({}, {})
    for line in filter(None, map(str.strip, column.splitlines())):
        words = line.split()
        if words[0] == "--":
            _check_balances(bank, words[1:])
            return
        answer, bank = _answer(bank, _command(words))
        assert answer == words[-1], line
        assert sum(bank.balances.values()) == 0, line
    pytest.fail("a column ends with the balances")


def _check_balances(bank: Bank, words: list[str]) -> None:
    expected = {_account(name): int(chips) for name, chips in zip(words[::2], words[1::2], strict=True)}
    assert {account: chips for account, chips in bank.balances.items() if chips} == {
        account: chips for account, chips in expected.items() if chips
    }


@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_asked_chips_are_neither_made_nor_lost(seed: int) -> None:
    rng = random.Random(seed)
    accounts = [HOUSE, "ana", "bara", "cyril", "table:t-1f-0a1b2c3d4e5f"]
    bank = Bank({}, {})
    for number in range(400):
        transfer = f"t{rng.randrange(number + 1)}"
        debit, credit = rng.choice(accounts), rng.choice(accounts)
        asked = Transfer(id=transfer, debit=debit, credit=credit, chips=rng.randrange(-3, 50))
        _, bank = _answer(bank, rng.choice([asked, asked, Refund(id=transfer)]))
        assert sum(bank.balances.values()) == 0
        assert all(chips >= 0 for account, chips in bank.balances.items() if is_limited(account))

"""Tables at which nobody starts a deal, or goes on with one, end after a while: their chips go home, and whoever came
meanwhile stays."""

from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis, FakeServer

from services.jobs import bot_moves, close_tables, store
from services.processes import idle, settlement
from services.processes.follow import Follower
from services.processes.idle import Patience
from services.store import accounts
from tests.worker.house import ANA, BARA, OTHER, PARTITIONS, PLAYERS, TABLE, House

BUY_IN = 10**12
LONG_AGO = -60_000
"""Idle since before now, whatever happened a moment ago."""


@pytest.fixture
def house() -> Iterator[House]:
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    for player in PLAYERS:
        accounts.open_account(client, player, BUY_IN)
    store.use(client)
    yield House(client)
    client.close()


def found(house: House, lobby_ms: int | None = LONG_AGO, deal_ms: int | None = None) -> list[tuple[str, int]]:
    asked: list[tuple[str, int]] = []
    idle.ask(house.redis, PARTITIONS, Patience(lobby_ms, deal_ms), asked.extend)
    return asked


def close(house: House, tables: list[tuple[str, int]]) -> None:
    close_tables.close_tables(tables)
    house.settle()
    chips = Follower(
        house.redis, settlement.PROCESS, PARTITIONS, lambda told: settlement.settlement(house.redis, told)
    )
    chips.turn(None)
    chips.turn(None)


def test_a_table_where_nothing_has_happened_for_long_ends_and_its_chips_go_home(house: House) -> None:
    house.open(stake="bankroll", buy_in=BUY_IN)
    house.say(TABLE, ANA, "sit")
    assert found(house, 3_600_000) == []
    assert found(house) == [(TABLE, 2)]
    for _ in range(2):
        close(house, [(TABLE, 2)])
    view = house.view()
    assert (view["phase"], view["bank"], view["version"]) == ("over", [0, 0, 0], 3)
    assert accounts.balance(house.redis, ANA) == BUY_IN
    assert house.say(TABLE, BARA, "sit")["c"] == "table_closed"
    assert found(house) == []


def test_who_came_meanwhile_is_not_put_out(house: House) -> None:
    house.open()
    asked = found(house)
    house.say(TABLE, ANA, "sit")
    close(house, asked)
    assert house.view()["phase"] == "lobby"


def test_a_deal_that_runs_is_let_alone_and_other_tables_are_not(house: House) -> None:
    house.deal(TABLE)
    house.open(OTHER)
    assert found(house) == found(house, LONG_AGO, 3_600_000) == [(OTHER, 1)]
    close(house, found(house))
    assert house.view()["phase"] not in ("lobby", "over")
    assert house.view(OTHER)["phase"] == "over"
    assert found(house, None) == found(house, None, 3_600_000) == []


def test_a_deal_that_is_abandoned_is_played_by_bots_and_the_chips_go_home(house: House) -> None:
    house.deal(TABLE, stake="bankroll", buy_in=BUY_IN, rules={"preset": "hospoda", "cap": 100})
    house.play(2)
    assert found(house, None, 3_600_000) == []
    asked = found(house, None, LONG_AGO)
    assert asked == [(TABLE, house.view()["version"])]
    for _ in range(2):
        close(house, asked)
    assert {each["player"] for each in house.view()["seats"]} == set(PLAYERS), "seats are kept until the deal has ended"
    version = house.view()["version"]
    close(house, [(TABLE, version)])
    assert house.view()["version"] == version, "once they have left there is nobody to leave"
    assert house.say(TABLE, BARA, "sit")["s"] == "applied", "who comes back plays on"
    assert house.say(TABLE, BARA, "leave")["s"] == "applied"
    while house.view()["phase"] != "lobby":
        assert bot_moves.play(house.redis, [(TABLE, house.view()["version"])]) == 1
        house.settle()
    close(house, [])
    assert (house.view()["seats"], house.view()["bank"]) == ([None] * 3, [0, 0, 0])
    assert sum(accounts.balance(house.redis, player) for player in PLAYERS) == 3 * BUY_IN
    assert found(house) == [(TABLE, house.view()["version"])], "the lobby's rule ends the table"


def test_at_a_table_with_a_clock_nobody_is_put_out_of_a_deal(house: House) -> None:
    house.deal(TABLE, turn_seconds=30)
    assert found(house, None, LONG_AGO) == []
    before = house.view()
    close(house, [(TABLE, before["version"])])
    assert house.view() == before


def test_nobody_else_may_close_a_table(house: House) -> None:
    house.open()
    answer = house.say(TABLE, ANA, "close", version_seen=1)
    assert answer["s"] == "refused"


def test_many_tables_are_looked_at_some_at_a_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "TABLES_MAX", 2)
    names = [f"t-00-{number:012x}" for number in range(5)]
    for name in names:
        house.open(name)
    assert sorted(found(house)) == [(name, 1) for name in names]

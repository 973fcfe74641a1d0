"""One deal is read without those before it, and is told as if all of them had been read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer

from services.archive import folder
from services.archive.make import archive
from services.replay import past
from services.replay.moments import AUDITOR, Eye, Player, happened, moments, seen
from services.store import keys, projected
from services.store.history import entries_after
from tests.cast import ANA, BARA, CAST, CYRIL, DANA
from tests.projections.tables import Tables, follow, seated

TABLE = "t-0c-0123456789ab"
EYES: tuple[Eye, ...] = (0, 1, 2, None, AUDITOR, *(Player(player.id) for player in CAST))


@pytest.fixture
def redis() -> Iterator[FakeRedis]:
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield client
    client.close()


def assert_told_alike(redis: FakeRedis, table: str) -> int:
    """Every deal as it is told when all is read; gives how many deals there are."""
    whole = list(happened(table, entries_after(redis, table, 0)))
    deals = sorted({each.deal for each in whole})
    for number in deals:
        alone = past.deal(redis, table, number)
        assert [each.entry.version for each in alone] == [each.entry.version for each in whole if each.deal == number]
        for eye in EYES:
            together = [moment for moment in seen(whole, eye) if moment.deal == number]
            assert list(seen(alone, eye)) == together, (table, number, eye)
    assert past.deal(redis, table, deals[-1] + 1) == []
    return len(deals)


@pytest.mark.parametrize("options", [{}, {"stake": "bankroll", "buy_in": 2_000}], ids=["free", "bankroll"])
def test_any_deal_of_any_table_is_told_as_if_all_were_read(redis: FakeRedis, options: dict[str, object]) -> None:
    tables = Tables(redis, seed=11)
    for _ in tables.wander(600, **options):
        pass
    follow(redis)
    assert sum(assert_told_alike(redis, table) for table in tables.tables) > 20


def test_who_comes_and_goes_between_deals_is_told_with_his_name_and_chips(redis: FakeRedis) -> None:
    tables = seated(redis, TABLE, auto_ready=True, deals=6)
    tables.play(TABLE)
    tables.leave(TABLE, BARA)
    tables.sit(TABLE, DANA)
    tables.deal(TABLE)
    tables.move(TABLE)
    tables.leave(TABLE, CYRIL)
    while tables.move(TABLE):
        pass
    tables.sit(TABLE, BARA)
    tables.play(TABLE, deals=3)
    tables.deal(TABLE)
    follow(redis)
    assert assert_told_alike(redis, TABLE) == 6
    [first, *_] = past.deal(redis, TABLE, 5)
    assert [occupant.player for occupant in first.state.session.seats if occupant] == [ANA.id, DANA.id, BARA.id]


def test_deals_long_before_are_not_read(redis: FakeRedis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=8)
    follow(redis)
    wanted = list(seen(past.deal(redis, TABLE, 7), 0))
    [before] = projected.booked(redis, TABLE, [5])
    assert before is not None
    redis.xdel(keys.events(TABLE), *(f"{version}-0" for version in range(2, before.version)))
    assert list(seen(past.deal(redis, TABLE, 7), 0)) == wanted


def test_an_archived_deal_is_read_in_its_files_and_in_no_others(redis: FakeRedis, tmp_path: Path) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=9)
    tables.deal(TABLE)
    follow(redis)
    wanted = {number: list(seen(past.deal(redis, TABLE, number), 1)) for number in range(1, 11)}
    archive(redis, tmp_path, TABLE, 9)
    [mark] = projected.booked(redis, TABLE, [9])
    assert mark is not None
    redis.xtrim(keys.events(TABLE), minid=f"{mark.version + 1}-0", approximate=False)
    folder.attach(redis, tmp_path)
    assert {number: list(seen(past.deal(redis, TABLE, number), 1)) for number in range(1, 11)} == wanted
    for file in folder.files(tmp_path, TABLE):
        if file.deal not in (1, 5, 6, 7):
            file.path.unlink()
    assert list(seen(past.deal(redis, TABLE, 7), 1)) == wanted[7]


def test_without_a_note_of_the_deals_before_all_is_read(redis: FakeRedis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=4)
    follow(redis)
    for field in redis.hkeys(keys.bank(TABLE)):
        if field[:2] in (b"d:", b"s:"):
            redis.hdel(keys.bank(TABLE), field)
    assert assert_told_alike(redis, TABLE) == 4


def test_what_would_take_too_long_is_refused(redis: FakeRedis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    for _ in range(10):
        tables.leave(TABLE, ANA)
        tables.sit(TABLE, ANA)
    tables.deal(TABLE)
    follow(redis)
    with pytest.raises(past.TooLong, match="deal 2"):
        past.deal(redis, TABLE, 2, entries_max=30)
    assert len(past.deal(redis, TABLE, 2)) > 20


def test_no_deal_is_found_that_there_is_not(redis: FakeRedis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    follow(redis)
    assert [len(past.deal(redis, TABLE, number)) for number in (3, 4, 10**12)] == [0, 0, 0]
    assert list(moments(TABLE, entries_after(redis, TABLE, 0), None))[-1].version == tables.versions[TABLE]

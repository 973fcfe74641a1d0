"""An empty store and the archive: the tables are there again, and what was told of their deals is the same."""

import pytest
from fakeredis import FakeRedis, FakeServer

from services.archive import folder, make
from services.store import chain, history, keys, views
from services.store.cold import PastMissing
from services.worker import handle
from services.worker.restore import NotEmpty, restore
from services.worker.tables import read
from tests.archive.conftest import Archived
from tests.projections.tables import everything
from tests.worker.house import ANA, BARA, CYRIL, OTHER, PARTITIONS, PLAYERS, TABLE

THIRD = "t-02-00000000000d"


@pytest.fixture
def empty(house):
    """Another store, with nothing in it."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield client
    client.close()


def quiet(*_):
    pass


def filled(house):
    """Three tables with archived deals, at rest after the last one."""
    for table in (OTHER, THIRD):
        house.open(table)
        for player in PLAYERS:
            house.say(table, player, "sit")
    for table, deals in ((TABLE, 3), (OTHER, 1), (THIRD, 2)):
        house.play_deals(deals, table)
    house.follow()
    for table in (TABLE, OTHER, THIRD):
        make.archive(house.redis, house.archive, table, 100)


def test_tables_are_what_they_were_after_their_last_deal(house, empty):
    filled(house)
    assert restore(empty, house.archive, PARTITIONS, quiet) == 3
    for table in (TABLE, OTHER, THIRD):
        assert read(empty, table) == read(empty, table, "of no build") == read(house.redis, table)
        assert views.current(empty, table) == views.current(house.redis, table)
        assert list(history.entries_after(empty, table, 0)) == list(history.entries_after(house.redis, table, 0))
    kept = house.redis.hgetall(keys.snapshot(TABLE))
    assert empty.hgetall(keys.snapshot(TABLE)) == kept


def test_everything_told_of_the_deals_is_the_same(house, empty):
    filled(house)
    restore(empty, house.archive, PARTITIONS, quiet)
    again = Archived(empty, house.archive)
    again.follow()
    for table in (TABLE, OTHER, THIRD):
        make.archive(empty, house.archive, table, 100)
    assert everything(empty) == everything(house.redis)


def test_the_chain_is_the_one_that_receipts_and_files_know_also_of_another_build(house, empty, monkeypatch):
    filled(house)
    monkeypatch.setattr(handle, "TAG", "later")
    before = [history.recorded(entry) for entry in house.redis.xrange(keys.events(TABLE))]
    restore(empty, house.archive, PARTITIONS, quiet)
    after = [history.recorded(entry) for entry in empty.xrange(keys.events(TABLE))]
    assert after[-1] == before[-1]
    file = folder.files(house.archive, TABLE)[-1]
    assert chain.text(read(empty, TABLE).chain) == folder.read(file).head == before[-1].hash
    last = before[-1]
    assert views.receipt(empty, TABLE, last.actor, last.key) == views.receipt(house.redis, TABLE, last.actor, last.key)


def test_play_goes_on_where_the_last_deal_ended(house, empty):
    filled(house)
    version = house.view(TABLE)["version"]
    restore(empty, house.archive, PARTITIONS, quiet)
    again = Archived(empty, house.archive)
    for player in (ANA, BARA, CYRIL):
        assert again.say(TABLE, player, "ready")["s"] == "applied"
    assert again.view(TABLE)["version"] > version + 3
    again.play_deals(1)
    again.follow()
    assert make.archive(empty, again.archive, TABLE, 100) == 1
    assert list(folder.faults(again.archive)) == []


def test_a_store_with_tables_is_left_alone(house):
    filled(house)
    before = house.redis.dbsize()
    with pytest.raises(NotEmpty, match="holds tables"):
        restore(house.redis, house.archive, PARTITIONS, quiet)
    assert house.redis.dbsize() == before


def test_workers_must_be_stopped(house, empty):
    Archived(empty, house.archive).worker.turn(0.0)
    with pytest.raises(NotEmpty, match="Stop them"):
        restore(empty, house.archive, PARTITIONS, quiet)


def test_a_missing_deal_is_named(house, empty):
    filled(house)
    folder.files(house.archive, TABLE)[1].path.unlink()
    with pytest.raises(PastMissing, match=f"{TABLE}.*without a hole"):
        restore(empty, house.archive, PARTITIONS, quiet)

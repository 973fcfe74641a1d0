"""Finished deals come into the log by themselves, once each, with the hash that receipts and archives tell."""

import pytest

from engine import merkle
from services.archive import folder, make
from services.projections.rebuild import rebuild
from services.store import chain, deal_log, history, keys
from services.transparency import keeping
from services.transparency.keeping import Keeper
from services.transparency.leaves import leaf, read
from services.worker.restore import restore
from tests.transparency.conftest import Logged, sat
from tests.worker.house import OTHER, PARTITIONS, TABLE


def told(house):
    return [read(data) for data in deal_log.leaves(house.redis, 0, 10_000)]


def test_a_leaf_has_one_form():
    made = leaf("t-01-00000000000a", 3, 58, 104, "H" * 43)
    assert made.data == b'{"deal":3,"first":58,"head":"%b","last":104,"table":"t-01-00000000000a"}' % (b"H" * 43)
    assert read(made.data).last == 104
    for other in (made.data + b" ", made.data.replace(b'{"deal":3,', b'{"x":1,"deal":3,'), b"{}", b"[]", b"\xff",
                  made.data.replace(b'"deal":3', b'"deal":3.0')):
        with pytest.raises(ValueError, match="leaf"):
            read(other)


def test_each_finished_deal_is_logged_once_with_its_hash(house):
    house.play_deals(2)
    assert house.log() == 2
    house.play_deals(1)
    house.play(5)
    assert (house.log(), house.log()) == (1, 0)
    entries = list(history.entries_after(house.redis, TABLE, 0))
    leaves = told(house)
    assert [(each.table, each.deal) for each in leaves] == [(TABLE, 1), (TABLE, 2), (TABLE, 3)]
    assert [each.first for each in leaves] == [1, leaves[0].last + 1, leaves[1].last + 1]
    for each in leaves:
        assert b'"deal_ended"' in entries[each.last - 1].events
        assert each.head == entries[each.last - 1].hash
    assert deal_log.unlogged(house.redis, PARTITIONS, 9) == {}


def test_it_does_not_matter_in_which_order_or_how_often_tables_are_looked_at(house):
    sat(house, OTHER)
    house.play_deals(3)
    house.play_deals(2, OTHER)
    house.follow()
    others = [Keeper(house.book, PARTITIONS) for _ in range(2)]
    for keeper in (house.keeper, *others, house.keeper):
        deal_log.add_unlogged(house.redis, [(TABLE, 1), (OTHER, 1)])
        keeper.turn()
    house.log()
    deals = {(each.table, each.deal) for each in told(house)}
    assert deals == {(TABLE, deal) for deal in (1, 2, 3)} | {(OTHER, deal) for deal in (1, 2)}
    assert deal_log.state(house.redis).size == 5


def test_many_deals_of_a_table_go_in_rounds(house, monkeypatch):
    monkeypatch.setattr(keeping, "DEALS_MAX", 2)
    house.play_deals(5)
    house.follow()
    assert [house.keeper.turn() for _ in range(4)] == [2, 2, 1, 0]
    assert [each.deal for each in told(house)] == [1, 2, 3, 4, 5]


def test_deals_from_before_there_was_a_log_are_found_also_in_the_archive(house):
    house.play_deals(3)
    house.follow()
    make.archive(house.redis, house.archive, TABLE, 100)
    for key in house.redis.keys("m:{deals}:*") + house.redis.keys("m:{p*}:unl"):
        house.redis.delete(key)
    assert Keeper(house.book, PARTITIONS).turn() == 3
    file = folder.files(house.archive, TABLE)[-1]
    assert told(house)[-1].head == folder.read(file).head


def test_deals_of_a_table_that_was_changed_are_not_logged_and_that_is_told(house, caplog):
    sat(house, OTHER)
    house.play_deals(1)
    house.play_deals(1, OTHER)
    entry = house.redis.xrange(keys.events(TABLE), "4-0", "4-0")[0][1]
    rest = house.redis.xrange(keys.events(TABLE), "5-0", "+")
    house.redis.xtrim(keys.events(TABLE), maxlen=0)
    house.redis.delete(keys.events(TABLE))
    whole = [(id_, {**entry, b"a": b"u-01-ffffffffffffffff"} if id_ == b"4-0" else fields)
             for id_, fields in [(b"4-0", entry), *rest]]
    for number in (1, 2, 3):
        house.redis.xadd(keys.events(TABLE), {**entry, b"h": b""}, id=f"{number}-0")
    for id_, fields in whole:
        house.redis.xadd(keys.events(TABLE), fields, id=id_)
    house.log()
    assert [each.table for each in told(house)] == [OTHER]
    assert deal_log.state(house.redis).stuck == 1
    assert TABLE in deal_log.unlogged(house.redis, PARTITIONS, 9)
    assert "cannot be logged" in caplog.text
    assert "hash of version 4" in caplog.text


def test_a_rebuild_leaves_the_log_as_it_is(house):
    house.play_deals(2)
    house.log()
    before = {key: house.redis.type(key) for key in house.redis.keys("m:{deals}:*")}
    leaves = told(house)
    rebuild(house.redis, PARTITIONS, lambda *_: None)
    assert {key: house.redis.type(key) for key in house.redis.keys("m:{deals}:*")} == before
    assert (told(house), house.log()) == (leaves, 0)


def test_after_a_restore_the_log_goes_on_where_the_kept_heads_end(house, empty):
    from services.transparency.restoring import restore as restore_log

    sat(house, OTHER)
    for table in (OTHER, TABLE, OTHER, TABLE):
        house.play_deals(1, table)
        house.log()
        house.keeper.sign()
    house.play_deals(1)
    house.log()  # Its head was never signed.
    for table in (TABLE, OTHER):
        make.archive(house.redis, house.archive, table, 100)
    before = told(house)
    restore(empty, house.archive, PARTITIONS, lambda *_: None)
    again = Logged(empty, house.home)
    assert restore_log(again.book, lambda _: None) == 4
    again.keeper.sign()
    assert again.log() == 1
    assert told(again) == before
    again.keeper.sign()
    assert deal_log.state(empty).signed == 5
    assert deal_log.state(empty).wrong == ""
    assert deal_log.root(empty, 5) == merkle.root([merkle.leaf_hash(each) for each in deal_log.leaves(empty, 0, 9)])


def test_the_hash_in_the_log_is_the_one_of_the_last_receipt_of_the_deal(house):
    house.play_deals(1)
    house.log()
    [only] = told(house)
    last = house.redis.xrange(keys.events(TABLE), f"{only.last}-0", f"{only.last}-0")[0][1]
    receipt = house.redis.hget(keys.receipts(TABLE), f"{last[b'a'].decode()}/{last[b'k'].decode()}")
    assert f'"h":"{only.head}"'.encode() in receipt
    assert len(chain.digest(only.head)) == 32

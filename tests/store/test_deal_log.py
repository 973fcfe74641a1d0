"""The log of finished deals, on every kind of store: it only grows, each deal once, and its proofs hold."""

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from engine import merkle
from services.store import deal_log, keys, log_keys
from services.store.deal_log import Leaf, Place
from services.store.wire import ask
from tests.store.samples import OTHER, TABLE, everything

ELSEWHERE = "t-02-00000000000c"


def leaf(table: str, deal: int) -> Leaf:
    return Leaf(table, Place(deal, 10 * deal, f"hash-{deal}"), b'{"table":"%b","deal":%d}' % (table.encode(), deal))


def filled(store: Redis, size: int) -> list[Leaf]:
    """A log of `size` deals at three tables, some appended together."""
    tables = (TABLE, OTHER, ELSEWHERE)
    added = [leaf(tables[number % 3], number // 3 + 1) for number in range(size)]
    start, step = 0, 1
    while start < size:
        assert deal_log.grow(store, added[start : start + step])
        start, step = start + step, step % 4 + 1
    return added


def hashes(added: list[Leaf]) -> list[bytes]:
    return [merkle.leaf_hash(each.data) for each in added]


def test_an_empty_log_has_the_root_of_nothing(store: Redis) -> None:
    assert deal_log.state(store) == deal_log.NO_LOG
    assert deal_log.root(store, 0) == merkle.root([])
    assert deal_log.index_of(store, TABLE, 1) is None
    assert deal_log.places(store, [TABLE]) == [Place(0, 0, "")]


def test_what_is_appended_is_there_in_order_and_every_table_knows_its_place(store: Redis) -> None:
    added = filled(store, 11)
    assert deal_log.state(store).size == 11
    assert deal_log.leaves(store, 0, 100) == [each.data for each in added]
    assert deal_log.leaves(store, 4, 3) == [each.data for each in added[4:7]]
    assert deal_log.places(store, [TABLE, ELSEWHERE]) == [Place(4, 40, "hash-4"), Place(3, 30, "hash-3")]
    assert [deal_log.index_of(store, TABLE, deal) for deal in (1, 2, 4, 5)] == [0, 3, 9, None]


def test_roots_and_proofs_of_all_sizes_are_those_of_the_tree(store: Redis) -> None:
    tree = hashes(filled(store, 13))
    for size in range(1, 14):
        assert deal_log.root(store, size) == merkle.root(tree[:size])
        assert merkle.fold(deal_log.peaks(store, size)) == merkle.root(tree[:size])
        for index in range(size):
            assert deal_log.inclusion(store, index, size) == merkle.inclusion(tree[:size], index)
        for first in range(1, size + 1):
            assert deal_log.consistency(store, first, size) == merkle.consistency(tree[:size], first)


def test_hashes_are_spread_over_strings_of_a_bounded_length(store: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deal_log, "BLOCK", 4)
    tree = hashes(filled(store, 13))
    assert deal_log.root(store, 13) == merkle.root(tree)
    assert deal_log.inclusion(store, 9, 13) == merkle.inclusion(tree, 9)
    lengths = [ask(store, "STRLEN", log_keys.nodes(0, block)) for block in range(4)]
    assert lengths == [128, 128, 128, 32]


def test_a_deal_is_appended_once_and_none_is_left_out(store: Redis) -> None:
    filled(store, 4)
    before = everything(store)
    again, gap = [leaf(OTHER, 2), leaf(OTHER, 2)], [leaf(OTHER, 2), leaf(OTHER, 4)]
    for refused in ([leaf(TABLE, 2)], [leaf(TABLE, 4)], again, gap):
        assert not deal_log.grow(store, refused)
    assert everything(store) == before
    assert deal_log.grow(store, [leaf(OTHER, 2), leaf(OTHER, 3), leaf(TABLE, 3)])


def test_of_two_who_append_at_once_one_is_told_to_look_again(store: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store, 5)
    peaks = deal_log.nodes

    def slow(redis, wanted):
        found = peaks(redis, wanted)
        monkeypatch.setattr(deal_log, "nodes", peaks)
        assert deal_log.grow(store, [leaf(ELSEWHERE, 2)])
        return found

    monkeypatch.setattr(deal_log, "nodes", slow)
    assert not deal_log.grow(store, [leaf(TABLE, 3)])
    assert deal_log.state(store).size == 6
    assert deal_log.grow(store, [leaf(TABLE, 3)])
    assert deal_log.root(store, 7) == merkle.root([merkle.leaf_hash(each) for each in deal_log.leaves(store, 0, 9)])


@pytest.mark.parametrize("key", [log_keys.state(), log_keys.leaves(), log_keys.table(TABLE), log_keys.nodes(0, 0)])
def test_a_key_of_a_wrong_type_leaves_nothing_half_done(store: Redis, key: str) -> None:
    ask(store, *(("HSET", key, "x", "x") if key == log_keys.nodes(0, 0) else ("SET", key, "x")))
    before = everything(store)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        deal_log.grow(store, [leaf(TABLE, 1)])
    assert everything(store) == before


def test_only_a_later_head_takes_the_place_of_one(store: Redis) -> None:
    filled(store, 3)
    deal_log.set_wrong(store, "forked")
    assert deal_log.state(store).wrong == "forked"
    deal_log.keep_head(store, 2, 1_000, b"two")
    deal_log.keep_head(store, 1, 2_000, b"one")
    assert deal_log.state(store) == deal_log.State(3, 2, 1_000, b"two", "", 0)
    deal_log.keep_head(store, 3, 3_000, b"three")
    assert deal_log.state(store).head == b"three"


def test_a_table_stays_listed_if_a_deal_ended_while_others_were_logged(store: Redis) -> None:
    deal_log.add_unlogged(store, [(TABLE, 10), (OTHER, 5)])
    assert deal_log.unlogged(store, ["1f", "02"], 9) == {TABLE: 10, OTHER: 5}
    deal_log.add_unlogged(store, [(TABLE, 20)])
    deal_log.add_unlogged(store, [(TABLE, 10)])
    deal_log.take_off(store, [(TABLE, 10), (OTHER, 5), (ELSEWHERE, 5)])
    assert deal_log.unlogged(store, ["1f", "02"], 9) == {TABLE: 20}
    deal_log.take_off(store, [(TABLE, 20)])
    assert deal_log.unlogged(store, ["1f", "02"], 9) == {}


def test_tables_from_before_there_was_a_log_are_listed_once(store: Redis) -> None:
    ask(store, "SADD", keys.tables("1f"), TABLE, OTHER)
    deal_log.add_unlogged(store, [(TABLE, 10)])
    deal_log.list_all(store, ["1f", "02"])
    assert deal_log.unlogged(store, ["1f", "02"], 9) == {TABLE: 10, OTHER: 0}
    deal_log.take_off(store, [(OTHER, 0)])
    deal_log.list_all(store, ["1f", "02"])
    assert deal_log.unlogged(store, ["1f", "02"], 9) == {TABLE: 10}


def test_what_cannot_be_logged_is_counted(store: Redis) -> None:
    deal_log.set_stuck(store, TABLE, "BrokenStream: …")
    assert deal_log.state(store).stuck == 1
    deal_log.set_stuck(store, TABLE, None)
    assert deal_log.state(store).stuck == 0

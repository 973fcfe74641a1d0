"""Snapshots that are made while a past is read: by the owner alone, and never in the place of one he has not seen."""

from redis import Redis

from services.store import keys
from services.store.append import apply_many
from services.store.clock import forget_member
from services.store.forget import forget_many
from services.store.snapshots import Found, Snapshot, find, keep
from tests.store.samples import PARTITION, TABLE, claim, entry, everything, position

OLD, NEW = Snapshot(1, "shape", b"whole"), Snapshot(2, "new", b"of another shape")
WAY = Snapshot(1, "new", b"on the way")


def prepare(store: Redis) -> str:
    """Three versions, of which the first two rest, with a snapshot of the first; gives the owner's fence."""
    lease = claim(store)
    apply_many(store, [entry(position(lease, number), number - 1) for number in (1, 2, 3)])
    store.hset(keys.snapshot(TABLE), mapping={"v": OLD.version, "x": OLD.tag, "b": OLD.body})
    return lease.fence


def test_one_on_the_way_lies_beside_the_other(store: Redis) -> None:
    fence = prepare(store)
    assert keep(store, TABLE, fence, WAY)
    assert find(store, TABLE, "shape") == Found(OLD, None, b"1", 3)
    assert find(store, TABLE, "new") == Found(None, WAY, b"1", 3)
    assert find(store, TABLE, "third") == Found(None, None, b"1", 3)


def test_builds_of_two_shapes_find_their_own_in_turns(store: Redis) -> None:
    fence = prepare(store)
    keep(store, TABLE, fence, WAY)
    assert keep(store, TABLE, fence, NEW, b"1")
    assert find(store, TABLE, "new") == Found(NEW, None, b"2", 3)
    assert find(store, TABLE, "shape") == Found(None, OLD, b"2", 3)
    assert keep(store, TABLE, fence, OLD, b"2")
    assert find(store, TABLE, "shape") == Found(OLD, None, b"1", 3)
    assert find(store, TABLE, "new") == Found(None, NEW, b"1", 3)


def test_one_of_the_same_shape_leaves_nothing_beside(store: Redis) -> None:
    fence = prepare(store)
    keep(store, TABLE, fence, WAY)
    made = Snapshot(2, "shape", b"made good")
    assert keep(store, TABLE, fence, made, b"1")
    assert store.hgetall(keys.snapshot(TABLE)) == {b"v": b"2", b"x": b"shape", b"b": b"made good"}


def test_where_there_is_none_one_is_made(store: Redis) -> None:
    fence = prepare(store)
    store.delete(keys.snapshot(TABLE))
    assert find(store, TABLE, "new").seen == b""
    assert keep(store, TABLE, fence, NEW, b"")
    assert store.hgetall(keys.snapshot(TABLE)) == {b"v": b"2", b"x": b"new", b"b": NEW.body}


def test_an_old_owner_keeps_nothing(store: Redis) -> None:
    fence = prepare(store)
    store.delete(keys.lease(PARTITION))
    claim(store)
    before = everything(store)
    assert not keep(store, TABLE, fence, WAY)
    assert not keep(store, TABLE, fence, NEW, b"1")
    assert everything(store) == before


def test_one_that_was_written_meanwhile_stays(store: Redis) -> None:
    fence = prepare(store)
    store.hset(keys.snapshot(TABLE), mapping={"v": 3, "x": "shape", "b": b"written with its events"})
    before = everything(store)
    assert not keep(store, TABLE, fence, NEW, b"1")
    assert not keep(store, TABLE, fence, NEW, b"")
    assert everything(store) == before


def test_one_that_says_no_version_is_none(store: Redis) -> None:
    prepare(store)
    store.hset(keys.snapshot(TABLE), "v", b"\xff")
    assert find(store, TABLE, "shape") == Found(None, None, b"\xff", 3)


def test_one_of_another_shape_goes_with_the_receipts_and_one_on_the_way_stays(store: Redis) -> None:
    fence = prepare(store)
    keep(store, TABLE, fence, WAY)
    forget_many(store, [(fence, forget_member(TABLE, 2))], "new")
    assert find(store, TABLE, "new").other == WAY
    forget_many(store, [(fence, forget_member(TABLE, 2))], "shape")
    assert find(store, TABLE, "new").other is None
    assert find(store, TABLE, "shape").rest == OLD

"""What leaves a stream, on every kind of store: only what is archived, behind the snapshot and the projections."""

import pytest
from redis import Redis

from services.store import cold, history, keys
from services.store.append import Status, apply_many
from services.store.cold import Mark, PastMissing
from tests.store.samples import OTHER, PARTITION, TABLE, claim, entry, position


def prepare(store: Redis, versions: int = 6, rested: int = 4) -> None:
    """Versions of a table, a snapshot among them, all projected."""
    lease = claim(store)
    written = apply_many(store, [
        entry(position(lease, number), number - 1, snapshot=b"whole" if number == rested else b"")
        for number in range(1, versions + 1)
    ])
    assert {result.status for result in written} == {Status.APPLIED}
    store.hset(keys.fold(TABLE), "v", versions)


def kept(store: Redis) -> list[int]:
    return [int(id_.partition(b"-")[0]) for id_, _ in store.xrange(keys.events(TABLE))]


@pytest.mark.parametrize(
    ("mark", "rested", "projected", "left"),
    [
        pytest.param(0, 4, 6, [1, 2, 3, 4, 5, 6], id="nothing is archived"),
        pytest.param(3, 4, 6, [4, 5, 6], id="behind the mark"),
        pytest.param(4, 4, 6, [5, 6], id="up to the snapshot"),
        pytest.param(5, 4, 6, [1, 2, 3, 4, 5, 6], id="the snapshot is older than the mark"),
        pytest.param(4, 4, 3, [1, 2, 3, 4, 5, 6], id="the projections are behind"),
        pytest.param(6, 6, 6, [6], id="the last one stays"),
        pytest.param(9, 9, 9, [6], id="a mark and a snapshot from the future"),
    ],
)
def test_an_entry_goes_when_nobody_needs_it_here(
    store: Redis, mark: int, rested: int, projected: int, left: list[int]
) -> None:
    prepare(store)
    store.hset(keys.snapshot(TABLE), "v", rested)
    store.hset(keys.fold(TABLE), "v", projected)
    if mark:
        cold.set_mark(store, TABLE, Mark(mark, 1))
    assert cold.trim(store, TABLE) == 6 - len(left)
    assert kept(store) == left
    assert cold.trim(store, TABLE) == 0


def test_appends_go_on_after_everything_is_trimmed_that_may_be(store: Redis) -> None:
    prepare(store, 6, 6)
    cold.set_mark(store, TABLE, Mark(6, 1))
    cold.trim(store, TABLE)
    store.delete(keys.lease(PARTITION))
    lease = claim(store)
    late = position(lease, 1, key="late")._replace(command="2000-0")
    stale = apply_many(store, [entry(late, 3)])[0]
    assert (stale.status, stale.detail) == (Status.CONFLICT, b"6")
    assert apply_many(store, [entry(late, 6)])[0].status is Status.APPLIED
    assert kept(store) == [6, 7]


def test_the_list_holds_a_table_until_its_last_deal_is_trimmed(store: Redis) -> None:
    prepare(store)
    cold.add_unarchived(store, [(TABLE, 2), (OTHER, 9), (TABLE, 4), (TABLE, 3)])
    assert cold.unarchived(store, [PARTITION, "00"]) == {PARTITION: {TABLE: 4, OTHER: 9}}
    cold.set_mark(store, TABLE, Mark(2, 1))
    cold.trim(store, TABLE)
    assert cold.unarchived(store, [PARTITION])[PARTITION] == {TABLE: 4, OTHER: 9}
    cold.set_mark(store, TABLE, Mark(4, 2))
    cold.trim(store, TABLE)
    assert cold.unarchived(store, [PARTITION])[PARTITION] == {OTHER: 9}


def test_what_is_gone_is_asked_of_the_archive(store: Redis) -> None:
    prepare(store)
    whole = [(id_, [part for pair in fields.items() for part in pair])
             for id_, fields in store.xrange(keys.events(TABLE))]
    before = list(history.entries_after(store, TABLE, 0))
    cold.set_mark(store, TABLE, Mark(4, 1))
    cold.trim(store, TABLE)
    with pytest.raises(PastMissing, match="versions 1 to 4 are archived"):
        list(history.entries_after(store, TABLE, 0))
    asked: list[tuple[str, int, int]] = []
    cold.attach(store, lambda table, first, last: asked.append((table, first, last)) or whole[first - 1 : last])
    assert list(history.entries_after(store, TABLE, 0)) == before
    assert list(history.entries_after(store, TABLE, 4)) == before[4:]
    assert asked == [(TABLE, 1, 4)]
    cold.attach(store, lambda table, first, last: whole[first:last])
    with pytest.raises(PastMissing, match="without a hole"):
        list(history.entries_after(store, TABLE, 0))

"""Old receipts go, those of what happened since stay, and only the owner may do it."""

from redis import Redis

from services.intake import Submitted, submit
from services.store import history, keys, views
from services.store.append import apply_many
from services.store.clock import forget_member
from services.store.forget import forget_many
from tests.store.samples import (
    ANA,
    EVENTS,
    FEED,
    PARTITION,
    RECEIPTS,
    TABLE,
    answer,
    claim,
    entry,
    everything,
    position,
)


def prepare(store: Redis) -> str:
    """Versions 1 to 3, one refusal at version 2, one command that waits."""
    lease = claim(store)
    apply_many(
        store,
        [
            entry(position(lease, 1), 0),
            entry(position(lease, 2), 1, forget_at=7_000),
            answer(position(lease, 3), 2, forget_at=8_000),
            entry(position(lease, 4), 2),
        ],
    )
    for key in ("k1", "k2", "k3", "k4"):
        store.hset(keys.reservations(TABLE), f"{ANA}/{key}", "fp")
    submit(store, Submitted(TABLE, ANA, "", "k5", {"type": "good"}))
    return lease.fence


def test_what_is_older_goes_and_what_came_since_stays(store: Redis) -> None:
    fence = prepare(store)
    member = forget_member(TABLE, 2)
    assert history.clock_entries(store, PARTITION) == [(member, 8_000)]
    assert forget_many(store, [(fence, member)], "shape") == [3]
    assert store.hkeys(RECEIPTS) == [f"{ANA}/k4".encode()]
    assert sorted(store.hkeys(keys.reservations(TABLE))) == [f"{ANA}/k4".encode(), f"{ANA}/k5".encode()]
    assert views.receipt(store, TABLE, ANA, "k5") == {"s": "queued"}
    assert [id_ for id_, _ in store.xrange(FEED)] == [b"3-0"]
    assert store.xlen(EVENTS) == 3
    assert history.clock_entries(store, PARTITION) == []


def test_forgetting_twice_is_forgetting_once(store: Redis) -> None:
    fence = prepare(store)
    forget_many(store, [(fence, forget_member(TABLE, 2))], "shape")
    before = everything(store)
    assert forget_many(store, [(fence, forget_member(TABLE, 2))] * 2, "shape") == [0, 0]
    assert everything(store) == before


def test_an_old_owner_forgets_nothing(store: Redis) -> None:
    prepare(store)
    before = everything(store)
    assert forget_many(store, [("1:somebody else", forget_member(TABLE, 2))], "shape") == [-1]
    assert everything(store) == before

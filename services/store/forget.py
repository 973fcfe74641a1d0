"""Forgetting what nobody may ask for any more: old receipts, what the feed told of settled deals, and a snapshot
that was kept for builds of another shape."""

from collections.abc import Sequence

from redis import Redis

from services.store import keys, scripts
from services.store.clock import FORGET

_FORGET = scripts.load("forget")


def forget_many(redis: Redis, due: Sequence[Sequence[str]], tag: str) -> list[int]:
    """Do what the due members say, given as (fence, member), in one round trip. May be repeated.

    Earlier members of the same table may follow, (fence, member, earlier, ...): they are done with it. `tag` is that of
    snapshots that the caller can read: one on the way stays.

    Gives how many receipts went, -1 where the lease is another's. Raises StoreUnavailable.
    """
    return scripts.run_all(redis, _FORGET, [_call(tag, *each) for each in due])


def _call(tag: str, fence: str, member: str, *earlier: str) -> scripts.Call:
    table, _, version = member.partition(FORGET)
    partition = keys.partition_of(table)
    named = (
        keys.lease(partition),
        keys.due(partition),
        keys.receipts(table),
        keys.reservations(table),
        keys.feed(table),
        keys.snapshot(table),
    )
    return scripts.Call(named, (fence, table, int(version), int(version) + 1, tag, *earlier))

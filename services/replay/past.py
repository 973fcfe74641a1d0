"""The past of one deal, read from the events, archived or not."""

from redis import Redis

from services.replay.moments import Happened, happened
from services.store.history import entries_after


def deal(redis: Redis, table: str, number: int) -> list[Happened]:
    """What happened in deal `number` of a table up to now, with what led to it; nothing when there is no such deal.

    Raises BrokenStream, NewerEvent, PastMissing, StoreUnavailable.
    """
    return [each for each in happened(table, entries_after(redis, table, 0)) if each.deal == number]

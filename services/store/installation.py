"""What was decided when the data began and cannot be changed: the number of partitions is part of every id."""

from redis import Redis
from redis.exceptions import NoPermissionError, ResponseError

from services.store import keys
from services.store.wire import ask, ask_many

_FIELD = "partitions"


def partitions_of(redis: Redis, wanted: int) -> int:
    """The number of partitions of the data in the store; of an empty one it is `wanted` from now on.

    Whoever may not look is told `wanted`: others look for him. Raises StoreUnavailable.
    """
    try:
        found = ask(redis, "HGET", keys.installation(), _FIELD)
        if found is None:
            ask(redis, "HSETNX", keys.installation(), _FIELD, max(wanted, _used(redis)))
            found = ask(redis, "HGET", keys.installation(), _FIELD)
    except NoPermissionError:
        return wanted
    return int(found)


def kept(redis: Redis, otherwise: int) -> int:
    """The number of partitions of the data in the store, `otherwise` where none is kept. Raises StoreUnavailable."""
    found = ask(redis, "HGET", keys.installation(), _FIELD)
    return otherwise if found is None else int(found)


def partitions_kept(redis: Redis, otherwise: int) -> list[str]:
    """The partitions of the data in the store: whoever takes them from his settings alone may leave tables out.

    Raises StoreUnavailable.
    """
    return keys.all_partitions(kept(redis, otherwise))


def _used(redis: Redis) -> int:
    """How many partitions data of before this was kept have at least."""
    every = keys.all_partitions(keys.PARTITIONS_MAX)
    replies = ask_many(redis, [("EXISTS", keys.tables(each)) for each in every])
    used = [number for number, reply in enumerate(replies) if not isinstance(reply, ResponseError) and reply]
    return max(used, default=-1) + 1

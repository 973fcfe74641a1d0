"""What processes have counted, summed up in the store: it outlives each of them and needs no port of theirs."""

from collections.abc import Mapping

from redis import Redis
from redis.exceptions import ResponseError

from services.store import keys
from services.store.wire import ask_all, ask_many, fields_of


def add(redis: Redis, counts: Mapping[str, int]) -> None:
    """Add `counts` to the sums. Raises StoreUnavailable: they may have been added or not."""
    ask_all(redis, [("HINCRBY", keys.tallies(), name, count) for name, count in counts.items() if count])


def read(redis: Redis) -> dict[str, int]:
    """All sums; {} where the caller may not look."""
    [reply] = ask_many(redis, [("HGETALL", keys.tallies())])
    if isinstance(reply, ResponseError):
        return {}
    return {name.decode(): int(count) for name, count in fields_of(reply).items()}

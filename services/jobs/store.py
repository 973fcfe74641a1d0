"""The store of the tables as the jobs of this process reach it: rq calls a job with its arguments only."""

from redis import Redis

_reached: list[Redis] = []


def use(redis: Redis) -> None:
    """From now on jobs work with `redis`."""
    _reached[:] = [redis]


def store() -> Redis:
    """The store that was given to `use`."""
    [redis] = _reached
    return redis

"""The store of the tables as the jobs of this process reach it: rq calls a job with its arguments only."""

from pathlib import Path

from redis import Redis

_reached: list[Redis] = []
_archive: list[Path] = []


def use(redis: Redis, archive: Path | None = None) -> None:
    """From now on jobs work with `redis`, and archive deals in the folder `archive`."""
    _reached[:] = [redis]
    _archive[:] = [] if archive is None else [archive]


def archive_folder() -> Path:
    """The folder of the archive that was given to `use`."""
    [folder] = _archive
    return folder


def store() -> Redis:
    """The store that was given to `use`."""
    [redis] = _reached
    return redis

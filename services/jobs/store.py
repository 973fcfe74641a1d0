"""The store of the tables as the jobs of this process reach it: rq calls a job with its arguments only."""

from pathlib import Path

from redis import Redis

_reached: list[Redis] = []
_archive: list[Path] = []
_archiving: list[Redis] = []
_auditor: list[dict[str, str]] = []


def use(redis: Redis, archive: Path | None = None, archiving: Redis | None = None) -> None:
    """From now on jobs work with `redis`, and archive deals in the folder `archive`.

    `archiving` is the same store with the login that may read events, which no other job needs.
    """
    _reached[:] = [redis]
    _archiving[:] = [redis if archiving is None else archiving]
    _archive[:] = [] if archive is None else [archive]


def use_auditor(settings: dict[str, str]) -> None:
    """From now on audits are started with these variables, which tell them their own login."""
    _auditor[:] = [settings]


def auditor_settings() -> dict[str, str]:
    """What was given to `use_auditor`."""
    [settings] = _auditor
    return settings


def archive_folder() -> Path:
    """The folder of the archive that was given to `use`."""
    [folder] = _archive
    return folder


def store() -> Redis:
    """The store that was given to `use`."""
    [redis] = _reached
    return redis


def archiving_store() -> Redis:
    """The store as whoever archives deals may use it."""
    [redis] = _archiving
    return redis

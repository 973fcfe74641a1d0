"""`marias api|push|worker|projector|jobs|front`: one role in this process, to scale out."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from services.config import Config
from services.serve.addresses import jobs_url
from services.serve.errors import CannotServe
from services.serve.folder import read_running
from services.serve.role import run_role

if TYPE_CHECKING:
    from redis import Redis

NO_STORE = """\
There is no store to work with: REDIS_URL is not set, and no `marias serve` runs on {data}.
Set REDIS_URL=redis://host:6379/0, or run everything at once with: marias serve"""


def with_store(config: Config) -> Config:
    """`config` with the store's addresses: as set, else those of the `marias serve` on the data folder.

    Raises click.ClickException when there is neither.
    """
    if config.redis_url is not None:
        return replace(config, jobs_redis_url=config.jobs_redis_url or jobs_url(config.redis_url))
    running = read_running(config.data)
    if running is None:
        raise click.ClickException(NO_STORE.format(data=config.data))
    return replace(
        config, redis_url=running.redis_url, jobs_redis_url=config.jobs_redis_url or running.jobs_redis_url,
        heads=config.heads or running.heads,
    )


@contextmanager
def opened(config: Config) -> "Iterator[Redis]":
    """The store of `config`, for a command of the operator; what was archived and trimmed is read in the archive."""
    from services.archive.folder import attach
    from services.store.connect import connect

    assert config.redis_url is not None
    with connect(config.redis_url, replicas=config.replicas) as redis:
        attach(redis, config.archive_beside)  # The first deal may be archived while this runs.
        yield redis


def _run(role: str, **given: object) -> None:
    chosen = {name: value for name, value in given.items() if value is not None}
    config = with_store(replace(Config.from_environment(), **chosen))  # type: ignore[arg-type]  # By click's types.
    try:
        run_role(role, config)
    except KeyboardInterrupt:
        sys.exit(130)
    except CannotServe as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES):
            raise
        where = f"{config.host}:{config.port}"
        raise click.ClickException(f"Cannot listen on {where}: {error}.\nTake another --port or --host.") from error


_folder = click.Path(file_okay=False, path_type=Path)
_data = click.option("--data", type=_folder, help="The data folder (keys).")
_port = click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on.")
_host = click.option("--host", help="The address to listen on.")


@click.command()
@_port
@_host
@_data
def api(port: int | None, host: str | None, data: Path | None) -> None:
    """The HTTP API alone: takes commands and answers views. Needs a store."""
    _run("api", port=port, host=host, data=data)


@click.command()
@_port
@_host
@_data
def push(port: int | None, host: str | None, data: Path | None) -> None:
    """Streams and sockets alone; a proxy sends `/stream` and `/socket` here. Needs a store."""
    _run("push", port=port, host=host, data=data)


@click.command()
@_port
@_host
@_data
def front(port: int | None, host: str | None, data: Path | None) -> None:
    """The API and push in one process on one port, as `marias serve` runs them. Needs a store."""
    _run("front", port=port, host=host, data=data)


@click.command()
@_data
def worker(data: Path | None) -> None:
    """Decide commands: claim partitions, fold, decide, write events, receipts and views in one step."""
    _run("worker", data=data)


@click.command()
@_data
def projector(data: Path | None) -> None:
    """Follow the events and keep the bank, the lobby and the deal records up to date."""
    _run("projector", data=data)


@click.command()
@_data
def jobs(data: Path | None) -> None:
    """Work that may be late and may run twice: the bots' moves. Uses JOBS_REDIS_URL."""
    _run("jobs", data=data)

"""`marias serve`: everything in one process tree."""

import sys
from contextlib import suppress
from pathlib import Path

import click

from services.config import Config


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="The one port of everything; 0: a free one.")
@click.option("--host", help="The address to listen on; 0.0.0.0 for the whole network.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@click.option("--verbose", "-v", is_flag=True, help="Show what each child says.")
def serve(port: int | None, host: str | None, data: Path | None, workers: int, verbose: bool) -> None:
    """Run everything on one port: store, API, push, workers, projections, jobs.

    Unless REDIS_URL names a store of yours, an embedded one is started in the data folder; it writes every
    command to the disk before the command is answered. Stop with Ctrl-C; a later start with the same folder
    continues every table.

    \b
    Examples:
      marias serve
      marias serve --port 9000 --data /srv/marias
      REDIS_URL=redis://localhost:6379/0 marias serve --workers 2
    """
    from services.serve.errors import CannotServe
    from services.serve.program import serve as run

    config = Config.from_environment().given(port=port, host=host, data=data)
    try:
        run(config, workers=workers, verbose=verbose, say=_say)
    except (CannotServe, OSError) as error:
        raise click.ClickException(str(error)) from error


def _say(line: str) -> None:
    """On the standard output at once, also into a pipe.

    A reader that has gone away is no reason to stop, nor is a log on a disk that is full.
    """
    with suppress(OSError):
        click.echo(line)
        sys.stdout.flush()

"""`marias rebuild`: every projection made again from the events, compared with the live one, and replaced."""

import sys
from pathlib import Path

import click

from services.cli.progress import show
from services.cli.roles import opened, with_store
from services.config import Config

SHOWN_MAX = 20


@click.command()
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
def rebuild(data: Path | None) -> None:
    """Drop and rebuild every projection (bank, scores, deal records, lobby) from the events, and compare.

    Safe while the system runs: readers go on, and the projections stand still for a moment at the end. The exit
    status is 1 if anything differed; by then it has been replaced by what the events say.
    """
    from services.projections.rebuild import rebuild as make_again
    from services.store.cold import PastMissing
    from services.store.installation import partitions_kept
    from services.store.outputs import Held

    config = with_store(Config.from_environment().given(data=data))
    try:
        with opened(config) as redis:
            found = make_again(redis, partitions_kept(redis, config.partitions), _progress)
    except Held as error:
        raise click.ClickException("Another rebuild is running; wait for its end.") from error
    except PastMissing as error:
        raise click.ClickException(f"Nothing was changed. {error}") from error
    finally:
        show("")
    click.echo(f"{'projection':<16}{'keys':>10}{'equal':>10}{'different':>11}")
    for name, compared, different in found.lines:
        click.echo(f"{name:<16}{compared:>10}{compared - different:>10}{different:>11}")
    for key in found.different[:SHOWN_MAX]:
        click.echo(f"different: {key}")
    if len(found.different) > SHOWN_MAX:
        click.echo(f"... and {len(found.different) - SHOWN_MAX} more")
    for table in found.stopped:
        click.echo(f"stopped by an error: {table}")
    if found.different or found.stopped:
        sys.exit(1)


def _progress(what: str, done: int, of: int) -> None:
    show(f"{what}: {done} of {of}")

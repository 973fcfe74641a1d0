"""`marias dead`: commands that were given up, to look at, to retry and to discard."""

import getpass
import json
import socket
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click
from redis import Redis

from services.cli.roles import opened, with_store
from services.config import Config

HELP = """\
Commands that were given up: list, look at, retry, discard.

A command becomes a dead letter when the rules fail on it three times (they raise, compute without end, or ask for
more memory than a worker may have), or when a worker dies at it and child processes that try it do too. Its sender was
refused with `internal`; the table and the rest of the partition went on.

\b
1. marias dead list                 what is there, the newest first
2. marias dead show 1f-17…-0        the traceback: this is what is to be mended
3. marias dead retry 1f-17…-0       with the mended program: once more through intake
   marias dead discard 1f-17…-0 --why "sender has left"

A retry goes under a key of its own that is made from the letter, so however often it is repeated it acts once. Its
sender's receipt stays `internal`: who asks again is told what was said before. Cards are never shown.

It works on REDIS_URL if set, else on the `marias serve` that runs on the data folder. Every command takes --json.
"""


@click.group(help=HELP)
def dead() -> None:
    """The group."""


class Near(NamedTuple):
    """What every command works with."""

    redis: Redis
    config: Config
    as_json: bool


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command, and what it does with faults of the caller and of the store."""

    @click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @wraps(command)
    def run(*, data: Path | None, as_json: bool, **given: Any) -> None:
        from services.operations.letters import NoLetter
        from services.operations.retry import NotRetried
        from services.store.cold import PastMissing
        from services.store.wire import StoreUnavailable

        config = with_store(Config.from_environment().given(data=data))
        try:
            with opened(config) as redis:
                command(Near(redis, config, as_json), **given)
        except (NoLetter, NotRetried, PastMissing) as error:
            raise click.ClickException(f"{str(error).rstrip('.')}.") from error
        except StoreUnavailable as error:
            raise click.ClickException(f"The store does not answer: {error}. Nothing is lost by trying again.") \
                from error

    return run


_WHO = click.option("--who", help="Who does it; unset: the user and the machine.")


@dead.command(name="list")
@_common
def list_(near: Near) -> None:
    """All dead letters, the newest first."""
    from services.operations.letters import letters
    from services.store.installation import partitions_kept

    rows = [letter.row() for letter in letters(near.redis, partitions_kept(near.redis, near.config.partitions))]
    if near.as_json:
        click.echo(json.dumps({"dead_letters": rows}))
        return
    for row in rows:
        click.echo(f"{row['id']}  {_time(row['at'])}  {row['table']}  {row['type'] or '?'}  {row['error']}")
    click.echo(f"{len(rows)} dead letter{'s' if len(rows) != 1 else ''}", err=True)


@dead.command()
@click.argument("letter")
@_common
def show(near: Near, letter: str) -> None:
    """Everything about one: where it stood, who sent it, the traceback. Never a card."""
    from services.operations.letters import NoLetter, ended
    from services.operations.letters import letter as read

    how = ended(near.redis, letter)
    try:
        page = read(near.redis, letter).page()
    except NoLetter:
        if how is None:
            raise
        page = {"id": letter}
    if how is not None:
        page["ended"] = how
    if near.as_json:
        click.echo(json.dumps(page))
        return
    for name, value in page.items():
        if name != "traceback":
            click.echo(f"{name:<12} {_time(value) if name == 'at' else _plain(value)}")
    click.echo(f"\n{page.get('traceback', '').rstrip()}")


@dead.command()
@click.argument("letter")
@click.option("--wait", type=click.FloatRange(0, 300), default=10.0, show_default=True, help="Seconds to wait.")
@_WHO
@_common
def retry(near: Near, letter: str, wait: float, who: str | None) -> None:
    """Put one through intake again, once; the exit status is 0 if it was applied."""
    from services.envelope import has_keys, sender_of
    from services.intake import attach
    from services.operations.retry import retry as again

    if not has_keys(near.config.keys):
        raise click.ClickException(f"No keys of the system are in {near.config.keys}: name its data folder by --data.")
    attach(near.redis, sender_of(near.config.keys))
    done = again(near.redis, letter, who or _somebody(), wait_seconds=wait)
    outcome = done.get("outcome")
    if near.as_json:
        click.echo(json.dumps({"id": letter} | done))
    elif done["did"] == "discard":
        click.echo(f"{letter} was discarded by {done['who']}: {done['why']}")
    elif outcome is None:
        click.echo(f"{letter} is taken in again and not decided yet; ask again with: marias dead retry {letter}")
    elif outcome["status"] == "applied":
        click.echo(f"{letter} was applied at version {outcome['version']}")
    else:
        again_dead = " (given up again: see `marias dead list`)" if outcome["code"] == "internal" else ""
        click.echo(f"{letter} was refused: {outcome['code']}{again_dead}")
    if outcome is None or outcome["status"] != "applied":
        sys.exit(1)


@dead.command()
@click.argument("letter")
@click.option("--why", required=True, help="The reason; it is kept.")
@_WHO
@_common
def discard(near: Near, letter: str, why: str, who: str | None) -> None:
    """Remove one; who did it and why is kept."""
    from services.operations.retry import discard as remove

    done = remove(near.redis, letter, who or _somebody(), why)
    click.echo(json.dumps({"id": letter} | done) if near.as_json else f"{letter} is discarded")


def _somebody() -> str:
    return f"{getpass.getuser()}@{socket.gethostname()}"


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)

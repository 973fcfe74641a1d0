"""`marias log`: the log of finished deals as it is kept outside the store."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from services.cli.progress import show
from services.cli.words import amount
from services.config import Config

if TYPE_CHECKING:
    from redis import Redis

HELP = """\
The log of finished deals outside the store: check, restore, receipt.

The projector signs a head of the log each minute in which deals end, and adds it, with the deals since the one before,
to MARIAS_HEADS (<data>/heads.jsonl). That file alone makes the whole log. A log in the store that is not the one that
was signed is never signed again: `marias status` says so.

\b
  marias log check                 every line: signature, deals, root
  marias log restore               append to the store's log what only the file has
  marias log receipt RECEIPT       is what was signed for a player still what the table's events say?
"""

_data = click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder.")


@click.group(help=HELP)
def log() -> None:
    """The group."""


@log.command(short_help="Prove every line of the file of heads.")
@_data
@click.argument("file", required=False, type=click.Path(dir_okay=False, exists=True, path_type=Path))
def check(data: Path | None, file: Path | None) -> None:
    """Prove every line of FILE (default: MARIAS_HEADS) by the keys of the data folder. Exit status 1 at a fault."""
    from services.rings import Ring
    from services.signing import PREFIX
    from services.transparency.heads import BadHeads, all_checked
    from services.transparency.outside import InFile, outside

    config = Config.from_environment().given(data=data)
    kept = InFile(file) if file else outside(config.heads_outside)
    if isinstance(kept, InFile) and not kept.path.exists():
        raise click.ClickException(f"There is no {kept.name}: the projector writes it within a minute after the first "
                                   "deal ends.\nIf it lies elsewhere: marias log check FILE --data DIRECTORY")
    size, number = 0, 0
    keys = Ring(config.receipt_keys, PREFIX, lazy=True)  # Who only looks makes no key.
    try:
        for number, line in enumerate(all_checked(keys.find, kept.lines()), 1):
            size = line.size
            show(f"checked: {number} heads, {size} deals")
    except BadHeads as error:
        raise click.ClickException(f"{kept.name}: {error}") from error
    except OSError as error:
        raise click.ClickException(f"{kept.name} cannot be read: {error.strerror}.") from error
    finally:
        show("")
    click.echo(f"{amount(number, 'head')} of {amount(size, 'deal')} whole in {kept.name}")


@log.command(short_help="Append to the store's log what only the file has.")
@_data
def restore(data: Path | None) -> None:
    """Append to the log in the store the deals that only the file has, in the same order.

    For a store that has lost them. What the store has must be the beginning of what the file has. Without REDIS_URL
    it is the store of the `marias serve` on the data folder, whether that runs or not.
    """
    from services.cli.roles import with_store
    from services.serve.errors import CannotServe
    from services.serve.folder import read_running
    from services.serve.own_store import running_store
    from services.store.connect import connect

    config = Config.from_environment().given(data=data)
    with ExitStack() as held:
        try:
            if config.redis_url or read_running(config.data):
                address = with_store(config).redis_url or ""
            else:
                address = held.enter_context(running_store(config))
            added = restored(held.enter_context(connect(address, replicas=config.replicas)), config)
        except CannotServe as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"{amount(added, 'deal')} appended to the log from {config.heads_outside}")


@log.command(short_help="Hold signed receipts against the events.")
@_data
@click.argument("receipts", nargs=-1, required=True, metavar="RECEIPT...")
def receipt(data: Path | None, receipts: tuple[str, ...]) -> None:
    """Hold signed receipts (compact JWS, as `GET …/receipts/{key}` gives them) against the events of their tables.

    The exit status is 1 if one was not signed by the keys of the data folder, or if the events deny it: then the
    command was lost, or the table's past was written anew, and the place is named.
    """
    from services.cli.roles import opened, with_store
    from services.receipts import read
    from services.signing import BadSignature, Signer
    from services.store.cold import PastMissing
    from services.store.history import BrokenStream, entries_after
    from services.written import Written

    config = with_store(Config.from_environment().given(data=data))
    signer, tables, denials = Signer(config.receipt_keys), dict[str, Written](), 0
    with opened(config) as redis:
        for number, statement in enumerate(receipts, 1):
            show(f"receipts: {number} of {len(receipts)}")
            try:
                said = read(signer.find, statement)
                if said.table not in tables:
                    tables[said.table] = Written(said.table, entries_after(redis, said.table, 0))
                words = f"{said.table} version {said.version}: {said.status}, as the events have it"
                if (denied := tables[said.table].denies(said)) is not None:
                    words = f"DENIED at {denied.table} version {denied.version}, {denied.field}: {denied.reason}"
            except (BadSignature, BrokenStream, PastMissing) as error:
                words = f"DENIED: {error}"
            show("")
            click.echo(f"{number}: {words}")
            denials += words.startswith("DENIED")
    if denials:
        raise click.ClickException(f"{denials} of {len(receipts)} receipts are denied.")


def restored(redis: "Redis", config: Config) -> int:
    """Append what the file has and the store has not; gives how many deals. Raises click.ClickException."""
    from services.signing import Signer
    from services.transparency.heads import BadHeads
    from services.transparency.outside import outside
    from services.transparency.restoring import restore as append
    from services.transparency.signing import Book, Refused

    book = Book(redis, Signer(config.receipt_keys), outside(config.heads_outside))
    try:
        return append(book, lambda size: show(f"logged: {size} deals"))
    except (BadHeads, Refused) as error:
        raise click.ClickException(f"The log of finished deals is not restored: {error}") from error
    finally:
        show("")

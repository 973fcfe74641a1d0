"""`marias archive`: finished deals in files: make them now, verify them, list them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from services.cli.log import restored
from services.cli.progress import show
from services.cli.words import a_table, amount
from services.config import Config

if TYPE_CHECKING:
    from services.archive.table_file import End
    from services.exchange.proofs import Ended
    from services.signing import Find

HELP = """\
The archive of finished deals: run, verify, list, add, restore.

`marias serve` archives every deal by itself some seconds after its end, in <data>/archive, and then trims the store.
Each deal is one file, <partition>/<table>/<deal>.<first version>-<last version>.jsonl.zst: a header, then the entries
of the table's stream as they were. The files hold every card: they are readable by their owner alone.

\b
  marias archive run --all              archive now what is finished
  marias archive restore [DIR]          make the tables again in an empty store
  marias archive verify [DIR]           every file: header, SHA-256, chain, versions without a hole
  marias archive verify FILE            the same of a table that `marias export table` wrote
  marias archive add FILE [--to DIR]    put the deals of such a table into an archive
  zstd -dc FILE | head -1               the header of a file, without this program
"""

_data = click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder.")


@click.group(help=HELP)
def archive() -> None:
    """The group."""


@archive.command(short_help="Archive finished deals now, and trim the store.")
@_data
@click.option("--table", callback=a_table, help="Only this table.")
@click.option("--all", "every", is_flag=True, help="Every table.")
def run(data: Path | None, table: str | None, every: bool) -> None:
    """Archive finished deals now, and trim what is archived. Safe while the system runs."""
    from services.archive.make import archive as make
    from services.cli.roles import with_store
    from services.store import history
    from services.store.connect import connect
    from services.store.installation import partitions_kept

    if (table is None) == (not every):
        raise click.UsageError("Say --table T or --all.")
    config = with_store(Config.from_environment().given(data=data))
    assert config.redis_url is not None
    redis = connect(config.redis_url, replicas=config.replicas)
    folder = config.archive_beside
    partitions = partitions_kept(redis, config.partitions) if table is None else []
    tables = [table] if table else [each for partition in partitions for each in history.tables_of(redis, partition)]
    deals = 0
    for number, each in enumerate(tables):
        show(f"archived: {number} of {len(tables)} tables")
        deals += make(redis, folder, each, sys.maxsize)
    show("")
    redis.close()
    click.echo(f"{amount(deals, 'deal')} of {amount(len(tables), 'table')} archived in {folder}")


@archive.command(short_help="Read every file and prove it.")
@_data
@click.argument("place", metavar="[DIR|FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--keys", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The public keys of the service, as /v1/.well-known/jwks.json tells them.")
def verify(data: Path | None, place: Path | None, keys: Path | None) -> None:
    """Read every file and prove it. Exit status 1 if anything is wrong; the first fault is named.

    FILE is a table that `marias export table` wrote. That its deals are in the log which the service has signed is
    proven with --keys, else with the keys of the data folder, else with those that the file itself names.
    """
    from services.archive.folder import faults, files, tables

    if place is not None and not place.is_dir():
        whole = _proven(place)
        end, proof = whole.end, _proof(place, whole, keys, Config.from_environment().given(data=data))
        click.echo(f"{end.table} is whole in {place}: {amount(end.deals, 'deal')}, version {end.version}"
                   f"{', the last deal not at its end' if whole.rest else ''}\nhead {end.head}\n{proof}")
        return
    folder = _folder(data, place)
    first = next(faults(folder), None)
    if first is not None:
        raise click.ClickException(first)
    named = tables(folder)
    deals = sum(len(files(folder, table)) for table in named)
    click.echo(f"{amount(deals, 'deal')} of {amount(len(named), 'table')} whole in {folder}")


@archive.command(short_help="Put a table of `marias export` into an archive.")
@_data
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to", "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="The archive. Default: that of the data folder.")
def add(data: Path | None, file: Path, folder: Path | None) -> None:
    """Put the finished deals of FILE, a table that `marias export table` wrote, into an archive.

    Nothing is written unless all of FILE is whole, and no deal that is there is replaced. Then `marias archive
    restore` makes the table again in an empty store, and `marias audit --archive DIR` audits it.
    """
    from services.archive.folder import add as put
    from services.archive.frames import BadArchive
    from services.archive.table_file import Part, parts
    from services.regular import open_regular

    whole = _proven(file)
    end, rest = whole.end, whole.rest
    chosen = folder or Config.from_environment().given(data=data).archive_beside
    try:
        with open_regular(file) as packed:
            found = (part.deal for part in parts(packed) if isinstance(part, Part) and part.is_finished)
            added = put(chosen, found)
    except (BadArchive, OSError) as error:
        raise click.ClickException(str(error)) from error
    left = f"; of the deal that is not at its end {amount(rest, 'entry', 'entries')} left out" if rest else ""
    click.echo(f"{added} of {amount(end.deals, 'deal')} of {end.table} added to {chosen}{left}")


class _Whole(NamedTuple):
    """The end of a table's file that is whole, its finished deals by number, and how many entries its rest has."""

    end: "End"
    ended: "dict[int, Ended]"
    rest: int


def _proven(file: Path) -> _Whole:
    from services.archive.frames import BadArchive
    from services.archive.table_file import End, parts
    from services.exchange.proofs import Ended
    from services.regular import open_regular

    end: End | None = None
    ended: dict[int, Ended] = {}
    rest = 0
    try:
        with open_regular(file) as packed:
            for number, part in enumerate(parts(packed)):  # To its end: what follows is looked at too.
                show(f"proven: {number:,} deals")
                if isinstance(part, End):
                    end = part
                elif part.is_finished:
                    ended[part.deal.deal] = Ended(part.deal.first, part.deal.last, part.deal.head)
                else:
                    rest = len(part.deal.entries)
    except BadArchive as error:
        raise click.ClickException(f"{file}: {error}") from error
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}.") from error
    finally:
        show("")
    assert end is not None
    return _Whole(end, ended, rest)


def _proof(file: Path, whole: _Whole, keys: Path | None, config: Config) -> str:
    """What the log proves of a file, in words. Raises click.ClickException."""
    from schemas.times import rfc3339
    from services.exchange.proofs import BadProof, checked

    if whole.end.proof is None:
        return "no deal was in a signed log when it was written"
    try:
        find, whose = _keys(whole.end.proof, keys, config)
        proof = checked(whole.end.proof, whole.end.table, whole.ended, find)
    except BadProof as error:
        raise click.ClickException(f"{file}: {error}") from error
    return (f"{len(proof.deals)} of {amount(whole.end.deals, 'deal')} in the log of {amount(proof.size, 'deal')}"
            f" that was signed at {rfc3339(1000 * proof.at)} ({whose})")


def _keys(proof: object, keys: Path | None, config: Config) -> "tuple[Find, str]":
    """Whose keys the head of a log must be signed by, and that in words. Raises BadProof."""
    from schemas.errors import Malformed
    from schemas.json_text import read_json
    from services import private_files
    from services.exchange.proofs import BadProof
    from services.signing import BadSignature, Signer, published

    try:
        if keys is not None:
            return published(read_json(private_files.read(keys))), f"keys of {keys}"  # type: ignore[arg-type]
        if any(config.receipt_keys.glob("*.pem")):
            return Signer(config.receipt_keys).find, f"keys of {config.receipt_keys}"
        return published(proof), "by keys that only the file itself names"  # type: ignore[arg-type]  # Read strictly.
    except (BadSignature, Malformed, private_files.BadFile) as error:
        raise BadProof(f"the keys cannot be read: {error}") from error


@archive.command(short_help="Make the tables again in an empty store.")
@_data
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
def restore(data: Path | None, folder: Path | None) -> None:
    """Make every archived table again in an empty store, as it was after its last archived deal.

    Without REDIS_URL the store is the one in the data folder; `marias serve` must not run on it. Projections follow
    at the next start. What is not in the archive does not come back: running deals, accounts and their chips. The log
    of finished deals is made again from the heads that are kept outside the store, in the same order.
    """
    from contextlib import ExitStack

    from services.serve.errors import CannotServe
    from services.serve.own_store import running_store
    from services.store.cold import PastMissing
    from services.store.connect import connect
    from services.store.history import BrokenStream, NewerEvent
    from services.store.keys import all_partitions
    from services.store.wire import StoreUnavailable
    from services.worker.restore import NotEmpty
    from services.worker.restore import restore as make_again

    folder = _folder(data, folder)
    config = Config.from_environment().given(data=data)
    with ExitStack() as held:
        try:
            redis = held.enter_context(connect(config.redis_url or held.enter_context(running_store(config))))
            done = make_again(redis, folder, all_partitions(config.partitions), _restored)
            logged = restored(redis, config)
        except (NotEmpty, PastMissing, BrokenStream, NewerEvent, StoreUnavailable, CannotServe) as error:
            raise click.ClickException(str(error)) from error
        finally:
            show("")
    click.echo(f"{amount(done, 'table')} restored from {folder}; {amount(logged, 'deal')} in the log again")


def _restored(done: int, of: int) -> None:
    show(f"restored: {done} of {of} tables")


@archive.command(name="list", short_help="The archived tables, and what there is of each.")
@_data
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each table.")
def list_(data: Path | None, folder: Path | None, as_json: bool) -> None:
    """The archived tables: how many deals, up to which version, how many bytes."""
    for row in _rows(_folder(data, folder)):
        words = "{table}  {deals:>6} deals, up to version {version:>6}, {bytes:>10,} bytes".format(**row)
        click.echo(json.dumps(row) if as_json else words)


def _rows(folder: Path) -> Iterator[dict[str, object]]:
    from services.archive.folder import files, tables

    for table in tables(folder):
        found = files(folder, table)
        if found:
            size = sum(file.path.stat().st_size for file in found)
            yield {"table": table, "deals": len(found), "version": found[-1].last, "bytes": size}


def _folder(data: Path | None, folder: Path | None) -> Path:
    chosen = folder or Config.from_environment().given(data=data).archive_beside
    if not chosen.is_dir():
        raise click.ClickException(f"There is no folder {chosen}.\n`marias serve` makes it with the first "
                                   "finished deal. Say which it is with DIR, or the data folder with --data.")
    return chosen

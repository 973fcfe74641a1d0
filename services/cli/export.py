"""`marias export`: deals as records, tables as one file, ledgers as CSV, for use elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from services.cli.output import out_option, output
from services.cli.progress import show
from services.cli.roles import opened, with_store
from services.cli.words import a_table
from services.config import Config

if TYPE_CHECKING:
    from redis import Redis

    from schemas.ledger_csv import Line
    from services.store.ledgers import Account

HELP = """\
Export deals as records, tables as one file, ledgers as CSV.

It reads the store with the owner's password, and archived deals from the archive; the system may run meanwhile. What
is written holds cards that were hidden, unless --seat or --spectator says otherwise.

\b
  marias export deals --all --out deals.jsonl      every finished deal, one record a line
  marias export deals TABLE --deal 3 | marias deal run -
  marias export deals TABLE | marias import -      each is played again by the rules
  marias export table TABLE --out table.jsonl.zst  all of a table, chained and proven
  marias export ledger --player u-1f-0a1b2c3d4e5f6071 > ana.csv
  marias export ledger --all --out books.csv
"""
SHOWN_EVERY = 100
TABLES_REMEMBERED = 256

_data = click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")


def _a_player(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from services.store.keys import is_player_id

    if value is not None and not is_player_id(value):
        raise click.BadParameter("A player is named as in u-1f-0a1b2c3d4e5f6071.", param=parameter)
    return value


@click.group(help=HELP)
def export() -> None:
    """The group."""


@export.command(short_help="Finished deals as records, one a line.")
@click.argument("table", required=False, callback=a_table)
@click.option("--all", "every", is_flag=True, help="Every table.")
@click.option("--deal", type=click.IntRange(min=1), help="One deal only.")
@click.option("--running", is_flag=True, help="Also the deal that is not at its end, as a position.")
@click.option("--seat", type=click.IntRange(0, 2), help="As far as this seat may know the deals.")
@click.option("--spectator", is_flag=True, help="As far as anybody may know them. Default: whole, as an auditor.")
@out_option
@_data
def deals(table: str | None, **options: Any) -> None:
    """Write the finished deals of TABLE, or of every table, as records, one a line.

    What is whole can be run: `marias deal run - --jsonl` answers with the same results.
    """
    import msgspec

    from services.exchange.deals import AUDITOR, Eye, records
    from services.store.history import entries_after

    eye: Eye = AUDITOR if options["seat"] is None else options["seat"]
    if options["spectator"]:
        if options["seat"] is not None:
            raise click.UsageError("Take --seat or --spectator.")
        eye = None
    if (table is None) != options["every"]:
        raise click.UsageError("Name a table, or say --all.")
    only = options["deal"]
    written = 0
    with _writing(options["out"], options["data"]) as (redis, write, config):
        for done, each in enumerate(_tables(redis, config, table)):
            show(f"exported: {written:,} deals of {done:,} tables")
            for number, record in records(each, entries_after(redis, each, 0), eye, running=options["running"]):
                if only in (None, number):
                    write(msgspec.json.encode(record) + b"\n")
                    written += 1
        if table is not None and not written:
            raise click.ClickException(f"There is no finished deal{f' {only}' if only else ''} at {table}.")


@export.command(name="table", short_help="All of a table in one file, chained and proven.")
@click.argument("table", callback=a_table)
@out_option
@_data
def whole_table(table: str, out: Path | None, data: Path | None) -> None:
    """Write all of TABLE into one file: every finished deal, and what has happened since, each entry in the hash chain,
    and the proof that the deals are in the log of finished deals.

    The file is JSON lines, packed with zstd; `zstd -dc FILE` shows it, `marias archive verify FILE` proves it,
    `marias archive add FILE` puts its deals into another archive. It holds every card.
    """
    from services.archive.table_file import packed_table
    from services.exchange.proofs import proof_of
    from services.signing import Signer
    from services.store.cold import version_of
    from services.store.history import last_version, raw_after

    if out is None and sys.stdout.isatty():
        raise click.UsageError("It is no text: say --out FILE, or send it through a pipe.")
    with _writing(out, data) as (redis, write, config):
        version = last_version(redis, table)
        if not version:
            raise click.ClickException(f"There is no table {table}.")
        entries = takewhile(lambda entry: version_of(entry) <= version, raw_after(redis, table, 0))
        keys = Signer(config.receipt_keys).jwks() if any(config.receipt_keys.glob("*.pem")) else []
        prove = partial(proof_of, redis, table, keys=keys)
        for number, frame in enumerate(packed_table(table, version, entries, prove)):
            show(f"exported: {max(0, number - 1):,} deals")
            write(frame)


@export.command()
@click.option("--player", callback=_a_player, help="Both accounts of this player.")
@click.option("--table", callback=a_table, help="What moved at the seats of this table, bots too.")
@click.option("--all", "every", is_flag=True, help="Both accounts of every player.")
@click.option("--account", type=click.Choice(["score", "chips"]), help="One account only.")
@out_option
@_data
def ledger(player: str | None, table: str | None, **options: Any) -> None:
    """Write postings as CSV: of a player, of a table, or of all players.

    The columns are player, name, account, id, chips, balance (after the posting), table, deal, version and at. A
    player has two accounts: score (free tables) and chips. A line of a table says what then lay at the seat. The text
    is UTF-8, numbers are whole, and text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    from schemas.ledger_csv import csv_lines, header

    if (player is not None) + (table is not None) + options["every"] != 1:
        raise click.UsageError("Say --player P, --table T or --all.")
    if table is not None and options["account"]:
        raise click.UsageError("--account belongs to players, not to a table.")
    with _writing(options["out"], options["data"]) as (redis, write, _):
        write(header())
        count = 0
        for line in csv_lines(_lines(redis, player, table, options["account"])):
            write(line)
            count += 1
            if count % SHOWN_EVERY == 0:
                show(f"exported: {count:,} postings")
        if not count and not _is_there(redis, player, table):
            raise click.ClickException(f"There is no {'table' if table else 'player'} {table or player}.")


def _lines(redis: "Redis", player: str | None, table: str | None, account: "Account | None") -> "Iterator[Line]":
    from services.exchange.ledgers import of_player, of_table
    from services.store.history import entries_after
    from services.store.players import all_players

    if table is not None:
        yield from of_table(table, entries_after(redis, table, 0))
        return
    which: tuple[Account, ...] = (account,) if account else ("score", "chips")
    name_of = _names(redis)
    for each in [player] if player else all_players(redis):
        yield from of_player(redis, each, name_of(each), which)


def _names(redis: "Redis") -> Callable[[str], str]:
    """By which name a player sat down at the last table that his postings lead to."""
    from services.exchange.ledgers import names_at, of_player
    from services.store.history import entries_after

    @lru_cache(TABLES_REMEMBERED)
    def sat_at(table: str) -> dict[str, str]:
        return names_at(table, entries_after(redis, table, 0))

    def name_of(player: str) -> str:
        led = ((line.at, line.table) for line in of_player(redis, player) if line.table)
        _, table = max(led, default=(0, ""))
        return sat_at(table).get(player, "") if table else ""

    return name_of


def _tables(redis: "Redis", config: Config, table: str | None) -> Iterator[str]:
    from services.store import history
    from services.store.installation import partitions_kept

    if table is not None:
        yield table
        return
    for partition in partitions_kept(redis, config.partitions):
        yield from history.tables_of(redis, partition)


def _is_there(redis: "Redis", player: str | None, table: str | None) -> bool:
    from services.store import accounts, history, keys

    if table is not None:
        return table in history.tables_of(redis, keys.partition_of(table))
    return player is None or accounts.balance(redis, player) is not None


@contextmanager
def _writing(out: Path | None, data: Path | None) -> "Iterator[tuple[Redis, Callable[[bytes], object], Config]]":
    """The store, and how to write; failures of either are told, and a Ctrl-C leaves no file."""
    from services.archive.frames import BadArchive
    from services.store.cold import PastMissing
    from services.store.history import BrokenStream, NewerEvent
    from services.store.wire import StoreUnavailable

    config = with_store(Config.from_environment().given(data=data))
    try:
        with output(out) as file, opened(config) as redis:
            yield redis, file.write, config
    except KeyboardInterrupt:
        sys.exit(130)
    except (BadArchive, PastMissing, BrokenStream, NewerEvent, StoreUnavailable) as error:
        raise click.ClickException(str(error)) from error
    finally:
        show("")

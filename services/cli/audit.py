"""`marias audit`: every table again from its first event, and all that was made of it compared."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from services.cli.progress import show
from services.cli.roles import opened, with_store
from services.cli.words import a_table, amount
from services.config import Config

if TYPE_CHECKING:
    from redis import Redis

    from services.audit.log import Kept
    from services.audit.notes import Notes
    from services.audit.run import Report
    from services.audit.shuffle import OpenKey

SHOWN_MAX = 20
FAULTY, NOT_BEGUN, UNREAD, STOPPED = 1, 2, 3, 130
BAR = 30

HELP = """\
Audit TABLE, or --all tables with all accounts and scores, or with --archive DIR an archive by itself.

From its first event to its last every entry is read strictly and its command, made again from its events, decided
again: it must cause these very events, with their points and payments. Then all that was made of it is compared:
views, feed, snapshot, receipts, bank, records, sealed records, lobby, scores, accounts, the archived files, and the
log of finished deals with its signed heads: a deal that was written anew, with all hashes after it, is named by that.
Nothing is written, and tables may be played meanwhile. Of one table the log is read as far as its own leaves go, each
proven under the last signed head; the whole log, and that no leaf stands where none should, is --all's.

\b
  marias audit --all                    everything that the store and the archive hold
  marias audit t-1f-0a1b2c3d4e5f        one table
  marias audit --archive DIR            the files alone, without any store
  marias audit --all --keys FOLDER      with the auditor's private key: also the shuffles
  marias audit --archive DIR --heads FILE   the files against the signed heads of the log of finished deals

\b
Exit status:
  0    nothing is wrong
  1    something is: the first fault is named by table, version and field, with what was expected and found
  2    it could not begin: a wrong option, no store, no archive, keys that cannot be read
  3    no fault, but something could not be read: the store went away, or the archive of a table is not here, or the
       heads tell deals that it does not have (yet)
  130  stopped by Ctrl-C; the same command goes on where it was
"""


@click.command(help=HELP)
@click.argument("table", required=False, callback=a_table)
@click.option("--all", "every", is_flag=True, help="All tables, accounts and scores.")
@click.option("--archive", "alone", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Audit this archive alone; with TABLE only that table of it.")
@click.option("--keys", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Where auditor.key lies: also check that each deal was shuffled by its sealed key.")
@click.option("--heads", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The signed heads outside the store, proven by the data folder's keys. Default: MARIAS_HEADS.")
@click.option("--resume", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Keep what is done in FILE, and go on there if it exists. Default: a file in the data folder.")
@click.option("--fresh", is_flag=True, help="Begin anew, whatever an earlier audit has left.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--night", hidden=True, help="Slowly, and keep the result for `marias status` as that of this night.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
def audit(table: str | None, **options: Any) -> None:
    """The command."""
    from services.audit.notes import NotOurs
    from services.private_files import BadFile
    from services.store.wire import StoreUnavailable

    alone: Path | None = options["alone"]
    if bool(table) + bool(options["every"]) + (alone is not None and not table) != 1:
        raise click.UsageError("Say a TABLE, --all, or --archive DIR.")
    config = Config.from_environment().given(data=options["data"])
    file = _state_file(config, options["resume"])
    try:
        night = options["night"]
        if night:
            report = _of_night(config, night)
        else:
            asked = Asked(table, alone, _opener(options["keys"]), options["fresh"], options["heads"])
            report = _audited(config, asked, file)
    except KeyboardInterrupt:
        show("")
        click.echo(f"stopped; {_goes_on(file)}", err=True)
        sys.exit(STOPPED)
    except NotOurs as error:
        raise click.UsageError(str(error)) from error
    except click.ClickException as error:
        error.show()
        sys.exit(NOT_BEGUN)  # Its own status would say that a table is at fault.
    except (BadFile, OSError) as error:  # Of keys and folders that the audit needs; what it looks at it reports.
        click.echo(f"marias audit: {error}", err=True)
        sys.exit(NOT_BEGUN)
    except StoreUnavailable as error:
        show("")
        click.echo(f"marias audit: the store went away: {error}\n{_goes_on(file)}", err=True)
        sys.exit(UNREAD)
    finally:
        show("")
    if options["as_json"]:
        click.echo(json.dumps(report.document(), ensure_ascii=False))
    else:
        for line in page(report):
            click.echo(line)
    sys.exit(FAULTY if report.faults else UNREAD if report.missing else 0)


class Asked(NamedTuple):
    """What is asked for: a table (None: all), an archive alone, with which key, whether from the beginning, and with
    which heads (None: those of the installation, if they are here)."""

    table: str | None
    alone: Path | None
    open_key: "OpenKey | None"
    fresh: bool
    heads: Path | None


def _kept(config: Config, heads: Path | None) -> "Kept | None":
    """The heads outside the store, with the keys that sign them. None: nobody has named them, and they are not here."""
    from services.audit.log import Kept
    from services.rings import Ring
    from services.signing import PREFIX
    from services.transparency.outside import InFile, outside

    where = InFile(heads) if heads else outside(config.heads_outside)
    is_named, has_keys = heads is not None or config.heads is not None, _holds_keys(config.receipt_keys)
    if heads is None and not (has_keys and (is_named or os.path.lexists(config.data / "heads.jsonl"))):
        return None  # On a host without the keys the audit says that this was not checked.
    if not has_keys:
        raise click.UsageError(f"{config.receipt_keys} holds no key that could prove the heads in {where.name}. Name "
                               "with --data a data folder that has keys/receipts (public halves are enough).")
    return Kept(where, Ring(config.receipt_keys, PREFIX, lazy=True).find)


def _holds_keys(folder: Path) -> bool:
    """Are there any? Raises OSError where that cannot be told."""
    try:
        return any(name.endswith(".pem") for name in os.listdir(folder))
    except FileNotFoundError:
        return False


def _opener(keys: Path | None) -> "OpenKey | None":
    """Opens the sealed keys of deals, if the auditor's private key is in the folder."""
    if keys is None:
        return None
    from services.worker.seal import PRIVATE, open_sealed, read_private_key

    try:
        return partial(open_sealed, read_private_key(keys))
    except FileNotFoundError as error:
        where = f"{keys} holds no {PRIVATE}; `marias serve` puts it into <data>/keys."
        raise click.BadParameter(where, param_hint="--keys") from error
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{keys / PRIVATE} is not the auditor's key: {error}", param_hint="--keys") from error


def _is_known(redis: "Redis", archive: Path, table: str) -> bool:
    """Has anybody ever heard of this table? Else its name is mistyped, which is no fault of its past."""
    from services.archive.folder import files
    from services.store.deal_log import index_of
    from services.store.history import last_version, tables_of
    from services.store.keys import partition_of

    if last_version(redis, table) or table in tables_of(redis, partition_of(table)):
        return True
    return bool(files(archive, table)) or index_of(redis, table, 1) is not None


def _audited(config: Config, asked: Asked, file: Path | None) -> "Report":
    from redis.exceptions import ResponseError

    from services.audit.run import Installation, audit_folder, read_heads
    from services.audit.run import audit as whole
    from services.store.installation import partitions_kept
    from services.store.keys import installation
    table, alone, open_key, fresh, heads = asked
    if alone is not None:
        if table is not None and not (alone / table[2:4] / table).is_dir():
            raise click.UsageError(f"{alone} holds nothing of {table}.")
        with _notes(file, f"{table or 'all'} in {alone.resolve()}", fresh=fresh) as notes:
            if heads is not None and (kept_heads := _kept(config, heads)) is not None:
                read_heads(kept_heads, notes)
            return audit_folder(alone, notes, _progress(), only=table or "", open_key=open_key)
    config = with_store(config)
    assert config.redis_url is not None
    where = config.redis_url.rpartition("@")[2]
    with opened(config) as redis:
        if table is not None and not _is_known(redis, config.archive_beside, table):
            raise click.UsageError(f"Neither store, archive nor log of finished deals has anything of {table}.")
        try:
            partitions = partitions_kept(redis, config.partitions)
        except (ResponseError, ValueError) as error:
            raise click.ClickException(f"{installation()} does not tell the number of partitions: {error}") from error
        place = Installation(redis, config.archive_beside, partitions, open_key, _kept(config, heads))
        with _notes(file, f"{table or 'all'} at {where}", fresh=fresh) as notes:
            return whole(place, notes, _progress(), only=table or "")


def _of_night(config: Config, night: str) -> "Report":
    """What the nightly job runs. Another one that is at it is left alone."""
    from services.audit.nightly import Busy, LostHold, audit_night
    from services.audit.run import Installation
    from services.store.keys import all_partitions

    file = config.data / "nightly.state" if config.data.is_dir() else None
    try:
        with opened(config) as redis, _notes(file, f"the night of {night}", fresh=_is_other(file, night)) as notes:
            partitions = all_partitions(config.partitions)
            place = Installation(redis, config.archive_beside, partitions, None, _kept(config, None))
            return audit_night(place, notes, night)
    except (Busy, LostHold):
        sys.exit(0)


def _is_other(file: Path | None, night: str) -> bool:
    """Was the state left by the audit of another night?"""
    from services.audit.notes import Notes, NotOurs

    try:
        Notes(file, f"the night of {night}").close(is_done=False)
    except NotOurs:
        return True
    return False


@contextmanager
def _notes(file: Path | None, subject: str, *, fresh: bool) -> "Iterator[Notes]":
    """The state of this audit, begun or gone on with; it is deleted once the audit is through."""
    from services.audit.notes import Notes

    if fresh and file is not None:
        Notes.begin_anew(file)
    notes = Notes(file, subject)
    if notes.is_resumed:
        click.echo(f"going on after {amount(notes.totals.tables, 'table')}, as noted in {file}", err=True)
    is_done = False
    try:
        yield notes
        is_done = True
    finally:
        notes.close(is_done=is_done)


def _state_file(config: Config, resume: Path | None) -> Path | None:
    """Where the state is kept; None: nowhere, as there is no folder for it."""
    if resume is not None:
        return resume
    return config.data / "audit.state" if config.data.is_dir() else None


def _goes_on(file: Path | None) -> str:
    if file is None:
        return "with --resume FILE it could have been gone on with"
    return f"the same command goes on where it was ({file})"


def _progress() -> Any:
    """A bar that is drawn again ten times a second at most."""
    drawn = 0.0

    def draw(what: str, done: int, of: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn < 0.1 and done < of:
            return
        drawn = now
        full = BAR * done // of if of else BAR
        show(f"[{'#' * full}{'.' * (BAR - full)}] {done:,} of {of:,} {what}")

    return draw


def page(report: "Report") -> list[str]:
    """The report for people."""
    lines = [f"FAULT {fault.line()}" for fault in report.faults[:SHOWN_MAX]]
    if len(report.faults) > SHOWN_MAX:
        lines.append(f"... and {len(report.faults) - SHOWN_MAX} more faults")
    lines += [f"not read: {each}" for each in report.missing[:SHOWN_MAX]]
    lines += [f"not checked: {what} ({amount(times, 'time')})" for what, times in report.unchecked.items()]
    said = (f"{amount(report.deals, 'deal')} of {amount(report.tables, 'table')}"
            f" in {amount(report.entries, 'entry', 'entries')}")
    if report.accounts:
        said += f", {amount(report.postings, 'posting')} of {amount(report.accounts, 'account')}"
    rate = f"{report.deals / report.seconds:,.0f} deals a second" if report.seconds > 0 else ""
    word = f"{len(report.faults)} FAULTS" if report.faults else "NOT ALL READ" if report.missing else "clean"
    return [*lines, f"{word}: {said}; {report.seconds:.1f} s, {rate}"]

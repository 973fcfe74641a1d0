"""`marias bench audit`: deals decided again, hashed again and compared with all that was made of them."""

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Final

import click

from services.archive import folder
from services.archive.make import archive
from services.audit.log import Kept
from services.audit.logged import UNLOGGED
from services.audit.notes import Notes
from services.audit.run import Installation, Report, audit_folder, read_heads
from services.audit.run import audit as audit_all
from services.bench import machine
from services.bench.engine import Row
from services.bench.own_store import Store, own_store
from services.bench.queues import Owned
from services.cli.temporary import NotStarted
from services.projections.subscription import Subscription
from services.serve.binary import NoServer
from services.signing import Signer
from services.store import deal_log, keys
from services.store.append import BATCH_MAX, Position, Status, apply_many
from services.store.wire import Request, ask_all
from services.transparency.keeping import Keeper
from services.transparency.outside import InFile
from services.transparency.signing import Book, sign

PARTITION: Final = "00"
DEALS_EACH: Final = 50
"""So many deals are played at a table."""


@click.command()
@click.option("--deals", type=click.IntRange(min=1), default=1_000, show_default=True,
              help="Played by the bots' rule, 50 at each table.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Medians are shown.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the decks.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def audit(*, deals: int, rounds: int, seed: int, as_json: bool) -> None:
    """Measure `marias audit` on deals that were really played, in a store of its own and in its archive.

    The figures are deals (and entries) for each second of CPU time of the auditing process.
    """
    try:
        with own_store("everysec") as running, tempfile.TemporaryDirectory() as files:
            rows = run(running, Path(files), deals, rounds, Random(seed))
    except (NotStarted, NoServer) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        figures = [asdict(row) | {"median": row.median} for row in rows]
        click.echo(json.dumps({"machine": machine.describe(), "deals": deals, "rows": figures}))
        return
    for row in rows:
        click.echo(f"{row.name:<44}{row.median:>10,.0f} {row.unit}  ({min(row.rounds):,.0f}-{max(row.rounds):,.0f})")
    click.echo(machine.describe())


def run(running: Store, files: Path, deals: int, rounds: int, chance: Random) -> list[Row]:
    """The figures. A report that is not clean is no figure."""
    tables = _play(running, deals, chance)
    Subscription(running.redis, [PARTITION]).begin()
    kept = _logged(running, files, tables)
    place = Installation(running.redis, None, [PARTITION], kept=kept)
    live = [_measured(lambda notes: audit_all(place, notes, _quiet)) for _ in range(rounds)]
    packed = files / "archive"
    folder.attach(running.redis, packed)
    for table in tables:
        archive(running.redis, packed, table, deals)
    cold = [_measured(lambda notes: _alone(packed, kept, notes)) for _ in range(rounds)]
    return [
        _row("store: deals decided and compared", "deals/s of CPU", live, lambda report: report.deals),
        _row("store: entries", "entries/s of CPU", live, lambda report: report.entries),
        _row("archive alone: deals decided", "deals/s of CPU", cold, lambda report: report.deals),
        _row("archive alone: entries", "entries/s of CPU", cold, lambda report: report.entries),
    ]


def _play(running: Store, deals: int, chance: Random) -> list[str]:
    """Long-lived tables, as clubs have them, written as a worker writes them."""
    tables = []
    with Owned(running.redis, [PARTITION], chance) as owned:
        for begun in range(0, deals, DEALS_EACH):
            for number, entries in enumerate(owned.chains[0].evening(min(DEALS_EACH, deals - begun))):
                if not number:
                    tables.append(entries[0].position.aggregate)
                ask_all(running.redis, [_taken_in(entry.position) for entry in entries])
                for start in range(0, len(entries), BATCH_MAX):
                    results = apply_many(running.redis, entries[start : start + BATCH_MAX])
                    assert all(each.status is Status.APPLIED for each in results), results
    return tables


def _logged(running: Store, files: Path, tables: list[str]) -> Kept:
    """Put all finished deals into the log, and sign its heads."""
    signer, outside = Signer(files / "keys"), InFile(files / "heads.jsonl")
    book = Book(running.redis, signer, outside)
    deal_log.add_unlogged(running.redis, [(table, 0) for table in tables])
    keeper = Keeper(book, [PARTITION])
    while keeper.turn():
        pass
    sign(book)
    return Kept(outside, signer.find)


def _alone(archive_folder: Path, kept: Kept, notes: Notes) -> Report:
    read_heads(kept, notes)
    return audit_folder(archive_folder, notes, _quiet)


def _taken_in(place: Position) -> Request:
    """What intake leaves of a command."""
    return "HSET", keys.reservations(place.aggregate), keys.receipt_field(place.actor, place.key), place.fingerprint


def _measured(run_: Callable[[Notes], Report]) -> tuple[Report, float]:
    notes = Notes(None, "bench")
    began = time.process_time()
    report = run_(notes)
    took = time.process_time() - began
    notes.close(is_done=True)
    assert report.is_clean, report.faults[:3]
    assert UNLOGGED not in report.unchecked, "a deal is not in the log"
    return report, took


def _row(name: str, unit: str, rounds: list[tuple[Report, float]], count: Callable[[Report], int]) -> Row:
    return Row(name=name, unit=unit, rounds=tuple(count(report) / took for report, took in rounds))


def _quiet(what: str, done: int, of: int) -> None:
    """Nobody is told how far it has come."""

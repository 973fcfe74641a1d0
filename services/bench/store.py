"""`marias bench store`: the write side without API and clients, beside what bounds it."""

import json
import signal
from dataclasses import asdict
from random import Random
from typing import Any, Final, NamedTuple

import click

from services.bench import machine
from services.bench.engine import Row
from services.bench.own_store import Store, own_store
from services.bench.queues import Owned, applied_and_plain, drained, p99, taken_over
from services.cli.temporary import NotStarted
from services.serve.binary import NoServer

PARTITION: Final = "00"


class Extent(NamedTuple):
    """How much is measured; see the options of the command."""

    rounds: int
    entries: int
    tables: int
    trials: int


@click.command()
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="All that is compared, in turn; medians are shown.")
@click.option("--entries", type=click.IntRange(min=32), default=3_000, show_default=True,
              help="How many entries a round applies.")
@click.option("--tables", type=click.IntRange(min=1), default=300, show_default=True,
              help="Of how many tables a deal lies in the queues that workers drain.")
@click.option("--trials", type=click.IntRange(min=0), default=3, show_default=True,
              help="How often a worker is ended in each of the two ways; a kill takes ten seconds.")
@click.option("--fsync", type=click.Choice(["always", "everysec"]), default="always", show_default=True,
              help="When the store writes to the disk.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the decks and of the players' choices.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def store(*, fsync: str, seed: int, as_json: bool, **extent: Any) -> None:
    """Measure the write side on a store of its own, without API and clients.

    \b
    apply      entries of deals that were really played, decided beforehand, written in
               batches of 32 to one partition; then plain XADDs of the bytes they keep.
    intake     the moves of such deals, taken in 32 at a time.
    drain      they wait in the queues of all partitions until one worker process is let
               at them; then fresh ones, and two workers. The tables are read first.
    take-over  one of two workers is ended, by kill -9 or asked by SIGTERM, while each
               partition gets a command: how long until it is answered.

    \b
    Examples:
      marias bench store
      marias bench store --trials 0 --rounds 9 --fsync everysec
      marias bench store --json
    """
    try:
        with own_store(fsync) as running:
            rows = run(running, Extent(**extent), Random(seed))
    except (NotStarted, NoServer) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        figures = [asdict(row) | {"median": row.median} for row in rows]
        click.echo(json.dumps({"machine": machine.describe(), "fsync": fsync, "rows": figures}))
    else:
        _print(rows, fsync)


def run(running: Store, extent: Extent, chance: Random) -> list[Row]:
    """The figures; what is compared takes turns in every round. Raises NotStarted."""
    rounds, entries, tables, trials = extent
    with Owned(running.redis, [PARTITION], chance) as owned:
        applied = [applied_and_plain(owned, entries) for _ in range(rounds)]
    pairs = [tuple(drained(running, tables, workers, chance) for workers in (1, 2)) for _ in range(rounds)]
    rows = [
        _row("apply, batches of 32, one partition", "entries/s", *(ours for ours, _ in applied)),
        _row("plain XADD of the same bytes", "entries/s", *(plain for _, plain in applied)),
        _row("apply / plain XADD", "x", *(ours / plain for ours, plain in applied)),
        _row("intake, batches of 32", "commands/s", *(each.taken_in for pair in pairs for each in pair)),
        _row("one worker drains full queues", "moves/s", *(one.handled for one, _ in pairs)),
        _row("two workers drain full queues", "moves/s", *(two.handled for _, two in pairs)),
        _row("two workers / one", "x", *(two.handled / one.handled for one, two in pairs)),
        _row("CPU of the worker, draining alone", "µs/move", *(one.worker_micros for one, _ in pairs)),
        _row("CPU of the store meanwhile", "µs/move", *(one.store_micros for one, _ in pairs)),
    ]
    if trials:
        for name, how in (("kill -9", signal.SIGKILL), ("SIGTERM", signal.SIGTERM)):
            seconds = [each for _ in range(trials) for each in taken_over(running, how)]
            rows.append(_row(f"take-over after {name}, p50 of the partitions", "s", *seconds))
            rows.append(_row(f"take-over after {name}, p99 of the partitions", "s", p99(seconds)))
    return rows


def _row(name: str, unit: str, *rounds: float) -> Row:
    return Row(name=name, unit=unit, rounds=rounds)


def _print(rows: list[Row], fsync: str) -> None:
    from rich.console import Console
    from rich.table import Table

    grid = Table(title=f"The write side, appendfsync {fsync}", title_justify="left")
    for column in ("figure", "median", "lowest", "highest", "unit"):
        grid.add_column(column, justify="left" if column in ("figure", "unit") else "right")
    for row in rows:
        digits = 2 if row.median < 100 else 0
        values = (row.median, min(row.rounds), max(row.rounds))
        grid.add_row(row.name, *(f"{value:,.{digits}f}" for value in values), row.unit)
    console = Console()
    console.print(grid)
    console.print(machine.describe(), style="dim")

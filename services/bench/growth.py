"""`marias bench growth`: does a move cost more when a table is old, or when many others rest in the store?"""

import json
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import kill
from typing import Any, NamedTuple

import click
from redis import Redis

from services.bench import machine, weights
from services.bench.players import Room, Tally
from services.bench.table import UNLIMITED, Load, _enter, _open_table
from services.cli.caller import Caller
from services.cli.temporary import NotStarted, Temporary, served
from services.envelope import sender_of
from services.intake import Submitted, attach, submit_many
from services.projections.subscription import Subscription
from services.store import cold, history, keys
from services.store.connect import connect
from services.store.wire import ask_all
from services.worker.tables import read

GROUP = 6
"""So many tables play at once."""
IDLE = (10, 1_000, 10_000)
AGES = (1, 30, 300)
PARTITIONS = keys.all_partitions()
LOAD = Load(tables=GROUP, transport="ws", views="patch", nonces=False, seconds=0, rounds=0, warm_up=0, seed=1)


class Row(NamedTuple):
    """CPU seconds of all server processes for 1,000 moves, round by round, under one condition."""

    what: str
    cpu: list[float]

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.cpu)


@click.command()
@click.option("--rounds", type=click.IntRange(1, 99), default=5, show_default=True, help="Rounds; medians are shown.")
@click.option("--moves", type=click.IntRange(30), default=300, show_default=True, help="Moves of a round.")
@click.option("--part", type=click.Choice(["idle", "age", "both"]), default="both", show_default=True,
              help="idle: by resting tables in the store; age: by deals that the table has played.")
@click.option("--idle", default=IDLE, multiple=True, show_default=True, type=int, help="How many tables rest.")
@click.option("--deals", default=AGES, multiple=True, show_default=True, type=int, help="How old a table is.")
@click.option("--untrimmed", is_flag=True, help="Nothing is archived and trimmed meanwhile.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def growth(*, part: str, idle: tuple[int, ...], deals: tuple[int, ...], as_json: bool, **load: Any) -> None:
    """Measure what a move costs with old tables and with many tables at rest, and how long starts take.

    Rounds of the conditions alternate, each over WebSockets against a `marias serve` (appendfsync everysec); counted
    are the CPU seconds of all server processes. Tables at rest are opened through intake and the worker.
    """
    found: dict[str, Any] = {"machine": machine.describe(), **load}
    try:
        if part != "age":
            found |= _by_idle(sorted(idle), load["rounds"], load["moves"])
        if part != "idle":
            found |= _by_age(sorted(deals), **load)
    except (NotStarted, ConnectionError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found))
    else:
        _print(found)


def _by_idle(counts: list[int], rounds: int, moves: int) -> dict[str, Any]:
    """One server for each count, so that rounds can alternate."""
    with ExitStack() as running:
        servers = [running.enter_context(_server()) for _ in counts]
        starts, contests = [], []
        for server, count in zip(servers, counts, strict=True):
            redis = attach(running.enter_context(connect(server.redis_url)), sender_of(server.data / "keys"))
            tables = fill(redis, count)
            starts.append({"tables": count, **_starts(redis, tables[-1])})
            contests.append((f"{count} tables at rest", server, running.enter_context(_room(server))))
        rows = _alternate(contests, rounds, moves)
    return {"idle": _told(rows), "idle_starts": starts}


def _by_age(ages: list[int], rounds: int, moves: int, *, untrimmed: bool) -> dict[str, Any]:
    """One server with a group of tables for each age; the youngest are fresh in every round."""
    with _server() as server, connect(server.redis_url) as redis, ExitStack() as rooms:
        if untrimmed:
            _stop_archiving(server)
        contests = []
        groups: dict[int, _Group] = {}
        for age in ages:
            groups[age] = group = rooms.enter_context(_room(server))
            contests.append((f"deal {age}", server, group))
            while _view(server, group)["deal"] < age:
                group.play(moves)
        rows = _alternate(contests, rounds, moves, renewed=server if ages[0] == 1 else None)
        if not untrimmed:
            _await_archived(redis)
        starts = [{"deals": age, **_starts(redis, group.table)} for age, group in groups.items()]
        memory = {} if untrimmed else _memory(server, redis, groups[ages[0]])
    return {"age": _told(rows), "age_starts": starts, "memory": memory}


NOTED_SECONDS = 1.5
"""By then a deal that has ended is on the list of what is to be archived."""
ARCHIVED_SECONDS_MAX = 120.0


def _await_archived(redis: Redis) -> None:
    """Wait until every deal that has ended is archived and trimmed."""
    time.sleep(NOTED_SECONDS)
    end = time.monotonic() + ARCHIVED_SECONDS_MAX
    while cold.unarchived(redis, PARTITIONS):
        if time.monotonic() > end:
            raise ConnectionError("deals are not archived")
        time.sleep(0.2)


def _memory(server: Temporary, redis: Redis, group: "_Group") -> dict[str, dict[str, int]]:
    """What a table takes of the store in a deal, and once everybody has left and all is forgotten that may be."""
    found = {"in a deal": weights.weigh(redis, group.table)}
    for place in group.places:
        caller = Caller(server.url, place.token)
        caller.command(group.table, {"type": "leave"})
        caller.close()
    end = time.monotonic() + 120
    while _view(server, group)["phase"] != "lobby":  # The bots play the deal to its end.
        if time.monotonic() > end:
            raise ConnectionError(f"the bots do not finish the deal at {group.table}")
        time.sleep(0.2)
    _await_archived(redis)
    weights.forget(redis, group.table)
    return found | {"at rest": weights.weigh(redis, group.table)}


class _Group:
    """Some tables with their players."""

    def __init__(self, server: Temporary) -> None:
        self.tally = Tally()
        places = [_open_table(server.url) for _ in range(GROUP)]
        self.places = places[0]
        self.room: Room = _enter(places, LOAD, self.tally)
        self.play(GROUP * 3)

    @property
    def table(self) -> str:
        """One of its tables."""
        return self.places[0].table

    def play(self, moves: int) -> int:
        """Play so many moves, or a few more; gives how many."""
        self.tally.latencies.clear()
        self.room.play(120.0, moves=moves, tally=self.tally)
        return len(self.tally.latencies)


@contextmanager
def _room(server: Temporary) -> Iterator[_Group]:
    group = _Group(server)
    try:
        yield group
    finally:
        group.room.close()


@contextmanager
def _server() -> Iterator[Temporary]:
    with served(environment={"MARIAS_FSYNC": "everysec", **UNLIMITED}) as server:
        yield server


def _alternate(
    contests: list[tuple[str, Temporary, _Group]], rounds: int, moves: int, renewed: Temporary | None = None
) -> list[Row]:
    """Round by round, each condition in turn. `renewed`: where the first one gets fresh tables in every round."""
    rows = [Row(what, []) for what, *_ in contests]
    for number in range(rounds):
        order = list(enumerate(contests))
        for place, (_, server, group) in order if number % 2 == 0 else reversed(order):
            if renewed is not None and place == 0:
                with _room(renewed) as fresh:
                    rows[place].cpu.append(_cost(server, lambda fresh=fresh: fresh.play(moves)))  # type: ignore[misc]
            else:
                rows[place].cpu.append(_cost(server, lambda group=group: group.play(moves)))  # type: ignore[misc]
    return rows


def _cost(server: Temporary, play: Callable[[], int]) -> float:
    """CPU seconds of all server processes for 1,000 moves."""
    before = machine.cpu_seconds_exactly(server.pid)
    moves = play()
    return (machine.cpu_seconds_exactly(server.pid) - before) / moves * 1000


def fill(redis: Redis, count: int) -> list[str]:
    """Open `count` tables that wait for somebody, through intake and the worker; gives them."""
    tables = [keys.new_table_id() for _ in range(count)]
    body = {"type": "open", "game": "voleny", "bots": [1, 2]}
    for start in range(0, count, 200):
        few = tables[start : start + 200]
        submit_many(redis, [Submitted(table, "u-00-0000000000000000", "Ana", "open", body) for table in few])
        while None in ask_all(redis, [("HGET", keys.view(table), "v") for table in few]):
            time.sleep(0.01)
    return tables


def _starts(redis: Redis, table: str) -> dict[str, float]:
    """Milliseconds: a worker takes all partitions over and reads one table; a projector begins. Medians of five."""
    return {
        "worker_ms": _median_ms(lambda: _take_over(redis, table)),
        "projector_ms": _median_ms(lambda: Subscription(redis, PARTITIONS).begin()),
    }


def _take_over(redis: Redis, table: str) -> None:
    """What a worker reads before it can decide a command on `table`."""
    for partition in PARTITIONS:
        history.clock_entries(redis, partition)
    read(redis, table)


def _median_ms(work: Callable[[], object]) -> float:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        took.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(took), 2)


def _view(server: Temporary, group: _Group) -> dict[str, Any]:
    caller = Caller(server.url, group.places[0].token)
    view: dict[str, Any] = caller.get(f"/v1/tables/{group.table}")
    caller.close()
    return view


def _stop_archiving(server: Temporary) -> None:
    """The process of jobs stands still: players are no bots, so nobody else needs it."""
    for pid in machine.processes(server.pid, "jobs"):
        kill(pid, signal.SIGSTOP)


def _told(rows: list[Row]) -> list[dict[str, Any]]:
    first = rows[0].median
    return [
        {"what": row.what, "cpu_seconds_per_1000": round(row.median, 4), "ratio": round(row.median / first, 3),
         "rounds": [round(each, 4) for each in row.cpu]}
        for row in rows
    ]


def _print(found: dict[str, Any]) -> None:
    click.echo(found["machine"])
    for row in (*found.get("idle", ()), *found.get("age", ())):
        click.echo(f"{row['what']:<24}{row['cpu_seconds_per_1000']:>9.3f} CPU s per 1,000 moves {row['ratio']:>7.2f} ×")
    for row in (*found.get("idle_starts", ()), *found.get("age_starts", ())):
        what = f"{row['tables']} tables at rest" if "tables" in row else f"a table of {row['deals']} deals"
        took = f"worker takes over {row['worker_ms']:.1f} ms, projector begins {row['projector_ms']:.1f} ms"
        click.echo(f"{what:<24}{took}")
    for state, parts in found.get("memory", {}).items():
        click.echo(f"{state}: {sum(parts.values()):,} bytes of the store, of these {parts}")

"""`marias bench table`: tables of three networked clients each, who play whole deals as fast as they can see them."""

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
from redis import Redis

from services.bench import machine
from services.bench.players import SEATS, Nonces, Player, Room, Table, Tally
from services.bench.wires import WIRES, Place
from services.cli.caller import Caller, Refused, Unreachable
from services.cli.temporary import NotStarted, Temporary, served

MISSED_MAX = 150  # Versions: the running deal and the one before it are seldom more, and older ones are gone.
FIRST_DEAL_MOVES = 20  # About the middle of a deal.


UNLIMITED = {"MARIAS_GUEST_RATE": "0", "MARIAS_PLAYER_RATE": "0"}
"""Settings of a server whose players come all at once, and play faster than people do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of the server."""

    tables: int
    transport: str
    views: str
    nonces: bool
    seconds: float
    rounds: int
    warm_up: float
    seed: int


@dataclass(slots=True, kw_only=True)
class Round:
    """One round's figures."""

    moves_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_seconds_per_1000: dict[str, float]
    bytes_per_client_and_move: float


@dataclass(slots=True, kw_only=True)
class Result:
    """Everything that was measured."""

    machine: str
    store: str
    load: dict[str, Any]
    rounds: list[Round] = field(default_factory=list)
    store_bytes_per_table: int | None = None
    view_bytes: int = 0
    resume_bytes: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    def median(self, name: str) -> float:
        """The median over the rounds of a figure."""
        return float(statistics.median(getattr(each, name) for each in self.rounds))

    def cpu(self) -> dict[str, float]:
        """The median over the rounds of each process's CPU seconds per 1000 moves, and their `total`."""
        names = sorted({name for each in self.rounds for name in each.cpu_seconds_per_1000})
        medians = {
            name: statistics.median(each.cpu_seconds_per_1000.get(name, 0.0) for each in self.rounds) for name in names
        }
        totals = [sum(each.cpu_seconds_per_1000.values()) for each in self.rounds]
        return medians | ({"total": statistics.median(totals)} if names else {})


@click.command()
@click.option("--tables", type=click.IntRange(1, 2000), default=50, show_default=True, help="How many tables play.")
@click.option("--transport", type=click.Choice(sorted(WIRES)), default="ws", show_default=True,
              help="ws: one WebSocket a client; http: POST and a stream of events.")
@click.option("--views", type=click.Choice(["patch", "whole"]), default="patch", show_default=True,
              help="Whether each message brings the whole view or what changed in it.")
@click.option("--nonces", is_flag=True, help="Every player gives a number to every shuffle, as cautious clients do.")
@click.option("--seconds", type=click.FloatRange(min=0.5), default=10.0, show_default=True, help="Length of a round.")
@click.option("--rounds", type=click.IntRange(1, 99), default=3, show_default=True, help="Rounds; medians are shown.")
@click.option("--warm-up", type=click.FloatRange(min=0.0), default=2.0, show_default=True, help="Seconds not counted.")
@click.option("--fsync", type=click.Choice(["always", "everysec"]), default="always", show_default=True,
              help="When the embedded store writes to the disk.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@click.option("--url", help="Measure a server that runs already; its CPU and memory are not seen then.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the players' choices.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def table(*, fsync: str, workers: int, url: str | None, as_json: bool, **load: Any) -> None:
    """Play tables of three networked clients each and measure what the server does.

    Every client plays a random legal move as soon as it sees that it is to act. A move counts when all three have
    the new state; its latency is from sending to that. On Linux the server runs on one core and the clients, all
    in this process, on another. CPU seconds are those of all server processes together.

    \b
    Examples:
      marias bench table
      marias bench table --tables 1 --fsync everysec
      marias bench table --transport http --json
    """
    wanted = Load(**load)
    try:
        with _server(url, fsync, workers) as server:
            result = _measure(server, wanted, "not started by us" if url else f"embedded, appendfsync {fsync}")
    except (NotStarted, Unreachable, Refused, ConnectionError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(asdict(result) | {"cpu": result.cpu()}))
    else:
        _print(result)


@contextmanager
def _server(url: str | None, fsync: str, workers: int) -> Iterator[Temporary]:
    """A server of our own on the first core, or the one at `url`; this process then goes to the last core."""
    if url is not None:
        yield Temporary(url, "", 0, Path())
        return
    cores = machine.cores()
    if len(cores) > 1:
        machine.bind(cores[0])
    with served("--workers", str(workers), environment={"MARIAS_FSYNC": fsync, **UNLIMITED}) as server:
        if len(cores) > 1:
            machine.bind(cores[-1])
        yield server


def _measure(server: Temporary, load: Load, store: str) -> Result:
    result = Result(machine=machine.describe(), store=store, load=asdict(load))
    with ExitStack() as open_things:
        redis = open_things.enter_context(Redis.from_url(server.redis_url)) if server.redis_url else None
        before = _store_bytes(redis)
        say = open_things.enter_context(_progress())
        say(f"opening {load.tables} tables")
        places = [_open_table(server.url) for _ in range(load.tables)]
        say("connecting")
        tally = Tally()
        room = _enter(places, load, tally)
        open_things.callback(room.close)
        room.play(60.0, moves=FIRST_DEAL_MOVES * load.tables, tally=tally)
        if redis is not None:
            result.store_bytes_per_table = (_store_bytes(redis) - before) // load.tables
        say("warming up")
        room.play(load.warm_up)
        for number in range(load.rounds):
            say(f"round {number + 1} of {load.rounds}")
            result.rounds.append(_round(room, tally, server.pid, load.seconds))
        result.refused = dict(tally.refused)
        result.view_bytes, result.resume_bytes = _come_back(places[0][0])
    return result


def _round(room: Room, tally: Tally, pid: int, seconds: float) -> Round:
    tally.latencies.clear()
    heard, used, began = room.heard, machine.cpu_seconds(pid) if pid else {}, time.perf_counter()
    room.play(seconds)
    took = time.perf_counter() - began
    spent = machine.cpu_seconds(pid) if pid else {}
    moves = len(tally.latencies)
    if not moves:
        raise ConnectionError(
            f"no move was made in {took:.0f} s; refusals: {dict(tally.refused)}. Where they say rate_limited, raise "
            "MARIAS_PLAYER_RATE of the server."
        )
    steps = statistics.quantiles(tally.latencies, n=100, method="inclusive") if moves > 1 else tally.latencies * 99
    return Round(
        moves_per_second=moves / took,
        p50_ms=steps[49] * 1000,
        p99_ms=steps[98] * 1000,
        cpu_seconds_per_1000={name: (spent[name] - used.get(name, 0.0)) / moves * 1000 for name in spent},
        bytes_per_client_and_move=(room.heard - heard) / SEATS / moves,
    )


def _open_table(url: str) -> list[Place]:
    """A fresh table with three fresh players, seated and not yet ready."""
    caller = Caller(url)
    tokens = [caller.post("/v1/players", {"name": name})["token"] for name in ("Ana", "Bára", "Cyril")]
    caller.token = tokens[0]
    table = caller.post("/v1/tables", {"game": "voleny", "auto_ready": True})["table"]
    for token in tokens:
        caller.token = token
        caller.command(table, {"type": "sit"})
    caller.close()
    return [Place(url, table, token) for token in tokens]


def _enter(places: list[list[Place]], load: Load, tally: Tally) -> Room:
    """Connect everybody, then let everybody be ready."""
    choice = random.Random(load.seed)
    players = []
    for three in places:
        shared = Table(tally)
        for seat, place in enumerate(three):
            wire = WIRES[load.transport](place, _version(place), load.views)
            players.append(Player(shared, wire, choice, Nonces(seat) if load.nonces else None))
    for player in players:
        player.begin()
    return Room(players)


def _version(place: Place) -> int:
    caller = Caller(place.url, place.token)
    version: int = caller.get(f"/v1/tables/{place.table}")["version"]
    caller.close()
    return version


def _come_back(place: Place) -> tuple[int, int]:
    """Bytes of the view, and the most that a client is sent who resumes, whichever version he saw last."""
    caller = Caller(place.url, place.token)
    view = caller.get(f"/v1/tables/{place.table}")
    caller.close()
    version = view["version"]
    heard = [_resume(place, after, version) for after in (1, *range(max(1, version - MISSED_MAX), version))]
    return len(json.dumps(view, separators=(",", ":"), ensure_ascii=False).encode()), max(heard)


def _resume(place: Place, after: int, version: int) -> int:
    """Bytes that bring a client from version `after` up to `version`."""
    wire = WIRES["ws"](place, after, "patch")
    sock = wire.sockets[0]
    sock.settimeout(10.0)
    known = 0
    while known < version:
        known = max([known, *(message.version for message in wire.read(sock))])
    sock.close()
    return wire.heard


def _store_bytes(redis: Redis | None) -> int:
    return int(redis.info("memory")["used_memory"]) if redis is not None else 0


@contextmanager
def _progress() -> Iterator[Any]:
    """A function that shows on a terminal what is being done, and nothing in a pipe."""
    if not sys.stderr.isatty() or os.environ.get("CI"):
        with nullcontext():
            yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting the server") as status:
        yield status.update


def _print(result: Result) -> None:
    from rich.console import Console
    from rich.table import Table as Grid

    load = result.load
    nonces = ", players shuffle along" if load["nonces"] else ""
    title = f"{load['tables']} tables, {load['transport']}, views {load['views']}{nonces}, {result.store}"
    grid = Grid(title=title, title_justify="left")
    grid.add_column("figure")
    grid.add_column("median", justify="right")
    grid.add_column("rounds", justify="right")
    for label, name, digits in (
        ("moves/s", "moves_per_second", 0), ("p50 ms", "p50_ms", 2), ("p99 ms", "p99_ms", 2),
        ("bytes to each client per move", "bytes_per_client_and_move", 0),
    ):
        values = [getattr(each, name) for each in result.rounds]
        grid.add_row(label, f"{result.median(name):,.{digits}f}", "  ".join(f"{value:,.{digits}f}" for value in values))
    for name, seconds in result.cpu().items():
        grid.add_row(f"CPU s per 1000 moves: {name}", f"{seconds:.3f}", "")
    if result.store_bytes_per_table is not None:
        grid.add_row("store memory per table in its first deal", f"{result.store_bytes_per_table:,}", "")
    grid.add_row("bytes of the view, alone / when resuming, at worst",
                 f"{result.view_bytes:,} / {result.resume_bytes:,}", "")
    if result.refused:
        grid.add_row("refused", str(result.refused), "")
    console = Console()
    console.print(grid)
    console.print(result.machine, style="dim")

"""`marias bench engine`: the rules in one process, deals a second of its CPU time, beside OpenSpiel's skat."""

import io
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Final

import click
import msgspec

from engine.cards import CARDS
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Command, Deal
from engine.games.voleny.events import Event
from engine.games.voleny.rules import HOSPODA
from engine.games.voleny.state import Answering, Declaring, Discarding, Playing, State
from schemas.random_records import random_records
from services.bench.machine import describe
from services.cli.deal import answer_all

INSTALL: Final = "OpenSpiel is not installed, so there is no peer: pip install open_spiel"
FIRST_DEAL: Final = """\
import time
began = time.process_time()
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import Deal
from engine.games.voleny.rules import HOSPODA
state = VOLENY.fold(VOLENY.decide(VOLENY.initial, Deal(rules=HOSPODA, dealer=2, deck=tuple(range(32)))))
while VOLENY.legal(state):
    state = VOLENY.fold(VOLENY.decide(state, VOLENY.modest(state)), state)
print(1000 * (time.process_time() - began))
"""

Choose = Callable[[State, Random], Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: its value in each round."""

    name: str
    unit: str
    rounds: tuple[float, ...]
    note: str = ""

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.rounds)


@click.command()
@click.option(
    "--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="All that is compared, in turn."
)
@click.option("--deals", type=click.IntRange(min=1), default=500, show_default=True, help="Of each kind in a round.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def engine(rounds: int, deals: int, as_json: bool) -> None:
    """Measure the engine in one process; every deal through legal, decide and evolve, all its events kept."""
    rows = run(rounds, deals)
    if as_json:
        figures = [asdict(row) | {"median": row.median} for row in rows]
        click.echo(json.dumps({"machine": describe(), "rows": figures}))
    else:
        _print(rows)
    if not any(row.unit == "x" for row in rows):
        click.echo(INSTALL, err=True)


def run(rounds: int = 7, deals: int = 500) -> list[Row]:
    """The figures, the peer and we taking turns in every round; the first round of each is not counted."""
    kinds: dict[str, Callable[[int], tuple[float, float]]] = {
        "random": lambda seed: _deals(_any_move, deals, seed),
        "trumps": lambda seed: _deals(_to_the_last_card, deals, seed),
        "plays": lambda seed: _plays(deals // 5 + 1, seed),
        "jsonl": lambda seed: _records(deals, seed),
        "start": lambda _: _first_deal(),
    }
    if (skat := _skat()) is not None:
        kinds["skat"] = lambda seed: _games(skat, deals, seed)
    seen: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for seed in range(rounds + 1):
        for kind, measure in kinds.items():
            figures = measure(seed)
            if seed:
                seen[kind].append(figures)
    return _rows(seen)


def _rows(seen: dict[str, list[tuple[float, float]]]) -> list[Row]:
    """A figure of a kind comes with the moves in one of its deals."""

    def row(kind: str, name: str, unit: str) -> Row:
        moves = statistics.mean(moves for _, moves in seen[kind])
        note = f"{moves:.1f} moves a deal" if moves else ""
        return Row(name=name, unit=unit, rounds=tuple(figure for figure, _ in seen[kind]), note=note)

    rows = [
        row("random", "whole deals, any legal move", "deals/s"),
        row("trumps", "whole deals, trumps and all ten tricks", "deals/s"),
    ]
    if "skat" in seen:
        rows.append(row("skat", "OpenSpiel skat from Python, any legal move", "games/s"))
        for kind, name in (("random", "any legal move"), ("trumps", "trumps and all ten tricks")):
            pairs = zip(seen[kind], seen["skat"], strict=True)
            ratios = tuple(ours / theirs for (ours, _), (theirs, _) in pairs)
            rows.append(Row(name=f"ours / OpenSpiel, {name}", unit="x", rounds=ratios))
    return [
        *rows,
        row("plays", "legal and one play, decided and folded", "µs"),
        row("jsonl", "deal run --jsonl", "deals/s"),
        row("start", "import and first deal", "ms"),
    ]


def _deals(choose: Choose, count: int, seed: int) -> tuple[float, float]:
    """Deals a second and moves a deal; shuffling is counted, as the peer's is."""
    chance, moves = Random(seed), 0
    began = time.process_time()
    for number in range(count):
        deck = list(range(CARDS))
        chance.shuffle(deck)
        moves += _deal(Deal(rules=HOSPODA, dealer=number % 3, deck=tuple(deck)), choose, chance)
    return count / (time.process_time() - began), moves / count


def _deal(command: Command, choose: Choose, chance: Random) -> int:
    decide, evolve, to_act = VOLENY.decide, VOLENY.evolve, VOLENY.to_act
    state, events, moves = VOLENY.initial, list[Event](), -1
    while True:
        caused = decide(state, command)
        events += caused
        for event in caused:
            state = evolve(state, event)
        moves += 1
        if not to_act(state):
            return moves
        command = choose(state, chance)


def _any_move(state: State, chance: Random) -> Command:
    moves = VOLENY.legal(state)
    return moves[int(chance.random() * len(moves))]


def _to_the_last_card(state: State, chance: Random) -> Command:
    """The colour is asked and approved, so that nothing ends early; all else by chance."""
    if isinstance(state, Discarding | Declaring | Answering):
        VOLENY.legal(state)
        return VOLENY.modest(state)
    return _any_move(state, chance)


def _plays(count: int, seed: int) -> tuple[float, float]:
    """Microseconds for `legal` and one play of a trump game, the settlement shared among them."""
    chance = Random(seed)
    starts = [_in_play(chance) for _ in range(count)]
    moves = 0
    began = time.process_time()
    for start in starts:
        state = start
        while plays := VOLENY.legal(state):
            for event in VOLENY.decide(state, plays[int(chance.random() * len(plays))]):
                state = VOLENY.evolve(state, event)
            moves += 1
    return 1e6 * (time.process_time() - began) / moves, moves / count


def _in_play(chance: Random) -> State:
    deal = Deal(rules=HOSPODA, dealer=0, deck=tuple(chance.sample(range(CARDS), CARDS)))
    state = VOLENY.fold(VOLENY.decide(VOLENY.initial, deal))
    while not isinstance(state, Playing):
        state = VOLENY.fold(VOLENY.decide(state, VOLENY.modest(state)), state)
    return state


def _records(count: int, seed: int) -> tuple[float, float]:
    """Deals a second of the command, its input and output in memory."""
    records = list(random_records("voleny", seed, count, "random", {"preset": "hospoda"}))
    text = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    moves = sum(len(moves) for record in records if isinstance(moves := record["moves"], list))
    began = time.process_time()
    with redirect_stdout(io.StringIO()):
        all_ok = answer_all(io.BytesIO(text), jsonl=True)
    elapsed = time.process_time() - began
    assert all_ok
    return count / elapsed, moves / count


def _first_deal() -> tuple[float, float]:
    """Milliseconds that a fresh Python needs to import the rules and finish a deal; its own start is not counted."""
    fresh = subprocess.run([sys.executable, "-c", FIRST_DEAL], capture_output=True, text=True, check=True)
    return float(fresh.stdout), 0.0


def _skat() -> Any:
    try:
        import pyspiel
    except ImportError:
        return None
    return pyspiel.load_game("skat")


def _games(skat: Any, count: int, seed: int) -> tuple[float, float]:
    """Games a second and moves a game; the 32 moves of the dealing count as moves there."""
    chance, moves = Random(seed).random, 0
    began = time.process_time()
    for _ in range(count):
        state = skat.new_initial_state()
        while not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[int(chance() * len(actions))])
            moves += 1
    return count / (time.process_time() - began), moves / count


def _print(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    grid = Table(title="The engine, one process", title_justify="left")
    for column in ("figure", "median", "lowest", "highest", "unit", ""):
        grid.add_column(column, justify="left" if column in ("figure", "unit", "") else "right")
    for row in rows:
        digits = 2 if row.median < 100 else 0
        values = (row.median, min(row.rounds), max(row.rounds))
        grid.add_row(row.name, *(f"{value:,.{digits}f}" for value in values), row.unit, row.note)
    console = Console()
    console.print(grid)
    console.print(describe(), style="dim")

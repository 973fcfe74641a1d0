"""The report of a run: for the terminal, and as Markdown."""

import os
import platform
import subprocess
from importlib.metadata import version
from statistics import median

from services.serve.binary import find_server
from tests import sources
from tests.faults.registry import FAULTS
from tests.faults.run import Result


def lines(result: Result) -> list[str]:
    """The closing words of a run."""
    verdict = result.verdict
    said = [
        f"seed {result.seed}, {result.seconds:.0f} s{' (interrupted)' if result.interrupted else ''}",
        f"{sum(result.faults.values())} faults: "
        + ", ".join(f"{count} {name}" for name, count in result.faults.most_common()),
        "commands: " + ", ".join(f"{count} {outcome}" for outcome, count in result.outcomes.items())
        + f" ({verdict.unknown_applied} of the unknown had taken effect); deliveries: {result.deliveries}",
        f"lost {verdict.count('lost')}, doubled {verdict.count('doubled')}, "
        f"ghosts {verdict.count('ghost refusal', 'ghost entry')}, "
        f"other outcomes {verdict.count('other outcome')}, taken back {verdict.count('taken back')}",
        f"longest stall while a worker and a node lived: {result.longest.seconds:.1f} s (of all: "
        f"{result.longest_of_all:.1f} s); the store was away {result.store_away:.1f} s",
        _take_over(result),
        *(f"{what}: {count}" for what, count in sorted(result.figures.items())),
        *(f"not made here: {name}: {why}" for name, why in result.skipped.items()),
        *(f"note: {note}" for note in result.notes),
        *(f"UNEXPECTED: {_ends(what)}" for what in result.unexpected),
        *verdict.lines(),
    ]
    return [*said, "OK: no violation" if result.ok else "FAILED"]


def _take_over(result: Result) -> str:
    """Until every table had gone on after a worker was killed."""
    if not result.take_over:
        return "take-over: no worker was killed"
    times = sorted(result.take_over)
    return (
        f"take-over after kill -9 of a worker, until every table had gone on: median {median(times):.1f} s, "
        f"longest {times[-1]:.1f} s, of {len(times)}"
    )


def markdown(result: Result, command: str) -> str:
    """The report as a document that can be kept."""
    verdict = result.verdict
    rows = [
        ("commands, by outcome", ", ".join(f"{count:,} {outcome}" for outcome, count in result.outcomes.items())),
        ("unknown outcomes that had taken effect (once each)", f"{verdict.unknown_applied}"),
        ("deliveries of commands", f"{result.deliveries:,}"),
        ("versions pushed and compared", f"{verdict.pushed:,}"),
        ("entries replayed, linked by their hashes, tables",
         f"{verdict.entries:,}, {verdict.linked:,}, {verdict.tables}"),
        ("chips at tables and in accounts", f"{verdict.chips:,}"),
        ("finished deals whose proofs hold for all (with nonces of players)",
         f"{verdict.deals:,} ({verdict.shuffled:,})"),
        ("deals in their log; heads and proofs told and compared",
         f"{verdict.leaves:,}; {verdict.heads:,} and {verdict.proofs:,}"),
        ("**lost**", f"**{verdict.count('lost')}**"),
        ("**doubled**", f"**{verdict.count('doubled')}**"),
        ("**ghosts** (refused or never sent, yet written)", f"**{verdict.count('ghost refusal', 'ghost entry')}**"),
        ("one key, two outcomes", f"{verdict.count('other outcome')}"),
        ("pushed and taken back", f"{verdict.count('taken back')}"),
        ("other violations", f"{sum(map(len, verdict.found.values())) - verdict.count(*_ABOVE)}"),
        ("dead letters", f"{verdict.dead_letters}"),
        ("longest stall of a table while a worker and a node lived", f"{result.longest.seconds:.1f} s"),
        ("the same with the time in which all of either were away", f"{result.longest_of_all:.1f} s"),
        ("time the store was away", f"{result.store_away:.1f} s"),
        ("processes that ended by themselves", f"{len(result.unexpected)}"),
        *((what, f"{count:,}") for what, count in sorted(result.figures.items())),
        *((what, f"{count:,}") for what, count in sorted(result.counts.items())),
    ]
    return "\n".join([
        "# The chaos run", "", f"`{command}`, seed {result.seed}, {result.seconds:.0f} seconds of load"
        f"{', interrupted' if result.interrupted else ''}. **{'No violation.' if result.ok else 'FAILED.'}**", "",
        _take_over(result)[:1].upper() + _take_over(result)[1:] + ".", "",
        "| what | how much |", "|---|---|", *(f"| {what} | {count} |" for what, count in rows), "",
        "| fault | row of the plan | times | what |", "|---|---|---|---|",
        *(f"| {name} | {FAULTS[name].rows} | {count} | {FAULTS[name].says} |"
          for name, count in result.faults.most_common()), "",
        *(f"Not made here: {name}: {why}" for name, why in result.skipped.items()),
        "```text", *verdict.lines(), *result.notes, *map(_ends, result.unexpected), "```", "", *machine(), "",
    ])


def _ends(what: str) -> str:
    """The first and the last line of what a process said."""
    said = what.splitlines()
    return " ... ".join(dict.fromkeys((said[0], said[-1])))


_ABOVE = ("lost", "doubled", "ghost refusal", "ghost entry", "other outcome", "taken back")


def machine() -> list[str]:
    """What it ran on."""
    server = subprocess.run([find_server(), "--version"], capture_output=True, text=True, check=False).stdout.strip()
    build = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=sources.ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = ", ".join(f"{name} {version(name)}" for name in ("redis", "gevent", "flask", "rq", "websockets"))
    return [
        f"Machine: {platform.system()} {platform.release()}, {os.cpu_count()} cores, CPython "
        f"{platform.python_version()}; {server}; {packages}; build {build or 'unknown'}.",
    ]

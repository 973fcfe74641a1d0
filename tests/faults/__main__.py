"""The chaos run: real players on real processes, faults in seeded order, and a check of all that was said.

--store says on which kind of store: the embedded one, a master with two replicas and three sentinels, or a cluster of
nine. --short is what CI runs, about a minute; --night has the long faults too and goes on for eight hours. --seconds
says how long instead; Ctrl-C ends a run early, with the check of what was done so far. --only makes the named faults,
--list shows all. The exit status is 0 only if nothing was lost, doubled, invented or taken back.
"""

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.faults import kills, machines, mutations, report, several, skew, snapshots
from tests.faults.registry import FAULTS, STORES, Fault
from tests.faults.run import STALL_SECONDS_MAX, Result, Say, run

MODULES = (kills, snapshots, skew, machines, several)
"""Each enters its faults into the table when it is imported."""

SHORT = {
    "embedded": "kill-worker,kill-store,kill-front,kill-api,kill-push,kill-projector,kill-jobs,flush-jobs,"
    "truncated-snapshot,future-snapshot,pause-worker",
    "sentinel": "kill-worker,kill-front,kill-master,kill-replica,pause-master,replace-master",
    "cluster": "kill-worker,kill-front,kill-master,replace-master,pause-master,move-slot",
}
SHORT_SECONDS, USUAL_SECONDS, NIGHT_SECONDS = 40.0, 300.0, 8 * 3600.0


def main(arguments: list[str]) -> int:
    """Run, print, and give the exit status."""
    given = _parser().parse_args(arguments)
    if given.mutations:
        return mutations.main(say)
    if given.list:
        for each in FAULTS.values():
            where = "" if each.stores == STORES else f" (only {' and '.join(each.stores)})"
            print(f"{each.name:30} row {each.rows:6} {'night  ' if each.night else '       '}{each.says}{where}")
        return 0
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    seconds = given.seconds or (SHORT_SECONDS if given.short else NIGHT_SECONDS if given.night else USUAL_SECONDS)
    say(f"seed {seed}; the same faults again with --seed {seed}")
    only = given.only or (SHORT[given.store] if given.short else None)
    made = chosen(only, night=given.night, store=given.store)
    result = on_store(
        given.store, made, seed=seed, seconds=seconds, tables=given.tables, say=say, stall_max=given.stall,
        calm=given.calm,
    )
    for line in report.lines(result):
        say(line)
    if given.report:
        command = " ".join(["python3 deploy/dev.py faults", *arguments])
        Path(given.report).write_text(report.markdown(result, command), encoding="utf-8")
    return 0 if result.ok else 1


def on_store(
    kind: str, faults: Sequence[Fault], *, seed: int, seconds: float, tables: int, say: Say,
    stall_max: float = STALL_SECONDS_MAX, calm: float = 1.0,
) -> Result:
    """A whole run on a fresh store of a kind."""
    if kind == "embedded":
        return run(
            faults, seed=seed, seconds=seconds, tables=tables, say=say, store=machines.MachineStore,
            stall_max=stall_max, calm=calm,
        )
    with several.store_of(kind) as store:
        return run(
            faults, seed=seed, seconds=seconds, tables=tables, say=say, store=store, stall_max=stall_max,
            environment=several.ENVIRONMENT, calm=calm,
        )


def chosen(only: str | None, *, night: bool, store: str = "embedded") -> list[Fault]:
    """The faults of a run on such a store. Raises SystemExit for a name that is none, or cannot be made there."""
    if only is None:
        return [each for each in FAULTS.values() if store in each.stores and (night or not each.night)]
    names = only.split(",")
    if unknown := [name for name in names if name not in FAULTS]:
        raise SystemExit(f"no such fault: {', '.join(unknown)}; --list shows all")
    if elsewhere := [name for name in names if store not in FAULTS[name].stores]:
        raise SystemExit(f"not made on --store {store}: {', '.join(elsewhere)}; --list shows where")
    return [FAULTS[name] for name in names]


def say(line: str) -> None:
    """Print at once, also into a pipe."""
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 deploy/dev.py faults", description=__doc__)
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--short", action="store_true")
    how_long.add_argument("--night", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--store", choices=STORES, default="embedded")
    parser.add_argument("--only", metavar="NAME,...")
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument(
        "--stall", type=float, default=STALL_SECONDS_MAX, metavar="SECONDS",
        help="so long a table may stand still (10; give more where the machine has other work)",
    )
    parser.add_argument(
        "--calm", type=float, default=1.0, metavar="TIMES",
        help="so many times the usual pause between faults (1: about a second)",
    )
    parser.add_argument("--report", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--mutations", action="store_true", help="take each guard out in turn: which test notices?")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

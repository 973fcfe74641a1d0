"""One run: start the system, let people play, make faults, stop, check, report."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TypeVar

from services.archive import folder as archive
from services.envelope import sender_of
from services.intake import attach
from services.store.connect import connect, patiently
from services.store.keys import all_partitions
from tests.faults.audited import in_folder
from tests.faults.checker import await_quiet, check
from tests.faults.history import outcomes
from tests.faults.load import Load
from tests.faults.processes import PARTITIONS, LocalStore, Store, System, scratch_folder
from tests.faults.registry import Fault, Scene
from tests.faults.verdict import Verdict
from tests.faults.watch import Stall, Watch

STALL_SECONDS_MAX = 10.0
QUIET_SECONDS_MAX = 240.0
CHECK_SECONDS_MAX = 240.0
PROGRESS_SECONDS = 5.0
CALM_SECONDS = (0.4, 2.0)

KEEP_SECONDS = 0.05

Say = Callable[[str], None]
StoreOf = Callable[[Path], Store]
"""Makes the store of a run in a folder."""

T = TypeVar("T")


@dataclass
class Result:
    """What a run did and found."""

    seed: int
    seconds: float
    verdict: Verdict
    faults: Counter[str]
    outcomes: dict[str, int]
    deliveries: int
    counts: Counter[str]
    figures: dict[str, int]
    longest: Stall
    longest_of_all: float
    store_away: float
    take_over: list[float]
    notes: list[str]
    unexpected: list[str]
    skipped: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def ok(self) -> bool:
        """Was nothing found?"""
        return self.verdict.ok


class Injector(threading.Thread):
    """Makes one fault after the other, in seeded order; each round holds every fault as often as it weighs.

    On a store of several servers there are two at a time: one for its servers, one for all other processes.
    """

    def __init__(self, faults: Sequence[Fault], scene: Scene) -> None:
        super().__init__(daemon=True)
        self.made: Counter[str] = Counter()
        self.times: list[str] = []
        self.now = ""
        self.kills: list[float] = []
        self._faults, self._scene = faults, scene
        self._began = time.monotonic()

    def run(self) -> None:
        """Until the run is over."""
        scene = self._scene
        while not scene.over.is_set():
            round_ = [fault for fault in self._faults for _ in range(fault.weight)]
            scene.chance.shuffle(round_)
            for fault in round_:
                if scene.wait(scene.calm * scene.chance.uniform(*CALM_SECONDS)):
                    return
                self._make(fault)

    def _make(self, fault: Fault) -> None:
        self.now = fault.name
        began = time.monotonic()
        if fault.name == "kill-worker":
            self.kills.append(time.monotonic())
        try:
            fault.inject(self._scene)
        except Exception as error:
            self._scene.complain(f"the fault {fault.name} could not be made: {error!r}")
        self.made[fault.name] += 1
        self.times.append(f"{began - self._began:7.1f} to {time.monotonic() - self._began:7.1f} s  {fault.name}")
        self.now = ""


def run(
    faults: Sequence[Fault], *, seed: int, seconds: float, tables: int, say: Say, store: StoreOf = LocalStore,
    stall_max: float = STALL_SECONDS_MAX, environment: Mapping[str, str] | None = None, calm: float = 1.0,
) -> Result:
    """A whole run, the roles with `environment` beside their usual settings.

    Ctrl-C ends it early, with the check of what was done so far. No table may stand still for longer than `stall_max`
    seconds. `calm` stretches the pauses between faults.
    """
    skipped = {each.name: why for each in faults if (why := each.needs()) is not None}
    folder = scratch_folder()
    system = System(store(folder), folder, environment=environment)
    try:
        system.start()
        made = [each for each in faults if each.name not in skipped]
        result = _play(system, made, seed=seed, seconds=seconds, tables=tables, say=say, stall_max=stall_max, calm=calm)
        result.skipped = skipped
    finally:
        system.stop()
    if result.ok:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        say(f"kept for who looks into it: {folder}")
    return result


def _play(
    system: System, faults: Sequence[Fault], *, seed: int, seconds: float, tables: int, say: Say, stall_max: float,
    calm: float,
) -> Result:
    load = Load(system.nodes, seed, tables=tables)
    load.start()
    over = threading.Event()
    scene = Scene(system, connect(system.store.url), Random(f"{seed}/faults"), load.tables, seconds, over, calm)
    archive.attach(scene.redis, system.archive)
    attach(scene.redis, sender_of(system.folder / "data" / "keys"))  # Some faults send commands, too.
    watch = Watch(connect(system.store.url), load.tables, system.can_play, over)
    injectors = _injectors(faults, scene, seed)
    watch.start()
    for each in injectors:
        each.start()
    began = time.monotonic()
    interrupted = _keep_playing(system, began + seconds, lambda: _progress(load, watch, injectors, began), say)
    played = time.monotonic() - began
    over.set()
    for each in injectors:
        keeping(system, each.join)
    longest = watch.finish()
    say("the load ends; waiting until all is quiet")
    keeping(system, load.finish)
    quiet = keeping(system, lambda: await_quiet(
        scene.redis, all_partitions(PARTITIONS), QUIET_SECONDS_MAX, logged=True
    ))
    system.stop_roles()
    for clean_up in reversed(scene.clean_up):
        clean_up()
    say("checking")
    # A fail-over may come late, when nobody asks for it any more: then the check begins anew.
    verdict = patiently(
        lambda: _check(load, scene, quiet=quiet, longest=longest, stall_max=stall_max), CHECK_SECONDS_MAX
    )
    if not verdict.ok:
        load.history.write(system.folder / "history.jsonl")
        (system.folder / "faults.txt").write_text("\n".join(sorted(time for each in injectors for time in each.times)))
    operations = load.history.operations
    took = [each for injector in injectors for kill in injector.kills if (each := watch.resumed(kill)) is not None]
    made = sum((each.made for each in injectors), Counter[str]())
    return Result(
        seed, played, verdict, made, outcomes(operations), sum(each.deliveries for each in operations),
        load.couriers.counts, scene.figures, longest, watch.longest_of_all, watch.store_away, took, scene.notes,
        system.unexpected, interrupted=interrupted,
    )


def _injectors(faults: Sequence[Fault], scene: Scene, seed: int) -> list[Injector]:
    """One for the faults that are made on stores of several servers only, if there are any, and one for the others."""
    of_servers = [each for each in faults if "embedded" not in each.stores]
    apart = replace(scene, chance=Random(f"{seed}/servers"))
    others = [each for each in faults if "embedded" in each.stores]
    return [Injector(some, on) for some, on in ((others, scene), (of_servers, apart)) if some]


def _keep_playing(system: System, end: float, progress: Callable[[], str], say: Say) -> bool:
    """Start again whatever dies until `end`; True when Ctrl-C came first."""
    spoken = time.monotonic()
    try:
        while time.monotonic() < end:
            system.keep()
            time.sleep(KEEP_SECONDS)
            if time.monotonic() - spoken > PROGRESS_SECONDS:
                spoken = time.monotonic()
                say(progress())
    except KeyboardInterrupt:
        say("interrupted: the load ends, and what was done so far is checked")
        return True
    return False


def keeping(system: System, do: Callable[[], T]) -> T:
    """The result of `do`, done while whatever dies is started again, which only the main thread may."""
    with ThreadPoolExecutor(1) as one:
        future = one.submit(do)
        while not future.done():
            system.keep()
            time.sleep(KEEP_SECONDS)
        return future.result()


def _progress(load: Load, watch: Watch, injectors: Sequence[Injector], began: float) -> str:
    counts = outcomes(each.operation() for each in list(load.couriers.flights))
    return (
        f"{time.monotonic() - began:5.0f} s  {sum(watch.versions.values())} versions  {counts['ok']} ok  "
        f"{counts['refused']} refused  {sum(sum(each.made.values()) for each in injectors)} faults  "
        f"longest stall {watch.longest.seconds:.1f} s  {' '.join(each.now for each in injectors)}"
    )


def _check(load: Load, scene: Scene, *, quiet: bool, longest: Stall, stall_max: float) -> Verdict:
    """The checker's verdict, and what was seen while it went on."""
    witness, system = load.witness, scene.system
    assert witness is not None
    verdict = check(
        scene.redis, all_partitions(PARTITIONS), load.history.operations, load.history.pushed, complete=True,
        beside=in_folder(system.folder / "data", system.archive, witness.heads, witness.proofs),
    )
    if not quiet:
        verdict.add("unanswered", f"not all was quiet {QUIET_SECONDS_MAX:.0f} s after the load had ended")
    if longest.seconds > stall_max:
        verdict.add("stall", f"{longest.table} stood still for {longest.seconds:.1f} s")
    for fault in archive.faults(scene.system.archive):
        verdict.add("archive", fault)
    for complaint in (*load.complaints(), *scene.complaints):
        verdict.add("bad answer", complaint)
    return verdict

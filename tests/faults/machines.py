"""Rows 4, 7 and 8: the store's machine loses its power, its disk is slow, its clock jumps."""

import signal
from pathlib import Path
from random import Random

from tests.faults.processes import LocalStore
from tests.faults.registry import Scene, fault
from tests.faults.shim.machine import Machine, cut_power, why_not

HOUR = 3600
SLOW_MILLISECONDS = (5, 50, 250)


class MachineStore(LocalStore):
    """The embedded store on a machine that faults steer; where no shim can be made, on the usual one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine = None if why_not() else Machine(folder)
        super().__init__(folder, environment=self.machine.environment if self.machine else {})


@fault("4", weight=2, needs=why_not, stores=("embedded",))
def power_cut(scene: Scene) -> None:
    """The store's machine loses its power: what no fsync has covered is gone."""
    _cut(scene, None)


@fault("4", needs=why_not, stores=("embedded",))
def torn_power_cut(scene: Scene) -> None:
    """The same, but a random part of the last write has reached the disk."""
    _cut(scene, scene.chance)


@fault("7", needs=why_not, stores=("embedded",))
def slow_disk(scene: Scene) -> None:
    """Every fsync of the store takes longer for some seconds."""
    if (found := _of(scene)) is not None:
        found[1].set(fsync_milliseconds=scene.chance.choice(SLOW_MILLISECONDS))
        scene.wait(scene.chance.uniform(1.0, 4.0))
        found[1].set(fsync_milliseconds=0)


@fault("8", needs=why_not, stores=("embedded",))
def store_clock_forward(scene: Scene) -> None:
    """The store's wall clock is put an hour forward, for good."""
    if (found := _of(scene)) is not None:
        found[1].set(clock_seconds=found[1].read("clock_seconds") + HOUR)


def _of(scene: Scene) -> tuple[MachineStore, Machine] | None:
    """The store and its machine; None with a note on a store of another kind."""
    store = scene.system.store
    if not isinstance(store, MachineStore) or store.machine is None:
        scene.note("the store is on no machine that can be steered")
        return None
    return store, store.machine


def _cut(scene: Scene, torn: Random | None) -> None:
    if (found := _of(scene)) is None:
        return
    store, machine = found
    # So that the cut falls between a write and its fsync, not beside it.
    machine.set(fsync_milliseconds=20)
    scene.wait(scene.chance.uniform(0.1, 0.3))
    [program] = store.programs
    program.held = True  # Nobody starts it while its files are cut.
    program.signal(signal.SIGKILL)
    if scene.until(lambda: not program.lives, 10.0):
        scene.count("bytes that power cuts took", cut_power(machine, store.folder / "appendonlydir", torn=torn))
    machine.set(fsync_milliseconds=0)
    program.held = False
    if not scene.until(store.is_ready, 60.0):
        scene.complain("the store did not come back after a power cut")

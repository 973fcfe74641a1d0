"""The table of faults: each is a small function with a name and the row of the fault plan that it belongs to."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from redis import Redis

from tests.faults.processes import System


@dataclass
class Scene:
    """What a fault may touch. `chance` is seeded; `note` puts a line into the report; `over` ends the run, and then
    `clean_up`, the last first, takes away what was planted and is still there.

    `calm` stretches the pauses between faults.
    """

    system: System
    redis: Redis
    chance: Random
    tables: list[str]
    seconds: float
    over: threading.Event
    calm: float = 1.0
    notes: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    clean_up: list[Callable[[], None]] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Something worth a line of the report."""
        self.notes.append(text)

    def count(self, what: str, by: int = 1) -> None:
        """A figure of the report."""
        self.figures[what] = self.figures.get(what, 0) + by

    def complain(self, text: str) -> None:
        """The fault met something that must not be."""
        self.complaints.append(text)

    def wait(self, seconds: float) -> bool:
        """Let time pass; True when the run is over, and the fault should clean up and end."""
        return self.over.wait(seconds)

    def until(self, condition: Callable[[], bool], seconds_max: float) -> bool:
        """Wait for `condition`; False when it has not come true in time."""
        end = time.monotonic() + seconds_max
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True


Inject = Callable[[Scene], None]


STORES = ("embedded", "sentinel", "cluster")
"""The kinds of store that a run can be made on."""


class Fault(NamedTuple):
    """`inject` does it, and returns when it is over. `rows` of the fault plan; `weight`: how often, beside others;
    `needs` says why it cannot be made on this machine, or gives None; `night`: too long for the short form;
    `stores`: the kinds of store that it can be made on."""

    name: str
    rows: str
    says: str
    inject: Inject
    weight: int
    night: bool
    needs: Callable[[], str | None]
    stores: tuple[str, ...]


FAULTS: dict[str, Fault] = {}


def fault(
    rows: str, *, weight: int = 1, night: bool = False, needs: Callable[[], str | None] = lambda: None,
    stores: tuple[str, ...] = STORES,
) -> Callable[[Inject], Inject]:
    """Enter a function into the table of faults; its name and the first line of its words are the fault's."""

    def enter(inject: Inject) -> Inject:
        name = inject.__name__.replace("_", "-")
        assert name not in FAULTS, name
        assert inject.__doc__, name
        says = inject.__doc__.strip().splitlines()[0]
        FAULTS[name] = Fault(name, rows, says, inject, weight, night, needs, stores)
        return inject

    return enter

"""Masters are lost while people play, on a store that sentinels watch and on a cluster: nothing that was answered is.

MARIAS_TEST_FAILOVERS says how many faults are made on each kind of store; 20 takes some ten minutes. With more than one
masters are also paused and replaced, which sentinels do not survive without loss: the README says why.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import topologies
from tests.faults import several
from tests.faults.run import run
from tests.faults.several import ENVIRONMENT, GAP_SECONDS_MAX, SeveralStore

FAULTS = int(os.environ.get("MARIAS_TEST_FAILOVERS", "1"))
SECONDS_EACH = 9.0 if FAULTS == 1 else 13.0
BUSY_SECONDS_MAX = 45.0
"""On CI other tests run beside: there it only must go on."""

pytestmark = pytest.mark.server


@pytest.fixture(params=["sentinel", "cluster"])
def servers(request: pytest.FixtureRequest) -> Iterator[topologies.Watched | topologies.Clustered]:
    """A store of the test's own: its servers are killed."""
    make = {"sentinel": topologies.Watched, "cluster": topologies.Clustered}[request.param]
    made = make(topologies.KIND)
    try:
        yield made.start()
    finally:
        made.remove()


def test_nothing_is_lost_with_a_master(servers: topologies.Watched | topologies.Clustered) -> None:
    made: list[SeveralStore] = []

    def store(folder: Path) -> SeveralStore:
        made.append(SeveralStore(folder, servers))
        return made[-1]

    faults = several.faults(lambda: made[-1], cluster=isinstance(servers, topologies.Clustered))
    if FAULTS == 1:
        faults = faults[:1]
    said: list[str] = []
    seed = int(time.time()) if FAULTS > 1 else 5
    seconds = SECONDS_EACH * FAULTS
    result = run(
        faults, seed=seed, seconds=seconds, tables=4, say=said.append, store=store, environment=ENVIRONMENT,
        stall_max=GAP_SECONDS_MAX if FAULTS > 1 else BUSY_SECONDS_MAX,
    )
    print(f"seed {seed}", *result.notes, *result.verdict.lines(), result.outcomes, result.faults, sep="\n")
    assert result.verdict.lines()[1:] == []
    assert result.outcomes["ok"] > 20
    assert made[-1].gaps
    assert max(made[-1].gaps) < (GAP_SECONDS_MAX if FAULTS > 1 else BUSY_SECONDS_MAX)

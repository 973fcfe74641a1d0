"""Masters are lost while people play, on a store that sentinels watch and on a cluster: nothing that was answered is.

MARIAS_TEST_FAILOVERS says how many faults are made on each kind of store; 20 takes some ten minutes. With more than one
they are all that can be made there, also two at a time: one of the servers, one of the other processes.
"""

import os
import time

import pytest

from tests.faults import report
from tests.faults.__main__ import chosen, on_store
from tests.faults.several import GAP_SECONDS_MAX

FAULTS = int(os.environ.get("MARIAS_TEST_FAILOVERS", "1"))
SECONDS_EACH = 9.0 if FAULTS == 1 else 13.0
BUSY_SECONDS_MAX = 45.0
"""On CI other tests run beside: there it only must go on."""

pytestmark = pytest.mark.server


@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
def test_nothing_is_lost_with_a_master(kind: str) -> None:
    faults = chosen("kill-master" if FAULTS == 1 else None, night=False, store=kind)
    seed = int(time.time()) if FAULTS > 1 else 5
    result = on_store(
        kind, faults, seed=seed, seconds=SECONDS_EACH * FAULTS, tables=4, say=print,
        stall_max=GAP_SECONDS_MAX if FAULTS > 1 else BUSY_SECONDS_MAX,
    )
    assert result.ok, "\n".join(report.lines(result))
    assert result.outcomes["ok"] > 20
    assert sum(result.faults.values()) >= 1
    assert any("went on after" in note for note in result.notes)

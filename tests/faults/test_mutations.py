"""What keeps the promise is watched: taken out, each guard is missed by a test that is named."""

import pytest

from tests.faults import mutations
from tests.faults.mutations import MUTATIONS, Mutation

pytestmark = pytest.mark.server


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.guard)
def test_the_table_follows_the_code(mutation: Mutation) -> None:
    assert mutations.is_current(mutation), f"no longer in {mutation.file}, or not once: {mutation.before}"


def test_each_promised_guard_is_missed_when_it_is_out() -> None:
    """All of them, the others too: `python3 deploy/dev.py faults --mutations`."""
    tried = list(mutations.run([each for each in MUTATIONS if each.promised]))
    print(*map(mutations.line, tried), sep="\n")
    assert [each.mutation.guard for each in tried if not each.red] == []
    assert len(tried) >= 9

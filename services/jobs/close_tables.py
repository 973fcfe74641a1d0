"""Tables that stood still for too long are closed, by a command like any other: who moved since is not disturbed."""

from collections.abc import Sequence

from services.intake import CLOCK, Submitted, submit_many
from services.jobs.queue import Turn
from services.jobs.store import store


def close_tables(idle: Sequence[Turn]) -> None:
    """The job. Run twice, a table is closed once."""
    submit_many(store(), [
        Submitted(table, CLOCK, "", f"close-{version}", {"type": "close", "version_seen": version})
        for table, version in idle
    ])

"""The audit of each night: a process of its own that works half of the time at most, and tells how it ended."""

import time
from collections.abc import Callable
from typing import Final

from services.audit.notes import Notes
from services.audit.run import Installation, Report, audit
from services.store import audited
from services.store.audited import Result

PAUSE_SECONDS_MAX: Final = 1.0


class Busy(Exception):
    """Another process is at it."""


class LostHold(Exception):
    """This process stood still for so long that another may have taken over."""


def audit_night(
    installation: Installation, notes: Notes, night: str, sleep: Callable[[float], None] = time.sleep
) -> Report:
    """Audit everything, slowly, and keep the result for `status` and the metrics.

    Raises Busy, LostHold, and StoreUnavailable; then the notes know what was done, and the next attempt goes on there.
    """
    redis = installation.redis
    held = audited.hold(redis)
    if held is None:
        raise Busy

    def pause(worked: float) -> None:
        sleep(min(worked, PAUSE_SECONDS_MAX))  # As long as it took: play goes first.
        if not audited.longer(redis, held):
            raise LostHold

    try:
        report = audit(installation, notes, lambda *_: None, pause=pause)
        audited.keep(redis, result_of(report, night))
    finally:
        audited.let_go(redis, held)
    return report


def result_of(report: Report, night: str) -> Result:
    """A report in short, without anything that could name a card."""
    first = ""
    if report.faults:
        fault = report.faults[0]
        first = f"{fault.table or fault.account} at version {fault.version}: {fault.check}, field {fault.field[:80]}"
    return Result(
        night,
        report.ended,
        report.tables,
        report.deals,
        report.entries,
        len(report.faults),
        first,
        len(report.missing),
        sorted(report.unchecked),
    )

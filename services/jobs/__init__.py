"""Work that may be late and may run twice: the moves of bots, and finished deals that go to the archive."""

from services.jobs.program import run

__all__ = ["run"]

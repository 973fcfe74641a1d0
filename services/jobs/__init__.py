"""Work that may be late and may run twice: the moves of bots. A job reads views and sends commands, no more."""

from services.jobs.program import run

__all__ = ["run"]

"""The access log: one JSON line per request on the standard error."""

import sys
from typing import Any

import msgspec
import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def access_log(level: str) -> structlog.typing.FilteringBoundLogger:
    """A logger that writes what is at least `level`; below it a call costs next to nothing."""
    logger: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return logger


def _json(line: dict[str, Any], **_: object) -> str:
    return msgspec.json.encode(line).decode()

"""The access log: one JSON line per request, at level info, by way of the logging that the process has set up."""

import logging
from typing import Any

import msgspec
import structlog

NAME = "marias.access"


def access_log() -> structlog.stdlib.BoundLogger:
    """A logger of events with values; below its level a call costs next to nothing."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(NAME),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger


def _json(line: dict[str, Any], **_: object) -> str:
    return msgspec.json.encode(line).decode()

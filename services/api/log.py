"""The access log: one JSON line per request, at level info, by way of the logging that the process has set up."""

import logging
from typing import Any

import msgspec
import structlog

NAME = "marias.access"

_logger = logging.getLogger(NAME)


def is_logged() -> bool:
    """Does anybody want to read the access log?"""
    return _logger.isEnabledFor(logging.INFO)


def access_log() -> structlog.stdlib.BoundLogger:
    """A logger of events with values."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        _logger,
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger


def _json(line: dict[str, Any], **_: object) -> str:
    return msgspec.json.encode(line).decode()

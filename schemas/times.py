"""Times on the wire: milliseconds since the epoch inside, RFC 3339 in UTC outside."""

from datetime import UTC, datetime
from functools import lru_cache


def rfc3339(at: int) -> str:
    """Milliseconds since the epoch as text.

    >>> rfc3339(1_767_225_600_007)
    '2026-01-01T00:00:00.007Z'
    """
    seconds, milliseconds = divmod(at, 1000)
    return f"{_second(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")

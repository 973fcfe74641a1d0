"""The reads of this process: so many at a time, however many clients come at once."""

from typing import Any

from gevent.lock import BoundedSemaphore
from redis import Redis

from services.store import views
from services.store.views import Current, Feed

TOGETHER_MAX = 16  # Each takes a connection to the store; when a server restarts, thousands of clients come back.


class Reads:
    """What `services.store.views` offers, a few at a time. Everything raises StoreUnavailable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._turns = BoundedSemaphore(TOGETHER_MAX)

    def current(self, table: str) -> Current | None:
        """The table now, or None when it does not exist."""
        with self._turns:
            return views.current(self._redis, table)

    def feed(self, table: str, after: int, limit: int) -> Feed | None:
        """At most `limit` items after version `after`, or None when the table does not exist."""
        with self._turns:
            return views.feed(self._redis, table, after, limit)

    def receipt(self, table: str, actor: str, key: str) -> dict[str, Any] | None:
        """The answer to a command, `{"s": "queued"}` if there is none yet, or None when unknown."""
        with self._turns:
            return views.receipt(self._redis, table, actor, key)

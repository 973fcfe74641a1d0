"""The clock of the owned partitions: what is due becomes a command through intake, as if somebody had sent it."""

import logging
from collections.abc import Iterable, Mapping, Sequence

from redis import Redis

from engine.table import due
from services.intake import CLOCK, Submitted, Taken, submit_many
from services.store.clock import FORGET, Clock
from services.store.forget import forget_many
from services.store.leases import Gap, Lease
from services.store.wire import StoreUnavailable
from services.worker.handle import REMEMBERED_MS
from services.worker.held import Tables

AT_ONCE_MAX = 64
RETRY_MS = 2_000
PAUSE_MS_MAX = 60_000

_log = logging.getLogger(__name__)


class Ticker:
    """Sends what is due. A command of the clock may be lost or refused: it is sent again until the table moves."""

    def __init__(self, redis: Redis, tables: Tables) -> None:
        self._redis = redis
        self._tables = tables
        self._clock = Clock()
        self._attempts: dict[str, tuple[int, int]] = {}

    def note(self, entries: Iterable[tuple[str, int | None]]) -> None:
        """Members of the due times and when, ms; None: no longer."""
        for member, at in entries:
            self._attempts.pop(member, None)
            self._clock.set(member, at)

    def drop(self, partition: str) -> None:
        """The partition is another's now."""
        self._clock.drop(partition)

    def next_at(self) -> int | None:
        """When something is due next, ms, or None."""
        return self._clock.next_at()

    def tick(self, now: int, leases: Mapping[str, Lease], gaps: Sequence[Gap] = ()) -> None:
        """Do what is due at `now`, ms. Raises StoreUnavailable.

        Nothing is forgotten soon after a gap: whoever could not hear his answer may still ask for it.
        """
        members = [member for member in self._clock.take(now, AT_ONCE_MAX) if member[2:4] in leases]
        if not members:
            return
        for member in members:  # Whatever happens below, it comes up again.
            self._clock.set(member, now + RETRY_MS)
        old = [member for member in members if FORGET in member]
        if gaps and now < gaps[-1].end + REMEMBERED_MS:
            for member in old:
                self._clock.set(member, gaps[-1].end + REMEMBERED_MS)
        else:
            self._forget(old, leases)
        sent = [each for table in members if FORGET not in table and (each := self._command(table, now))]
        for each, taken in zip(sent, submit_many(self._redis, sent), strict=True):
            self._answered(each, taken, now)

    def _forget(self, members: list[str], leases: Mapping[str, Lease]) -> None:
        if not members:
            return
        forget_many(self._redis, [(leases[member[2:4]].fence, member) for member in members])
        for member in members:
            self._clock.set(member, None)

    def _command(self, table: str, now: int) -> Submitted | None:
        """What the table waits for; None when it waits for nothing yet."""
        try:
            held = self._tables.get(table)
            waits = due(held.table)
        except StoreUnavailable:
            raise
        except Exception:  # A table that cannot be read must not stop the clock of the others.
            _log.exception("the clock of %s stands still", table)
            self._clock.set(table, now + PAUSE_MS_MAX)
            return None
        if waits is None or held.due is None or held.due > now:
            self._clock.set(table, held.due)
            return None
        version, attempt = self._attempts.get(table, (held.version, 1))
        if version != held.version:
            attempt = 1
        self._attempts[table] = (held.version, attempt)
        key = f"{waits.kind}-{held.version}-{attempt}"
        return Submitted(table, CLOCK, "", key, {"type": waits.kind, "version_seen": held.version})

    def _answered(self, sent: Submitted, answer: Taken, now: int) -> None:
        """Refused under this key: try again under another, less and less often."""
        if answer.status == "dup" and answer.receipt is not None:
            version, attempt = self._attempts[sent.id]
            self._attempts[sent.id] = (version, attempt + 1)
            self._clock.set(sent.id, now + min(PAUSE_MS_MAX, 10 * 2**attempt))
        if answer.status == "unknown":
            self._clock.set(sent.id, None)

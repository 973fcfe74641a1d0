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
from services.worker.build import TAG
from services.worker.handle import REMEMBERED_MS
from services.worker.tables import StillReading, Tables

AT_ONCE_MAX = 64
RETRY_MS = 2_000
PAUSE_MS_MAX = 60_000
FORGET_PAUSE_MS = 60_000
"""A table that is played fast has much to remember: that is looked through once in so long, not after each deal."""

_log = logging.getLogger(__name__)


class Ticker:
    """Sends what is due. A command of the clock may be lost or refused: it is sent again until the table moves."""

    def __init__(self, redis: Redis, tables: Tables) -> None:
        self._redis = redis
        self._tables = tables
        self._clock = Clock()
        self._attempts: dict[str, tuple[int, int]] = {}
        self._forgot: dict[str, int] = {}
        """When each table was looked through last, as long as that is not long ago."""
        self._postponed: dict[str, list[str]] = {}
        """By table: members whose time has come, and that are done with the next one."""

    def note(self, entries: Iterable[tuple[str, int | None]]) -> None:
        """Members of the due times and when, ms; None: no longer."""
        for member, at in entries:
            self._attempts.pop(member, None)
            self._clock.set(member, at)

    def drop(self, partition: str) -> None:
        """The partition is another's now."""
        self._clock.drop(partition)
        for table in [table for table in self._postponed if table[2:4] == partition]:
            del self._postponed[table]

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
            self._forget(self._after_a_pause(old, now), leases, now)
        sent = [each for table in members if FORGET not in table and (each := self._command(table, now))]
        for each, taken in zip(sent, submit_many(self._redis, sent), strict=True):
            self._answered(each, taken, now)

    def _after_a_pause(self, members: list[str], now: int) -> list[str]:
        """Those of `members` whose table has been left in peace for long enough; the others wait with its next one."""
        if not members:
            return []
        self._forgot = {table: at for table, at in self._forgot.items() if now - at < FORGET_PAUSE_MS}
        ready = []
        for member in members:
            table = member.partition(FORGET)[0]
            if table not in self._forgot:
                ready.append(member)
                continue
            postponed = self._postponed.setdefault(table, [])
            self._clock.set(member, None if postponed else self._forgot[table] + FORGET_PAUSE_MS)
            if member not in postponed:
                postponed.append(member)
        return ready

    def _forget(self, members: list[str], leases: Mapping[str, Lease], now: int) -> None:
        """Look through each table once, up to the last version of its members."""
        by_table: dict[str, list[str]] = {}
        for member in members:
            table = member.partition(FORGET)[0]
            by_table.setdefault(table, self._postponed.get(table, [])[:]).append(member)
        if not by_table:
            return
        for table, due_members in by_table.items():
            by_table[table] = sorted(set(due_members), key=_version, reverse=True)
        forget_many(self._redis, [(leases[table[2:4]].fence, *each) for table, each in by_table.items()], TAG)
        for table, done in by_table.items():
            self._postponed.pop(table, None)
            self._forgot[table] = now
            for member in done:
                self._clock.set(member, None)

    def _command(self, table: str, now: int) -> Submitted | None:
        """What the table waits for; None when it waits for nothing yet."""
        try:
            held = self._tables.get(table)
            waits = due(held.table)
        except StoreUnavailable:
            raise
        except StillReading:
            self._clock.set(table, now)
            return None
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


def _version(member: str) -> int:
    """The version up to which a member forgets."""
    return int(member.partition(FORGET)[2])

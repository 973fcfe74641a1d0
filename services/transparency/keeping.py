"""Keeping the log: finished deals are appended, once each, and heads are signed while it grows."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from redis import Redis

from services.store import deal_log, history
from services.store.cold import PastMissing, RawEntry
from services.store.deal_log import Leaf, Place
from services.store.history import BrokenStream, NewerEvent
from services.store.outbox import Pointer
from services.store.wire import StoreUnavailable
from services.transparency.leaves import OutOfOrder, ended_deals
from services.transparency.signing import Book, Refused, sign

KIND = "record"
LOOK_SECONDS = 1.0
HEAD_SECONDS = 60.0
TABLES_MAX = 8
"""Of each partition in one round."""
DEALS_MAX = 64
"""Of one table in one round; the rest stays on the list."""
TOGETHER_MAX = 256
"""Deals that are appended at once: what the log costs is paid for each time, not for each deal."""
PAUSE_SECONDS = 0.25
AGAIN_SECONDS = 60.0
"""A table that cannot be logged is tried again so late."""

_log = logging.getLogger(__name__)


def note(redis: Redis, pointers: Sequence[Pointer]) -> None:
    """Put the tables at which a deal has ended on the list, before the pointers count as handled."""
    ended = {pointer.table: pointer.version for pointer in pointers if KIND in pointer.kinds}
    if ended:
        deal_log.add_unlogged(redis, list(ended.items()))


class Keeper:
    """Appends what is on the lists and signs heads. Several may run at once: each deal is appended once."""

    def __init__(self, book: Book, partitions: Sequence[str]) -> None:
        self._book = book
        self._redis = book.redis
        self._partitions = partitions
        self._listed = False
        self._stuck: dict[str, float] = {}
        self._refusal = ""
        self._is_ours = False
        """Is the log the one that heads were signed for? To another one nothing is appended."""

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Keep the log until told to stop; a store that is away is waited for."""
        look = head = 0.0
        while not should_stop():
            try:
                if time.monotonic() >= head:
                    head = time.monotonic() + HEAD_SECONDS
                    self.sign()
                if time.monotonic() >= look and self._is_ours:
                    look = time.monotonic() + LOOK_SECONDS
                    self.turn()
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                head, self._is_ours = 0.0, False  # It may come back with less than it had.
            time.sleep(PAUSE_SECONDS)

    def turn(self) -> int:
        """Append what is on the lists, some of each; gives how many deals. Raises StoreUnavailable."""
        if not self._listed:
            deal_log.list_all(self._redis, self._partitions)
            self._listed = True
        listed = deal_log.unlogged(self._redis, self._partitions, TABLES_MAX + len(self._stuck))
        now = time.monotonic()
        tables = [table for table in listed if self._stuck.get(table, 0.0) <= now]
        places = dict(zip(tables, deal_log.places(self._redis, tables), strict=True))
        told = history.raw_until(
            self._redis, {table: (place.version, listed[table]) for table, place in places.items()}
        )
        done, ended = 0, dict[str, list[Leaf]]()
        for table, place in places.items():
            leaves = self._ended(told[table], table, place, listed[table])
            if leaves is None:
                continue
            ended[table] = leaves
            if sum(map(len, ended.values())) >= TOGETHER_MAX:
                done += self._append(ended, listed)
                ended = {}
        return done + self._append(ended, listed)

    def sign(self) -> None:
        """Sign a head if the log has grown; a refusal is logged once. Raises StoreUnavailable."""
        try:
            sign(self._book)
            self._refusal, self._is_ours = "", True
        except (Refused, OSError) as refusal:
            if self._refusal != str(refusal):
                self._refusal = str(refusal)
                _log.critical("no head of the log of deals is signed: %s", refusal)
            if isinstance(refusal, OSError):
                deal_log.set_wrong(self._redis, f"heads cannot be kept outside the store: {refusal}")
            else:
                self._is_ours = False

    def _ended(self, entries: Iterable[RawEntry], table: str, place: Place, until: int) -> list[Leaf] | None:
        """The deals of `table` that are to be logged; None: they cannot be."""
        try:
            leaves = list(ended_deals(entries, table, place, until, DEALS_MAX))
        except (BrokenStream, NewerEvent, PastMissing, OutOfOrder, ValueError, KeyError) as error:
            self._cannot(table, error)
            return None
        if self._stuck.pop(table, None) is not None:
            deal_log.set_stuck(self._redis, table, None)
        return leaves

    def _append(self, ended: Mapping[str, list[Leaf]], listed: Mapping[str, int]) -> int:
        """Append the deals of some tables together, and take off the list the tables of which no more are waiting.

        Where another keeper was there, none is: the list still names the tables, and the next round looks again.
        """
        leaves = [leaf for each in ended.values() for leaf in each]
        if leaves and not deal_log.grow(self._redis, leaves):
            return 0
        whole = [(table, listed[table]) for table, found in ended.items() if len(found) < DEALS_MAX]
        if whole:
            deal_log.take_off(self._redis, whole)
        return len(leaves)

    def _cannot(self, table: str, error: Exception) -> None:
        if table not in self._stuck:
            _log.critical("the finished deals of %s cannot be logged: %s", table, error)
            deal_log.set_stuck(self._redis, table, f"{type(error).__name__}: {error}")
        self._stuck[table] = time.monotonic() + AGAIN_SECONDS

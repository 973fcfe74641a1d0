"""Keeping the log: finished deals are appended, once each, and heads are signed while it grows."""

import logging
import time
from collections.abc import Callable, Sequence

from redis import Redis

from services.store import deal_log
from services.store.cold import PastMissing
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
        done = 0
        for table, place in zip(tables, deal_log.places(self._redis, tables), strict=True):
            done += self._append(table, place, listed[table])
        return done

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

    def _append(self, table: str, place: Place, until: int) -> int:
        try:
            leaves = list(ended_deals(self._redis, table, place, until, DEALS_MAX))
        except (BrokenStream, NewerEvent, PastMissing, OutOfOrder, ValueError, KeyError) as error:
            self._cannot(table, error)
            return 0
        if self._stuck.pop(table, None) is not None:
            deal_log.set_stuck(self._redis, table, None)
        if leaves and not self._grow(leaves):
            return 0
        if len(leaves) < DEALS_MAX:
            deal_log.take_off(self._redis, table, until)
        return len(leaves)

    def _grow(self, leaves: list[Leaf]) -> bool:
        """False: another keeper was there; the list still names the table, and the next round looks again."""
        return deal_log.grow(self._redis, leaves)

    def _cannot(self, table: str, error: Exception) -> None:
        if table not in self._stuck:
            _log.critical("the finished deals of %s cannot be logged: %s", table, error)
            deal_log.set_stuck(self._redis, table, f"{type(error).__name__}: {error}")
        self._stuck[table] = time.monotonic() + AGAIN_SECONDS

"""The loop that projects: read pointers after the checkpoint, bring their tables forward, commit both together."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from redis import Redis

from services.projections.advance import Advance, projected, write
from services.projections.project import Projected
from services.store import history
from services.store.outbox import Pointer, log_ends, read_log
from services.store.outputs import LIVE, Held, Space, checkpoints, frozen
from services.store.wire import StoreUnavailable

KINDS = frozenset({"bank", "chips", "lobby", "record"})
BLOCK_MS = 1_000
LAZY_SECONDS = 0.2
"""A checkpoint that passes nothing of ours may be written this late: it is read again after a crash."""
PAUSE_SECONDS = 0.1
REST_SECONDS = 0.2
"""After news: what comes meanwhile is then read and written at once. To wait for 64 logs costs the store more than
to read what is in them, and nobody waits for a record."""
TABLES_MAX = 64

_log = logging.getLogger(__name__)


class Subscription:
    """Follows the logs of `partitions`. Two may run at once: what one has written, the other finds done."""

    def __init__(self, redis: Redis, partitions: Sequence[str], space: Space = LIVE) -> None:
        self._redis = redis
        self._space = space
        self._kept = dict.fromkeys(partitions, "")
        """The checkpoints in the store, as far as we know."""
        self._read: dict[str, str] = {}
        """How far each log is read and nothing remains to be written but the checkpoint."""
        self._flushed = 0.0

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Project until told to stop; a store that is away or held is waited for."""
        begun = False
        while not should_stop():
            try:
                if not begun:
                    self.begin()
                    begun = True
                if self.turn(BLOCK_MS):
                    time.sleep(REST_SECONDS)
            except Held:
                time.sleep(PAUSE_SECONDS)
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                begun = False
                time.sleep(PAUSE_SECONDS)
        self.flush()

    def begin(self) -> None:
        """Find the checkpoints. Frozen tables are tried again: this may be a build that can take what stopped
        them."""
        self._look(list(self._kept))
        for source in self._kept:
            if stopped := frozen(self._redis, source, self._space):
                self._bring(source, list(stopped), self._kept[source])

    def turn(self, block_ms: int | None) -> bool:
        """One round over what is new; gives whether anything was. Waits up to `block_ms` for it."""
        news = read_log(self._redis, self._read, self._block(block_ms))
        advances = [
            Advance(source, self._kept[source], news[source][-1].id, steps)
            for source, steps in self._steps(news).items()
        ]
        written = {advance.source for advance in advances}
        missed = write(self._redis, advances, self._space) if advances else set()
        for source, pointers in news.items():
            self._read[source] = pointers[-1].id
        self._kept |= {source: self._read[source] for source in written - missed}
        self._look(sorted(missed))
        if not news or time.monotonic() - self._flushed > LAZY_SECONDS:
            self.flush()
        return bool(news)

    def flush(self) -> None:
        """Write the checkpoints that have moved without output."""
        late = [
            Advance(source, self._kept[source], read, [])
            for source, read in self._read.items()
            if read != self._kept[source]
        ]
        missed = write(self._redis, late, self._space) if late else set()
        self._kept |= {source: now for source, _, now, _ in late if source not in missed}
        self._look(sorted(missed))
        self._flushed = time.monotonic()

    def _block(self, block_ms: int | None) -> int | None:
        """With checkpoints still to be written we are back soon."""
        if block_ms is None or self._read == self._kept:
            return block_ms
        return min(block_ms, int(LAZY_SECONDS * 1000))

    def _steps(self, news: Mapping[str, list[Pointer]]) -> dict[str, list[Projected]]:
        """The steps of each source that has any."""
        wanted: dict[str, int] = {}
        for pointers in news.values():
            wanted |= {pointer.table: pointer.version for pointer in pointers if pointer.kinds & KINDS}
        steps: dict[str, list[Projected]] = {}
        for step in projected(self._redis, wanted, self._space) if wanted else ():
            steps.setdefault(step.own.table[2:4], []).append(step)
        return steps

    def _bring(self, source: str, tables: Sequence[str], now: str) -> None:
        """Bring `tables` to their last version, some at a time, then set the checkpoint."""
        for start in range(0, len(tables), TABLES_MAX):
            wanted = dict.fromkeys(tables[start : start + TABLES_MAX])
            steps = projected(self._redis, wanted, self._space, thaw=True)
            write(self._redis, [Advance(source, self._kept[source], "", steps)], self._space)
        write(self._redis, [Advance(source, self._kept[source], now, [])], self._space)
        self._look([source])

    def _look(self, sources: Sequence[str]) -> None:
        """Take the checkpoints of `sources` from the store.

        One without a checkpoint is projected from its events, as pointers of the past may be trimmed.
        """
        if not sources:
            return
        found = checkpoints(self._redis, sources, self._space)
        self._kept |= found
        self._read |= found
        missing = [source for source, checkpoint in found.items() if not checkpoint]
        ends = log_ends(self._redis, missing) if missing else {}
        for source, end in ends.items():
            self._bring(source, history.tables_of(self._redis, source), end)

"""The worker's turn: own, tick, listen, read, decide, apply; round and round."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence

from services.store import history, keys, leases
from services.store.append import BATCH_MAX, tell_to_look
from services.store.channels import Ears
from services.store.commands import Command
from services.store.topology import replicas_of
from services.store.wire import StoreUnavailable
from services.worker.batch import Batches, Outcome, Owner
from services.worker.handle import Desk
from services.worker.inbox import Inbox
from services.worker.owned import BEAT_SECONDS, LOOK_SECONDS, Owned
from services.worker.tables import Tables
from services.worker.tally import Tally
from services.worker.ticker import Ticker

POLL_SECONDS = 1.0
"""How often all partitions are read although no bell rang: a bell may be lost with its connection."""
PAUSE_SECONDS_MAX = 0.5
STALL_SECONDS = 1.0
"""Commands ought to be handled in milliseconds: who needs longer without looking up is counted as stalled."""

_log = logging.getLogger(__name__)


class Worker:
    """Handles the commands of its share of the partitions, by itself or beside others."""

    def __init__(
        self, desk: Desk, name: str, partitions: Sequence[str], ticks: Callable[[], float] = time.monotonic
    ) -> None:
        redis = desk.redis
        self.owned = Owned(redis, name, partitions, ticks)
        self.cursors: dict[str, str] = {}
        self._redis = redis
        self._ticks = ticks
        self._fences: dict[str, str] = {}
        self._tables = Tables(redis, pulse=self.owned.stay, fence_of=self._fences.get)
        self._ticker = Ticker(redis, self._tables)
        self._tally = Tally()
        self._batches = Batches(desk._replace(gaps=lambda: self.owned.gaps), self._tables, self._tally)
        self._ears = Ears(redis)
        self._bells = {keys.bell(each).encode(): each for each in partitions}
        self._followed = 0
        self._inbox = Inbox()
        self._careful: dict[str, int] = {}
        self._next_poll = self._next_surprise = 0.0
        self._interrupted = False

    def run(self, stopped: Callable[[], bool]) -> None:
        """Turn after turn until `stopped`; then give everything back. The store may come and go meanwhile."""
        pause = 0.01
        while not stopped():
            try:
                self.turn(LOOK_SECONDS)
                pause = 0.01
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                time.sleep(pause)
                pause = min(2 * pause, PAUSE_SECONDS_MAX)
        try:
            self.owned.release_all()
        except StoreUnavailable as error:
            _log.warning("leases are left to run out: %s", error)
        self._ears.close()

    def turn(self, wait_seconds: float) -> int:
        """One turn; gives how many commands were handled. Waits up to `wait_seconds` when there is nothing to do.

        Raises StoreUnavailable; the next turn then starts from what the store says.
        """
        try:
            return self._turn(wait_seconds)
        except StoreUnavailable:
            self._interrupted = True
            raise

    def _turn(self, wait_seconds: float) -> int:
        if self._interrupted:
            self.owned.renew()
            self._reread(self.cursors)
            self._tell_to_look(list(self.cursors))
            self._interrupted = False
        self.owned.look()
        self._tally.tell(self._redis, self._ticks())
        self._listen()
        self._follow_leases()
        self._tables.begin_turn()
        self._ticker.tick(self._now(), self.owned.leases, self.owned.gaps)
        self._hear(wait_seconds)
        self._inbox.read(self._redis)
        return self._work()

    def _now(self) -> int:
        """The time by the store's clock, on which deadlines are judged."""
        return int(1000 * self._ticks()) + self.owned.server_ahead_ms

    def _follow_leases(self) -> None:
        """What is owned is worked on, and nothing else: however an interruption left the two."""
        if self._followed == self.owned.changes:
            return
        leases = self.owned.leases
        self._lose([each for each, fence in self._fences.items() if each not in leases or leases[each].fence != fence])
        claimed = sorted(leases.keys() - self._fences.keys())
        self._ears.add(list(map(keys.bell, claimed)))
        for partition in claimed:
            self._ticker.note(history.clock_entries(self._redis, partition))
            self._tables.forget_partition(partition)
            if leases[partition].orphaned:
                self._careful[partition] = BATCH_MAX
            self.cursors[partition] = leases[partition].cursor
            self._fences[partition] = leases[partition].fence
            self._inbox.open(partition, leases[partition].cursor)
        self._tell_to_look(claimed)
        self._followed = self.owned.changes

    def _tell_to_look(self, partitions: Sequence[str]) -> None:
        """Where replicas confirm, a command may have been applied and nobody told. Both the leases and all before
        them are confirmed by now."""
        if partitions and replicas_of(self._redis):
            tell_to_look(self._redis, partitions)

    def _lose(self, partitions: Sequence[str]) -> None:
        self._ears.remove(list(map(keys.bell, partitions)))
        for partition in partitions:
            self.cursors.pop(partition, None)
            self._inbox.close(partition)
            self._fences.pop(partition, None)
            self._careful.pop(partition, None)
            self._tables.forget_partition(partition)
            self._ticker.drop(partition)

    def _reread(self, partitions: Iterable[str]) -> None:
        """Go on from where the store says that the partition stands."""
        for partition, cursor in history.cursors(self._redis, list(partitions)).items():
            self.cursors[partition] = cursor
            self._inbox.open(partition, cursor)

    def _listen(self) -> None:
        """Hear the bells of all that is owned; after an interruption, look everywhere."""
        if not self._ears.listening:
            self._ears.listen([keys.workers_bell(), *map(keys.bell, self._fences)])
            self._inbox.look_everywhere()

    def _hear(self, wait_seconds: float) -> None:
        """Which commands are new; with nothing to do, wait for one."""
        for channel, message in self._ears.hear(self._patience(wait_seconds) if self._inbox.is_empty() else 0.0):
            partition = self._bells.get(channel)
            if partition is None:
                self.owned.hurry()
            else:
                self._inbox.hear(partition, message)
        if self._ticks() >= self._next_poll:
            self._next_poll = self._ticks() + POLL_SECONDS
            self._inbox.look_everywhere()

    def _patience(self, wait_seconds: float) -> float:
        at = self._ticker.next_at()
        return wait_seconds if at is None else min(wait_seconds, max(0.0, (at - self._now()) / 1000))

    def _work(self) -> int:
        """Handle all that is queued, batch by batch."""
        handled, began = 0, self._ticks()
        while batch := self._inbox.take(BATCH_MAX, self._careful):
            if self._is_surprised(batch):
                return handled
            careful = not self._careful.keys().isdisjoint(batch)
            owners = {each: Owner(self._fences[each], self.cursors[each]) for each in batch}
            outcome = self._batches.run(owners, batch, careful=careful)
            self._follow(outcome)
            self._took(batch, outcome)
            handled += sum(map(len, batch.values()))
        for partition in [each for each in self._careful if not self._inbox.has(each)]:
            del self._careful[partition]
        if self._ticks() - began > STALL_SECONDS:
            self._tally.count("worker.stalls")
        return handled

    def _took(self, batch: dict[str, list[Command]], outcome: Outcome) -> None:
        now = self._now()
        for partition, commands in batch.items():
            if partition in outcome.cursors and partition not in outcome.reread:
                for command in commands:
                    self._tally.took(now - command.at)

    def _is_surprised(self, batch: dict[str, list[Command]]) -> bool:
        """Was a command taken in at a time that has not come? Then ask the store for its time, and begin anew.

        Its clock was put forward, and without knowing that we would take somebody for late. If its clock was put
        back, ids stay ahead for as long: so this is done once in a while only.
        """
        now = self._now()
        ahead = any(commands[-1].at > now + leases.GAP_MS for commands in batch.values())
        if not ahead or self._ticks() < self._next_surprise:
            return False
        self._next_surprise = self._ticks() + BEAT_SECONDS
        self.owned.hurry(beat=True)
        self._interrupted = True
        return True

    def _follow(self, outcome: Outcome) -> None:
        """Take over what a batch changed."""
        self.cursors.update(outcome.cursors)
        self._ticker.note(outcome.clock)
        for partition in outcome.cursors.keys() & self._careful.keys():
            self._careful[partition] -= 1
            if not self._careful[partition]:
                del self._careful[partition]
        for partition in outcome.shunned:
            self.owned.shun(partition)
        self.owned.drop(outcome.lost)
        self._lose([*outcome.lost, *outcome.shunned])
        again = outcome.reread - outcome.lost - outcome.shunned
        if again:
            self._reread(sorted(again))

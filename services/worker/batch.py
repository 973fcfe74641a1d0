"""Commands of a turn, decided in memory and written in one round trip."""

import logging
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from services.envelope import Forged
from services.store import accounts, history, keys
from services.store.append import Answer, Entry, Position, Result, Status, apply_many
from services.store.clock import forget_member
from services.store.cold import PastMissing
from services.store.commands import Command
from services.store.wire import StoreUnavailable
from services.worker.handle import Desk, Handled, handle, open_account, park
from services.worker.held import Held
from services.worker.tables import StillReading, Tables
from services.worker.tally import Tally
from services.worker.trial import dies, end_without
from services.worker.watchdog import DECIDE_TICKS_MAX, READ_TICKS_MAX, TookTooLong, Watchdog, told

TRIES_MAX = 3
"""How often a command that crashes the rules is tried."""
DEATHS_MAX = 60
"""How often a command is tried alone by workers that do not get to its end although a child process does."""
CONFLICTS_MAX = 5
"""How often a command is decided again because its table was at another version than the owner thought."""

_log = logging.getLogger(__name__)


class Owner(NamedTuple):
    """Where a partition's owner stands: its fence, and the last command that was handled."""

    fence: str
    cursor: str


class Prepared(NamedTuple):
    """A command and what is to be written of it."""

    partition: str
    command: Command
    handled: Handled


class Outcome(NamedTuple):
    """What a batch changed. Partitions to `reread` go on from the store's cursor, `lost` ones are another's,
    `shunned` ones need a newer build; `clock` are members of the due times and when, None: no longer."""

    cursors: dict[str, str]
    clock: list[tuple[str, int | None]]
    reread: set[str]
    lost: set[str]
    shunned: set[str]


class Batches:
    """Decides batches for one worker. Tables in memory go on only once the store has their entry."""

    def __init__(self, desk: Desk, tables: Tables, tally: Tally) -> None:
        self._desk = desk
        self._tally = tally
        self._tables = tables
        self._watchdog = Watchdog()
        self._fresh: dict[str, Held] = {}
        self._tries: dict[str, int] = {}
        self._conflicts: dict[str, int] = {}

    def run(
        self, owners: Mapping[str, Owner], work: Mapping[str, list[Command]], *, careful: bool = False
    ) -> Outcome:
        """Handle `work`, commands by partition in order. `careful` counts each command before it is tried.

        Raises StoreUnavailable: what was written is unknown, go on from the store's cursors.
        """
        outcome = Outcome({}, [], set(), set(), set())
        self._fresh.clear()
        with self._watchdog:
            prepared = [
                each
                for partition, commands in work.items()
                for each in self._prepare(partition, owners[partition], commands, outcome, careful)
            ]
        try:
            results = apply_many(self._desk.redis, [each.handled.write for each in prepared])
        except StoreUnavailable:
            for each in prepared:
                self._tables.forget(each.handled.write.position.aggregate)
            raise
        for each, result in zip(prepared, results, strict=True):
            self._settle(each, result, outcome)
        return outcome

    def _prepare(
        self, partition: str, owner: Owner, commands: list[Command], outcome: Outcome, careful: bool
    ) -> Iterator[Prepared]:
        """The commands up to the first that cannot be handled now; the others would be decided on sand."""
        previous = owner.cursor
        for command in commands:
            place = _place(partition, owner.fence, previous, command)
            try:
                handled = self._handle(partition, command, place, careful)
            except (history.NewerEvent, PastMissing) as error:
                _log.error("partition %s needs a newer build, or the archive: %s", partition, error)
                outcome.shunned.add(partition)
                return
            except StillReading:  # The other partitions need not wait for it.
                handled = None
            if handled is None:
                outcome.reread.add(partition)
                return
            yield Prepared(partition, command, handled)
            previous = command.id

    def _handle(self, partition: str, command: Command, place: Position, careful: bool) -> Handled | None:
        """What is to be written; None: try again. A command that crashes is given up in the end."""
        if careful and self._kills(partition, command, place):
            return park(command, place, "workers died at it, and so did child processes that tried it")
        try:
            return self._decide(command, place)
        except (StoreUnavailable, StillReading, history.NewerEvent, PastMissing):
            raise
        except Forged as forged:
            self._watchdog.allow(0)
            _log.error("command %s on %s is forged: %s", command.id, command.aggregate, forged)
            return park(command, _aside(place), f"Forged: {forged}")
        except (Exception, TookTooLong) as failure:
            self._watchdog.allow(0)
            if isinstance(failure, MemoryError):
                self._tables.forget_all()
            error = told(failure)
        self._tally.count("worker.failed_tries")
        tries = self._count(partition, command)
        del self._tries[command.id]
        self._tables.forget(place.aggregate)
        _log.error("try %d of command %s on %s failed:\n%s", tries, command.id, place.aggregate, error)
        return park(command, place, error) if tries >= TRIES_MAX else None

    def _decide(self, command: Command, place: Position) -> Handled:
        table = place.aggregate
        if not keys.is_table_id(table):
            return open_account(command, place, self._desk)
        held = self._fresh.get(table)
        if held is None:
            self._watchdog.allow(READ_TICKS_MAX)
            held = self._tables.get(table)
        self._watchdog.allow(DECIDE_TICKS_MAX)
        handled = handle(held, command, place, self._desk)
        self._watchdog.allow(0)
        if handled.held is not None:
            self._fresh[table] = handled.held
        if command.id in self._tries and isinstance(handled.write, Entry):
            return handled._replace(write=handled.write._replace(counted=True))
        return handled

    def _kills(self, partition: str, command: Command, place: Position) -> bool:
        """Did a worker that handled nothing else not get to its end, and does a child process not either?"""
        worker = os.getpid()

        def decide() -> None:
            # The child must not keep the leases: those of a worker that is gone have to run out.
            self._tables.pulse = lambda: end_without(worker)
            with self._watchdog:  # Timers are not inherited.
                self._decide(command, place)

        tried = self._count(partition, command)
        if tried <= 1:
            return False
        self._tables.wait_for_turn(place.aggregate)
        if tried > DEATHS_MAX or dies(decide, self._tables.pulse):
            return True
        self._tables.catch_up(place.aggregate)
        return False

    def _count(self, partition: str, command: Command) -> int:
        """Count in the store that this worker tries a command, once per try."""
        if command.id not in self._tries:
            self._tries[command.id] = history.count_try(self._desk.redis, partition, command.id)
        return self._tries[command.id]

    def _settle(self, each: Prepared, result: Result, outcome: Outcome) -> None:
        partition, command, handled = each
        table = handled.write.position.aggregate
        if result.status is not Status.APPLIED:
            self._tables.forget(table)
            self._tally.count(f"worker.{result.status}")
        match result.status:
            case Status.APPLIED | Status.DUPLICATE:
                outcome.cursors[partition] = command.id
                self._tries.pop(command.id, None)
                self._conflicts.pop(command.id, None)
                if handled.refund is not None:
                    accounts.refund(self._desk.redis, *handled.refund)
                if result.status is Status.APPLIED:
                    self._go_on(table, handled, outcome)
            case Status.FENCED:
                _log.warning("partition %s is another's: a late write was fenced", partition)
                outcome.lost.add(partition)
            case Status.CONFLICT if self._met_too_often(command):
                outcome.shunned.add(partition)
            case Status.BROKEN:
                _log.critical("partition %s is broken: %s", partition, result.detail.decode())
                outcome.shunned.add(partition)
            case _:
                outcome.reread.add(partition)

    def _go_on(self, table: str, handled: Handled, outcome: Outcome) -> None:
        write = handled.write
        self._tally.count(_became(write))
        if handled.held is not None:
            self._tables.put(table, handled.held)
        if isinstance(write, Entry) and write.due_changed:
            outcome.clock.append((table, write.due))
        if write.forget_at is not None and write.expected is not None:
            version = write.expected + isinstance(write, Entry)
            outcome.clock.append((forget_member(table, version), write.forget_at))

    def _met_too_often(self, command: Command) -> bool:
        """Somebody else wrote to the table: that is decided again, but not for ever."""
        self._conflicts[command.id] = seen = self._conflicts.get(command.id, 0) + 1
        if seen <= CONFLICTS_MAX:
            return False
        del self._conflicts[command.id]
        _log.critical("command %s: %s is at another version however often it is read", command.id, command.aggregate)
        return True


def _became(write: Entry | Answer) -> str:
    if isinstance(write, Entry):
        return "worker.applied"
    return "worker.dead" if write.dead else "worker.refused"


def _aside(place: Position) -> Position:
    """What is said of a forged command must not be in the way of the one whose key it bears."""
    return place._replace(aggregate=f"x-{keys.partition_of(place.aggregate)}", actor="forged", key=place.command)


def _place(partition: str, fence: str, previous: str, command: Command) -> Position:
    """A forged entry may name a table of another partition: what is said of it stays in this one."""
    aggregate = _within(partition, command.aggregate)
    return Position(aggregate, fence, previous, command.id, command.actor, command.key, command.fingerprint)


@lru_cache(maxsize=8192)
def _within(partition: str, aggregate: str) -> str:
    known = keys.is_table_id(aggregate) or keys.is_player_id(aggregate)
    return aggregate if known and keys.partition_of(aggregate) == partition else f"x-{partition}"

"""Tables made again in an empty store from the archive, each as it was when its last archived deal had ended.

The last entry of a table goes through the same script as any command, so that its view, feed, snapshot, receipt and
clock are what a worker writes; the entries before it stay in the archive, where every reader finds them. Projections
make themselves anew, as the store holds none of their checkpoints.
"""

from collections.abc import Callable
from pathlib import Path

from redis import Redis

from engine.table import Step, fold
from services.archive import folder
from services.store import chain, cold, history, keys, leases
from services.store.append import Entry, Position, Status, apply_many
from services.store.cold import Mark, PastMissing, RawEntry
from services.store.commands import Command
from services.store.history import BrokenStream, NewerEvent, Recorded
from services.store.leases import Lease
from services.store.wire import StoreUnavailable, ask, ask_all
from services.worker.build import TAG
from services.worker.handle import applied
from services.worker.held import Held, events_of, replay, snapshot

_NAME = "restore"

Progress = Callable[[int, int], None]
"""Told how many tables are restored, and of how many."""


class NotEmpty(Exception):
    """The store holds tables already, or workers are at it."""


def restore(redis: Redis, archive: Path, partitions: list[str], progress: Progress) -> int:
    """Make every archived table again; gives how many. Nobody else may use the store meanwhile.

    Raises NotEmpty; PastMissing, BrokenStream and NewerEvent when a file is broken, missing, or not of such a table;
    StoreUnavailable. After a failure begin again with an empty store.
    """
    if any(history.tables_of(redis, partition) for partition in partitions):
        raise NotEmpty("The store holds tables already. A table is never restored over another.")
    claimed = leases.claim(redis, partitions, _NAME, ms=24 * 3600 * 1000)
    if len(claimed) < len(partitions):
        raise NotEmpty("Workers are running on this store. Stop them first.")
    folder.attach(redis, archive)
    tables = [table for table in folder.tables(archive) if folder.files(archive, table)]
    if strange := [table for table in tables if keys.partition_of(table) not in partitions]:
        raise PastMissing(f"{strange[0]} is of a partition that is not here; set MARIAS_PARTITIONS as it was.")
    done = 0
    try:
        for partition in partitions:
            owned = [table for table in tables if keys.partition_of(table) == partition]
            lease = claimed[partition]
            for table in _by_time(archive, owned):
                lease = _made_again(redis, archive, table, lease)
                done += 1
                progress(done, len(tables))
    finally:
        leases.release(redis, {partition: lease.fence for partition, lease in claimed.items()})
    return done


def _by_time(archive: Path, tables: list[str]) -> list[str]:
    """The tables in the order of their last entries: as the cursor saw them."""
    return sorted(tables, key=lambda table: (_last(archive, table).at, table))


def _last(archive: Path, table: str) -> Recorded:
    file = folder.files(archive, table)[-1]
    [entry] = folder.entries(archive, table, file.last, file.last)
    return history.recorded(entry)


def _made_again(redis: Redis, archive: Path, table: str, lease: Lease) -> Lease:
    """`_restore`, for files of which nobody knows who wrote them: they may be whole, and tell of no table."""
    try:
        return _restore(redis, archive, table, lease)
    except (NotEmpty, PastMissing, BrokenStream, NewerEvent, StoreUnavailable):
        raise
    except Exception as error:
        raise PastMissing(f"{table}: what is archived of it makes no table: {error!r}") from error


def _restore(redis: Redis, archive: Path, table: str, lease: Lease) -> Lease:
    """Make `table` again; gives the lease with the cursor after it."""
    file = folder.files(archive, table)[-1]
    entries = cold.past(redis, table, 1, file.last, Mark(file.last, file.deal))
    told = [history.recorded(entry) for entry in entries]
    before = replay(table, told[:-1])
    events = events_of(table, told[-1])
    command = _command(table, told[-1], lease.cursor)
    place = Position(
        table, lease.fence, lease.cursor, command.id, command.actor, command.key, command.fingerprint
    )
    made = applied(before, command, place, Step(events, fold(before.table, events)))
    assert isinstance(made.write, Entry)
    entry = _as_it_was(made.write, before, table, told[-1])
    _put(redis, table, entries[-2], Mark(file.last, file.deal))
    [result] = apply_many(redis, [entry])
    if result.status is not Status.APPLIED:
        raise NotEmpty(f"{table} cannot be written: {result.status} {result.detail.decode()}")
    if made.held is not None and made.write.snapshot:  # Its tag is that of this build, the entry has that of its own.
        now = made.held._replace(chain=chain.digest(entry.hash))
        ask(redis, "HSET", keys.snapshot(table), "v", now.version, "x", TAG, "b", snapshot(now))
    return lease._replace(cursor=command.id)


def _as_it_was(entry: Entry, before: Held, table: str, told: Recorded) -> Entry:
    """The entry with the bytes that were archived, so that it has the hash that its receipt and others know."""
    head = chain.checked(before.chain, table, told)
    return entry._replace(
        at=told.at, events=told.events, tag=told.tag, hash=chain.text(head),
        receipt=entry.receipt.replace(entry.hash.encode(), chain.text(head).encode()),
        snapshot=b"", about_changed=True, due_changed=True,
    )


def _command(table: str, told: Recorded, cursor: str) -> Command:
    """The command that ended the deal, under an id that follows the cursor and keeps its time."""
    milliseconds, number = (int(part) for part in cursor.split("-"))
    id_ = f"{milliseconds}-{number + 1}" if told.at <= milliseconds else f"{told.at}-0"
    return Command(id_, table, told.actor, "", told.key, told.fingerprint, b"", None)


def _put(redis: Redis, table: str, before: RawEntry, mark: Mark) -> None:
    """What the script finds: the version before, at which it appends, and that the table exists."""
    id_, flat = before
    ask_all(
        redis,
        [
            ("XADD", keys.events(table), id_, *flat),
            ("SADD", keys.tables(keys.partition_of(table)), table),
        ],
    )
    cold.set_mark(redis, table, mark)

"""One table, audited: what was made of it is read, then its events from the first on, and compared on the way."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from redis import Redis

from services.audit.derived import Derived, derived
from services.audit.fault import Fault, Found, Where
from services.audit.logged import NO_LEAVES, UNLOGGED, Leaves, Logged
from services.audit.projected import Projections, Scored
from services.audit.shelves import Shelves
from services.audit.shuffle import UNCHECKED, OpenKey
from services.audit.source import Placed, Source, archived, files, with_next
from services.audit.told import Told
from services.audit.walk import Chips, Walk
from services.store import chain, cold, keys
from services.store.cold import RawEntry, version_of
from services.store.wire import store_ms

FAULTS_MAX = 20
"""So many faults of one table are told: one is enough to look at it."""


class Audited(NamedTuple):
    """What an audit found at a table, up to `version`: `moved` are the chips of accounts that came and went, `at_seats`
    those that lie there, `scored` what it posted to the scores of players up to
    the version `projected`; `unchecked` says what could not be checked, and how often."""

    table: str
    version: int
    deals: int
    faults: list[Fault]
    moved: list[Chips]
    at_seats: int
    scored: list[Scored]
    projected: int
    unchecked: dict[str, int]


def audit_table(
    redis: Redis, archive: Path | None, table: str, open_key: OpenKey | None = None, leaves: Leaves = NO_LEAVES
) -> Audited:
    """Audit a table with all that the store, the archive and the log (its `leaves`) hold of it.

    Raises PastMissing, StoreUnavailable.
    """
    walk, moved = Walk(table, open_key), list[Chips]()
    faults: list[Fault] = []
    scored, projected = list[Scored](), 0
    unchecked, logged = dict[str, int](), Logged(table, leaves)
    try:
        now = store_ms(redis)
        found = derived(redis, table)
        told = Told(redis, table, found, now, is_restored=_is_restored(redis, table, found))
        walk.copies = told.copies
        projections = Projections(redis, table, found)
        for placed, following in with_next(Source(redis, archive, table).entries()):
            _step(walk, placed, following)
            moved += walk.chips
            faults += told.at(walk)
            faults += projections.at(walk)
            if walk.ended is not None:
                faults += logged.at(walk)
            if len(faults) >= FAULTS_MAX:
                break
        else:
            faults += [*_ends(redis, walk, archive, found), *told.end(walk), *projections.end(walk)]
            scored, projected = list(projections.scored.values()), projections.version
            faults += [*logged.end(walk), *logged.noted(redis)]
            unchecked |= {**dict.fromkeys(told.unchecked, 1), UNLOGGED: logged.missing}
    except Found as broken:
        faults.append(broken.fault)
    return _audited(walk, faults, moved, unchecked)._replace(scored=scored, projected=projected)


def audit_archived(
    archive: Path, table: str, open_key: OpenKey | None = None, leaves: Leaves = NO_LEAVES
) -> Audited:
    """Audit what the archive alone tells of a table, and its `leaves` in the log if there are heads beside it."""
    walk, moved = Walk(table, open_key), list[Chips]()
    faults: list[Fault] = []
    logged, shelves = Logged(table, leaves), Shelves(archive, table)
    try:
        for placed, following in with_next(archived(archive, table)):
            _step(walk, placed, following)
            moved += walk.chips
            faults += [*logged.at(walk), *shelves.at(walk)]
            if len(faults) >= FAULTS_MAX:
                break
        else:
            faults += shelves.end(walk)
    except Found as broken:
        faults.append(broken.fault)
    unchecked = {UNLOGGED: logged.missing} if leaves.place and not faults else {}
    return _audited(walk, faults, moved, unchecked)


def _audited(walk: Walk, faults: list[Fault], moved: list[Chips], unchecked: dict[str, int]) -> Audited:
    session = walk.held.table.session
    if walk.deals and not walk.checks_shuffles:
        unchecked = {**unchecked, UNCHECKED: 1}
    unchecked = {what: times for what, times in unchecked.items() if times}
    bankroll = session.opened is not None and session.opened.stake == "bankroll"
    at_seats = sum(session.bank) if bankroll else 0
    return Audited(walk.table, walk.version, walk.deals, faults[:FAULTS_MAX], moved, at_seats, [], 0, unchecked)


def _step(walk: Walk, placed: Placed, following: RawEntry | None) -> None:
    """One entry on; a file's own word about the chain must be true as well. Raises Found."""
    entry, place, previous, head = placed
    if previous and previous != (before := chain.text(walk.held.chain or chain.genesis(walk.table))):
        raise Where("archive", walk.table, place).found(walk.version + 1, "previous", before, previous)
    walk.take(entry, place, following)
    if head and head != (after := chain.text(walk.held.chain)):
        raise Where("archive", walk.table, place).found(walk.version, "head", after, head)


def _ends(redis: Redis, walk: Walk, archive: Path | None, found: Derived) -> Iterator[Fault]:
    """A table has a first event; and what is noted as archived is in the archive."""
    table, (version, deal) = walk.table, found.mark
    if not walk.version:
        yield _at(table, keys.events(table)).fault(1, "id", "1-0", "an empty stream")
    first = cold.entries(redis, table, 1, 1)
    begins = version_of(first[0]) if first else 0
    mark = _mark(redis, table) if begins > version + 1 else cold.NOTHING
    if begins > version + 1 and begins > mark.version + 1:
        place = keys.archived(keys.partition_of(table))
        told = f"{mark.version} {mark.deal}" if mark.version else "nothing"
        yield _at(table, place).fault(mark.version, table, f"at least version {begins - 1}", told)
    if version > walk.version:
        place = keys.archived(keys.partition_of(table))
        yield _at(table, place).fault(walk.version, table, f"up to {walk.version}", f"{version} {deal}")
    if archive is not None and version:
        there = files(archive, table)
        if not any((each.last, each.deal) == (version, deal) for each in there):
            yield _at(table, str(archive)).fault(
                version,
                "file",
                f"deal {deal} up to version {version}",
                f"the last is deal {there[-1].deal} up to {there[-1].last}" if there else "no file",
            )


def _mark(redis: Redis, table: str) -> cold.Mark:
    """Up to where the table is archived by now: it is noted before anything is trimmed."""
    return cold.marks(redis, [table])[0]


def _is_restored(redis: Redis, table: str, found: Derived) -> bool:
    """Was the table made again from the archive, and not trimmed since? Then it has no feed and receipts of before."""
    if found.mark[0] <= 1:
        return False
    first = cold.entries(redis, table, 1, 1)
    return bool(first) and version_of(first[0]) == found.mark[0] - 1


def _at(table: str, place: str) -> Where:
    return Where("archive" if place.startswith("/") else "versions", table, place)

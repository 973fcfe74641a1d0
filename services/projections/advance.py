"""Tables brought forward: what is remembered and what happened is read, projected, and written with a checkpoint."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.projections.project import Projected, first_needed, project, stopped
from services.store.cold import PastMissing
from services.store.outbox import Stretch, read_events
from services.store.outputs import (
    ELSEWHERE,
    LIVE,
    LOBBY,
    Freeze,
    Output,
    Remembered,
    Space,
    Step,
    commit_many,
    remembered,
    slot_of,
)

_log = logging.getLogger(__name__)


class Advance(NamedTuple):
    """What is to be written of one source partition, from the checkpoint seen to the one after ("": as before)."""

    source: str
    seen: str
    now: str
    projected: list[Projected]


def projected(
    redis: Redis, wanted: Mapping[str, int | None], space: Space = LIVE, *, thaw: bool = False
) -> list[Projected]:
    """The step of each table to a version (None: its last). Tables that are there already have none.

    A frozen table is left alone, unless it is to be tried again: `thaw`. One whose past is archived where we cannot
    read it is frozen too; elsewhere than in the live projections that raises PastMissing.
    """
    found: list[Projected] = []
    asked: list[tuple[Stretch, Remembered]] = []
    for table, memory in zip(wanted, remembered(redis, list(wanted), space), strict=True):
        last = wanted[table]
        if (memory.error is not None and not thaw) or (last is not None and last <= memory.version):
            continue
        try:
            asked.append((Stretch(table, first_needed(memory), last), memory))
        except Exception as error:
            found.append(stopped(table, memory, error))
    try:
        told = read_events(redis, [stretch for stretch, _ in asked]) if asked else []
    except PastMissing as error:
        if space is not LIVE:
            raise
        if len(asked) == 1:
            [(stretch, memory)] = asked
            return [*found, stopped(stretch.table, memory, error)]
        return [*found, *_singly(redis, [stretch for stretch, _ in asked], thaw=thaw)]
    for (stretch, memory), entries in zip(asked, told, strict=True):
        if entries and entries[-1].version > memory.version:
            found.append(project(stretch.table, memory, entries))
    return found


def _singly(redis: Redis, stretches: Sequence[Stretch], *, thaw: bool) -> list[Projected]:
    """One table's missing past must not stop the others."""
    return [step for table, _, last in stretches for step in projected(redis, {table: last}, thaw=thaw)]


def write(redis: Redis, advances: Sequence[Advance], space: Space = LIVE) -> set[str]:
    """Write all of `advances`; gives the sources that were not where they were seen, of which nothing moved.

    What goes to other slots is written first and can be written again: it is done once by its id or place. The
    checkpoint is written last, together with what is in its own slot. Raises Held.
    """
    try:
        return _write(redis, advances, space)
    except ResponseError as error:
        _log.error("a projection could not be written, each table is tried alone: %s", error)
        return _write_singly(redis, advances, space)


def _write(redis: Redis, advances: Sequence[Advance], space: Space) -> set[str]:
    abroad = [each for advance in advances for each in _abroad(advance)]
    if abroad:
        commit_many(redis, abroad, space)
    home = [_home(advance) for advance in advances]
    done = commit_many(redis, home, space)
    for advance in advances:
        _tell_frozen(advance.projected)
    return {advance.source for advance, is_done in zip(advances, done, strict=True) if not is_done}


def _write_singly(redis: Redis, advances: Sequence[Advance], space: Space) -> set[str]:
    """The table whose output cannot be written is frozen, the others go on, then the checkpoints move."""
    missed: set[str] = set()
    for source, seen, now, steps in advances:
        for step in steps:
            try:
                missed |= _write(redis, [Advance(source, seen, "", [step])], space)
            except ResponseError as error:
                freeze = stopped(step.own.table, _before(step), error)
                missed |= _write(redis, [Advance(source, seen, "", [freeze])], space)
        if source not in missed:
            missed |= _write(redis, [Advance(source, seen, now, [])], space)
    return missed


def _before(step: Projected) -> Remembered:
    return Remembered(0 if isinstance(step.own, Freeze) else step.own.before, b"", None)


def _home(advance: Advance) -> tuple[Step, list[Output]]:
    slot = f"p{advance.source}"
    outputs: list[Output] = [step.own for step in advance.projected]
    outputs += [post for step in advance.projected for post in step.posts if slot_of(post.player) == slot]
    return Step(slot, advance.source, advance.seen, advance.now), outputs


def _abroad(advance: Advance) -> Iterable[tuple[Step, list[Output]]]:
    """What goes to the lobby and to players of other partitions, by slot."""
    home = f"p{advance.source}"
    by_slot: dict[str, list[Output]] = defaultdict(list)
    for step in advance.projected:
        by_slot[LOBBY] += step.rows
        for post in step.posts:
            by_slot[slot_of(post.player)].append(post)
    for slot, outputs in sorted(by_slot.items()):
        if outputs and slot != home:
            yield Step(slot, advance.source, ELSEWHERE, ""), outputs


def _tell_frozen(steps: Iterable[Projected]) -> None:
    for step in steps:
        if isinstance(step.own, Freeze):
            _log.critical("the projections of %s are stopped: %s", step.own.table, step.own.error.decode())

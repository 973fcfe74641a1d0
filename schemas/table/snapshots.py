"""A table at rest as JSON, to start from instead of its first event; read where its shape is the same."""

from typing import Final

import msgspec

from engine.table import Table, at_rest
from engine.table.state import Deadline, Session
from schemas.shape import digest_of
from schemas.table.events import GAME

MEANING: Final = 1
"""Raise it by hand when a stored field comes to mean something else, or when the same events fold to another state:
then no snapshot of before is read. Names and types of fields are watched by `SHAPE` itself."""


class _Snapshot(msgspec.Struct, frozen=True):
    session: Session
    deadline: Deadline | None
    state: dict[str, object]


SHAPE: Final = digest_of(str(MEANING), _Snapshot, *GAME.stored)
"""Names what `dump_table` writes; a build with another one makes the table from its events."""

_decode = msgspec.json.Decoder(_Snapshot).decode
_encode = msgspec.json.Encoder().encode


def dump_table(table: Table) -> bytes:
    """The table as `load_table` of the same SHAPE reads it; no deal may be running."""
    assert at_rest(table), "a running deal is never kept outside its events"
    return _encode(_Snapshot(table.session, table.deadline, GAME.dump_state(table.state)))


def load_table(snapshot: bytes) -> Table:
    """A table equal to the one that was dumped."""
    kept = _decode(snapshot)
    return Table(kept.session, kept.deadline, GAME.load_state(kept.state))

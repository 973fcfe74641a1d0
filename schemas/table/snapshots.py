"""A table at rest as JSON, to start from instead of its first event; read only by the build that wrote it."""

import msgspec

from engine.table import Table, at_rest
from engine.table.state import Deadline, Session
from schemas.table.events import GAME


class _Snapshot(msgspec.Struct, frozen=True):
    session: Session
    deadline: Deadline | None
    state: dict[str, object]


_decode = msgspec.json.Decoder(_Snapshot).decode
_encode = msgspec.json.Encoder().encode


def dump_table(table: Table) -> bytes:
    """The table as `load_table` of the same build reads it; no deal may be running."""
    assert at_rest(table), "a running deal is never kept outside its events"
    return _encode(_Snapshot(table.session, table.deadline, GAME.dump_state(table.state)))


def load_table(snapshot: bytes) -> Table:
    """A table equal to the one that was dumped."""
    kept = _decode(snapshot)
    return Table(kept.session, kept.deadline, GAME.load_state(kept.state))

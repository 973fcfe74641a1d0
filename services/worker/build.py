"""What a snapshot of a table at rest holds, and the tag by which a build knows whether it can read one."""

import msgspec

from schemas.shape import digest_of
from schemas.table import SHAPE


class Kept(msgspec.Struct, frozen=True):
    """A snapshot's contents; `table` is what `dump_table` wrote, `chain` as it is written, the rest as in `Held`."""

    began: int
    settled: int
    due: int | None
    chain: str
    table: msgspec.Raw


TAG = digest_of(SHAPE, Kept)
"""The same for every build that stores the same fields of the same types: a deploy that changes other code replays
no table. Where the meaning of a field changes, raise `MEANING` in `schemas/table/snapshots.py`."""

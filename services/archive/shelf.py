"""What projections made of archived deals, moved to files beside these: `<partition>/<table>/<deal>.shelf.zst`.

```
{"format": "marias-shelf/1", "table": "t-1f-…", "deal": 3}
{"bank": {"3": "[4,-2,-2]", "d:3": "[104,…]", "s:1": "{…}"}, "records": {"3": "{…}", "3:u-…": "{…}"}, "sealed": {…}}
```

The second line has the fields as the store had them, records unpacked: the payments of the deal, where it ended, who
held the seats, its record, and what each player knew more. It tells every card. A table's last archived deal stays in
the store. All of it is made from the events: `marias rebuild` makes again what is missing or damaged here.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from redis import Redis

from services.archive.format import compress
from services.archive.frames import BadArchive, Frames
from services.archive.place import demand, home
from services.regular import open_regular
from services.store import keys, shelved
from services.store.cold import Mark, PastMissing
from services.store.packing import unpacked
from services.store.projected import booked_field, company_field, company_number
from services.store.shelved import BANK, MOVED, NAMES, RECORDS, SEALED, Shelf
from services.store.wire import ask_all, fields_of
from services.whole_files import force, write_all

FORMAT: Final = "marias-shelf/1"
KEPT: Final = 1
"""So many archived deals of a table stay in the store: the last one is asked for most, and tells who sits there."""
DEALS_MAX: Final = 64
"""Moved in one step."""

ENDING: Final = ".shelf.zst"

_encode = msgspec.json.Encoder(order="sorted").encode


class _Head(msgspec.Struct, frozen=True):
    format: str
    table: str
    deal: int


_decode_head = msgspec.json.Decoder(_Head).decode
_decode = msgspec.json.Decoder(dict[str, dict[str, str]]).decode


def shelve(redis: Redis, archive: Path, table: str, mark: Mark, deals_max: int) -> bool:
    """Move what was made of deals up to `mark`, `deals_max` of them at most; gives whether none is left to move.

    Only what the projections have passed goes, and only once its file was read back. May be run twice, at once, or be
    killed anywhere. Raises BadArchive, OSError, Damaged, StoreUnavailable.
    """
    version, moved = ask_all(redis, [("HGET", keys.fold(table), "v"), ("HGET", keys.bank(table), MOVED)])
    first, last = shelved.gone(table, BANK, moved).last + 1, mark.deal - KEPT
    if first > last or int(version or 0) < mark.version:
        return True
    replies = ask_all(redis, [("HGETALL", key(table)) for key in NAMES.values()])
    kept = dict(zip(NAMES, map(_named, replies), strict=True))
    until = min(last, first + deals_max - 1)
    for start in range(first, until + 1, DEALS_MAX):
        if not _move(redis, archive, table, kept, range(start, min(start + DEALS_MAX, until + 1))):
            return False
    return until == last


def name(deal: int) -> str:
    """What the file of a deal is called."""
    return f"{deal:06d}{ENDING}"


def read(archive: Path, table: str, deal: int) -> Shelf:
    """The fields of a deal that have left the store. Raises PastMissing."""
    demand(archive, f"{table}: deal {deal} is")
    try:
        with open_regular(_path(archive, table, deal)) as packed:
            return _unpack(Frames(packed), table, deal)
    except (BadArchive, OSError) as error:
        raise PastMissing(
            f"{table}: what was made of deal {deal} cannot be read ({error}); `marias rebuild` makes it again."
        ) from error


def faults(archive: Path, table: str) -> Iterator[str]:
    """What is wrong with the files of a table, in order."""
    for path in sorted(home(archive, table).glob(f"*{ENDING}")):
        try:
            read(archive, table, int(path.name.partition(".")[0]))
        except (PastMissing, ValueError) as error:
            yield f"{path}: {error}"


def _move(redis: Redis, archive: Path, table: str, kept: Shelf, deals: range) -> bool:
    """Move some deals in one step; False when that must wait."""
    shelves = {deal: _shelf(kept, deal) for deal in deals}
    files = [(_path(archive, table, deal), _pack(table, deal, shelf)) for deal, shelf in shelves.items()]
    write_all(files)
    for path, packed in files:
        if path.read_bytes() != packed:
            raise BadArchive(f"{path}: what was read back is not what was written")
    force(files[0][0].parent)
    still = company_number(kept[BANK].get(booked_field(deals.stop)))
    gone = {
        (kind, field, value)
        for shelf in shelves.values()
        for kind, values in shelf.items()
        for field, value in values.items()
        if kind != BANK or field != company_field(still)
    }
    return shelved.take_out(redis, table, deals[-1], sorted(gone))


def _shelf(kept: Shelf, deal: int) -> dict[str, dict[str, bytes]]:
    """The fields of a deal, and that of who held the seats in it."""
    bank = str(deal), booked_field(deal), company_field(company_number(kept[BANK].get(booked_field(deal))))
    return {
        BANK: {field: kept[BANK][field] for field in bank if field in kept[BANK]},
        RECORDS: {field: value for field, value in kept[RECORDS].items() if field.partition(":")[0] == str(deal)},
        SEALED: {field: value for field, value in kept[SEALED].items() if field == str(deal)},
    }


def _pack(table: str, deal: int, shelf: Shelf) -> bytes:
    text = {kind: {field: unpacked(value).decode() if kind != BANK else value.decode() for field, value in each.items()}
            for kind, each in shelf.items()}
    return compress(_encode(_Head(FORMAT, table, deal)) + b"\n" + _encode(text) + b"\n")


def _unpack(frames: Frames, table: str, deal: int) -> Shelf:
    """Raises BadArchive."""
    lines = list(islice(frames.lines(), 3)) if frames.begin() else []
    if len(lines) != 2 or frames.begin():
        raise BadArchive("it is not two lines")
    try:
        head, text = _decode_head(lines[0]), _decode(lines[1])
    except msgspec.MsgspecError as error:
        raise BadArchive(f"it cannot be read: {error}") from error
    if head != _Head(FORMAT, table, deal) or text.keys() != NAMES.keys():
        raise BadArchive(f"it is not that of deal {deal} of {table}")
    return {kind: {field: value.encode() for field, value in each.items()} for kind, each in text.items()}


def _path(archive: Path, table: str, deal: int) -> Path:
    return home(archive, table) / name(deal)


def _named(flat: Sequence[bytes]) -> dict[str, bytes]:
    return {field.decode(): value for field, value in fields_of(flat).items()}

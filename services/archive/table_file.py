"""A whole table as one file, to be kept or looked at elsewhere: frames of zstd that unpack to JSON lines.

```
{"format": "marias-table/1", "table": "t-1f-…", "version": 131}
{"format": "marias-archive/1", "table": "t-1f-…", "deal": 1, …}   and the entries of the first deal
{"format": "marias-archive/1", "table": "t-1f-…", "deal": 2, …}   and so on
{"format": "marias-rest/1", "table": "t-1f-…", "deal": 3, "first": 105, "last": 131, …}
{"format": "marias-table-end/1", "table": "t-1f-…", "version": 131, "deals": 2, "head": "…", "proof": {…}}
```

The first frame names the table and the version at which it was written. Each finished deal follows in a frame that is
byte for byte its file in the archive (`format.py`), with its place in the hash chain; a last part, the rest, has the
entries since, of the deal that is not at its end. The last frame says how much there must have been: without it the
file was cut off. `head` is the hash of the chain at `version`; `proof` is what the log of finished deals proves of
them (`services/exchange/proofs.py`), null where it proves nothing yet. `zstd -dc FILE` prints all lines. The events
tell every card. Readers pass over members of these lines that they do not know.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from services.archive.format import FORMAT as DEAL
from services.archive.format import Deal, compress, entries_of, linked, pack, proven
from services.archive.frames import BadArchive, Frames
from services.archive.make import ended_deal
from services.store import chain
from services.store.cold import RawEntry

FORMAT: Final = "marias-table/1"
REST: Final = "marias-rest/1"
END: Final = "marias-table-end/1"

_encode = msgspec.json.Encoder().encode


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: `table` as it was at `version`."""

    format: str
    table: str
    version: int


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: what must have been before it, and the `head` of the chain at `version`."""

    format: str
    table: str
    version: int
    deals: int
    head: str
    proof: Any = None


class Part(NamedTuple):
    """A finished deal, or the rest after the last one."""

    deal: Deal
    is_finished: bool


_decode_beginning = msgspec.json.Decoder(Beginning).decode
_decode_end = msgspec.json.Decoder(End).decode
_format_of = msgspec.json.Decoder(dict[str, Any]).decode


def packed_table(
    table: str, version: int, entries: Iterable[RawEntry], prove: Callable[[int], object] = lambda deals: None
) -> Iterator[bytes]:
    """The frames of a file of `table`; `entries` are its whole past up to `version`.

    `prove` is asked at the end for the proof of so many deals, as JSON.

    Raises BadArchive when the entries are not linked or end elsewhere, and as reading them does.
    """
    yield compress(_encode(Beginning(format=FORMAT, table=table, version=version)) + b"\n")
    head, deals, seen = chain.text(chain.genesis(table)), 0, 0
    for part in _parts(table, entries):
        deal = linked(part.deal, head)
        head, seen = deal.head, deal.last
        deals += part.is_finished
        yield pack(deal, DEAL if part.is_finished else REST)
    if seen != version:
        raise BadArchive(f"{table} ends with version {seen}, not {version}")
    end = End(format=END, table=table, version=version, deals=deals, head=head, proof=prove(deals))
    yield compress(_encode(end) + b"\n")


def _parts(table: str, entries: Iterable[RawEntry]) -> Iterator[Part]:
    kept: list[RawEntry] = []
    number = 0
    for entry in entries:
        kept.append(entry)
        ended = ended_deal(entry)
        if ended is not None:
            yield Part(Deal(table, number := ended, kept), True)
            kept = []
    if kept:
        yield Part(Deal(table, number + 1, kept), False)


def parts(file: BinaryIO) -> Iterator[Part | End]:
    """What is in a file of a table, the end last, each part proven by its header, the chain and what was before it.

    Only who has seen the end has seen a whole table. Raises BadArchive, with the place of the first fault.
    """
    frames = Frames(file)
    told = _begun(frames)
    seen = End(format=END, table=told.table, version=0, deals=0, head=chain.text(chain.genesis(told.table)))
    form = FORMAT
    while frames.begin():
        where = f"after version {seen.version}"
        if form == END:
            raise BadArchive("something follows its end")
        try:
            before = form
            lines = frames.lines()
            first = next(lines, b"")
            form = _named(first)
            if form == END:
                yield _checked_end(first, lines, seen, told)
                continue
            if before == REST:
                raise BadArchive(f"{form[:40]!r} follows the rest, which comes last")
            deal = entries_of(*proven(_again(first, lines), REST if form == REST else DEAL))
            _follows(deal, seen)
        except BadArchive as error:
            raise BadArchive(f"{where}: {error}") from error
        is_finished = form == DEAL
        seen = msgspec.structs.replace(seen, version=deal.last, deals=seen.deals + is_finished, head=deal.head)
        yield Part(deal, is_finished)
    if form != END:
        raise BadArchive(f"after version {seen.version}: it is cut off: its end is missing")


def _begun(frames: Frames) -> Beginning:
    if not frames.begin():
        raise BadArchive("it cannot be read: it is empty")
    lines = frames.lines()
    first = next(lines, b"")
    try:
        told = _decode_beginning(first)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadArchive(f"its first line cannot be read: {error}") from error
    if told.format != FORMAT:
        raise BadArchive(f"its format is {told.format[:40]!r}, not {FORMAT!r}")
    _expect_no_more(lines)
    return told


def _named(line: bytes) -> str:
    try:
        return str(_format_of(line).get("format"))
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadArchive(f"a first line cannot be read: {error}") from error


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _follows(deal: Deal, seen: End) -> None:
    """Raises BadArchive unless `deal` goes on where what was seen ends."""
    if deal.table != seen.table:
        raise BadArchive(f"a deal of {deal.table[:40]!r} among those of {seen.table}")
    if (deal.deal, deal.first) != (seen.deals + 1, seen.version + 1):
        raise BadArchive(f"deal {seen.deals + 1} from version {seen.version + 1} on is missing")
    if deal.previous != seen.head:
        raise BadArchive(f"the chain of deal {deal.deal} does not go on where the one before ends (previous)")


def _checked_end(line: bytes, rest: Iterator[bytes], seen: End, told: Beginning) -> End:
    try:
        end = _decode_end(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadArchive(f"its last line cannot be read: {error}") from error
    _expect_no_more(rest)
    for field in ("table", "version", "deals", "head"):
        if getattr(end, field) != getattr(seen, field):
            raise BadArchive(f"its last line tells another {field} than what is there")
    if end.version != told.version:
        raise BadArchive("its first and last lines tell different versions (version)")
    return end


def _expect_no_more(lines: Iterator[bytes]) -> None:
    for _ in lines:
        raise BadArchive("a line follows where a frame must end")

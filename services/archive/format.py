"""An archived deal as bytes: JSON lines, packed with zstd. The first line (here two) tells what follows.

```
{"format": "marias-archive/1", "table": "t-1f-…", "deal": 3, "first": 58, "last": 104, "count": 47, "sha256": "…",
 "previous": "…", "head": "…"}
{"id": "58-0", "at": "1767225600000", "a": "u-…", "k": "…", "f": "…", "e": "[…]", "x": "…", "h": "…"}
```

Each further line is an entry of the table's stream with the fields and values that it has there: `at` ms since the
epoch, `a`ctor, `k`ey, `f`ingerprint, `e`vents, `x` the tag of the build, `h`ash; a value that is no UTF-8 stands as
`{"base64": "…"}`. `sha256` is that of all bytes after the first line; `previous` and `head` are the hashes of the
table's chain (`services/store/chain.py`) before the first and at the last entry. Earlier builds wrote neither these two
nor `h`. Readers pass over members of the first line that they do not know. Deals follow each other without a hole, from
version 1 on: what happens between two deals belongs to the later one. The events tell every card.
"""

import base64
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec
import zstandard

from services.archive.frames import BadArchive, Frames
from services.store import chain
from services.store.cold import RawEntry, version_of
from services.store.history import BrokenStream, recorded

FORMAT: Final = "marias-archive/1"
LEVEL: Final = 6

_encode = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(dict[str, Any]).decode


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of an archived deal: the versions `first` to `last` of `table`, `count` entries.

    `previous` and `head`, of the table's chain, are "" in files of earlier builds.
    """

    format: str
    table: str
    deal: int
    first: int
    last: int
    count: int
    sha256: str
    previous: str = ""
    head: str = ""


class Deal(NamedTuple):
    """A finished deal, with all that happened since the one before. `previous` and `head` as in its Header."""

    table: str
    deal: int
    entries: Sequence[RawEntry]
    previous: str = ""
    head: str = ""

    @property
    def first(self) -> int:
        """Its first version."""
        return version_of(self.entries[0])

    @property
    def last(self) -> int:
        """The version at which it ended."""
        return version_of(self.entries[-1])


_decode_header = msgspec.json.Decoder(Header).decode


def pack(deal: Deal, form: str = FORMAT) -> bytes:
    """The file of a deal; the same bytes for the same deal and version of zstd. `form` is the format it names."""
    body = b"".join(map(_line, deal.entries))
    header = Header(
        format=form,
        table=deal.table,
        deal=deal.deal,
        first=deal.first,
        last=deal.last,
        count=len(deal.entries),
        sha256=hashlib.sha256(body).hexdigest(),
        previous=deal.previous,
        head=deal.head,
    )
    return compress(_encode(header) + b"\n" + body)


def compress(text: bytes) -> bytes:
    """A frame of zstd with its checksum."""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(text)


def is_whole(packed: bytes) -> bool:
    """Does this unpack to a header, and to the entries that it was made for?"""
    try:
        _alone(io.BytesIO(packed))
    except BadArchive:
        return False
    return True


def unpack(packed: bytes) -> Deal:
    """The deal in a file's bytes, proven by its header. Raises BadArchive."""
    return read_deal(io.BytesIO(packed))


def read_deal(file: BinaryIO) -> Deal:
    """The deal in a file, proven by its header; nothing may follow it. Raises BadArchive."""
    return entries_of(*_alone(file))


def as_it_stands(file: BinaryIO) -> tuple[Header, list[RawEntry]]:
    """The header and the entries of a file that is whole, for who judges them himself. Raises BadArchive."""
    header, lines = _alone(file)
    return header, _entries(lines, version_of)


def _entries(lines: Sequence[bytes], read: Callable[[RawEntry], object] = recorded) -> list[RawEntry]:
    """The entries, each of which can be `read`: by default its fields are there, and of the right kind."""
    try:
        entries = [_entry(line) for line in lines]
        for entry in entries:
            read(entry)
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadArchive(f"an entry cannot be read: {error!r}") from error
    return entries


def entries_of(header: Header, lines: Sequence[bytes]) -> Deal:
    """The deal of proven lines. Raises BadArchive."""
    entries = _entries(lines)
    versions = list(map(version_of, entries))
    told = header.last - header.first + 1
    if {len(versions), header.count} != {told} or versions[:1] != [header.first] or not _in_a_row(versions):
        raise BadArchive(f"its versions are not {header.first} to {header.last} in a row")
    deal = Deal(header.table, header.deal, entries, header.previous, header.head)
    if deal.previous and linked(deal, deal.previous).head != deal.head:
        raise BadArchive("its chain does not end with the hash that its first line tells (head)")
    return deal


def linked(deal: Deal, previous: str) -> Deal:
    """The deal with its place in the chain, after the hash `previous`. Raises BadArchive: an entry has another hash."""
    try:
        head = chain.digest(previous)
        for entry in deal.entries:
            head, _ = chain.checked_raw(head, deal.table, entry)
    except (BrokenStream, ValueError, KeyError) as error:
        raise BadArchive(f"it is not linked to what was before: {error}") from error
    return deal._replace(previous=previous, head=chain.text(head))


def proven(lines: Iterator[bytes], form: str = FORMAT) -> tuple[Header, list[bytes]]:
    """The header, which names the format `form`, and the lines of the entries of a frame. Raises BadArchive."""
    header = _header(next(lines, b""), form)
    body: list[bytes] = []
    digest = hashlib.sha256()
    for line in lines:
        # A file is refused while it is read: what is not one of ours would be held in vain.
        if not line.startswith(b'{"id":"'):
            raise BadArchive(f"an entry cannot be read: line {len(body) + 2} is none")
        if len(body) == header.count:
            raise BadArchive(f"its versions are not {header.first} to {header.last} in a row")
        digest.update(line + b"\n")
        body.append(line)
    if digest.hexdigest() != header.sha256:
        raise BadArchive("its entries are not those that its header was made for (SHA-256)")
    return header, body


def _alone(file: BinaryIO) -> tuple[Header, list[bytes]]:
    frames = Frames(file)
    if not frames.begin():
        raise BadArchive("it cannot be read: it is empty")
    found = proven(frames.lines())
    if frames.begin():
        raise BadArchive("something follows its end")
    return found


def _header(line: bytes, form: str) -> Header:
    try:
        header = _decode_header(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadArchive(f"its first line cannot be read: {error}") from error
    if header.format != form:
        raise BadArchive(f"its format is {header.format[:40]!r}, not {form!r}")
    return header


def _in_a_row(versions: Sequence[int]) -> bool:
    return all(after == before + 1 for before, after in pairwise(versions))


def _line(entry: RawEntry) -> bytes:
    id_, flat = entry
    fields = {name.decode(): _text(value) for name, value in zip(flat[::2], flat[1::2], strict=True)}
    return _encode({"id": id_.decode(), **fields}) + b"\n"


def _entry(line: bytes) -> RawEntry:
    stored = _decode_entry(line)
    id_ = stored.pop("id").encode()
    return id_, [part for name, value in stored.items() for part in (name.encode(), _bytes(value))]


def _text(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)

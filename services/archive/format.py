"""An archived deal as bytes: JSON lines, packed with zstd. The first line tells what follows, the rest is the stream.

```
{"format": "marias-archive/1", "table": "t-1f-…", "deal": 3, "first": 58, "last": 104, "count": 47, "sha256": "…"}
{"id": "58-0", "at": "1767225600000", "a": "u-…", "k": "…", "f": "…", "e": "[…]", "x": "…"}
```

Each further line is an entry of the table's stream with the fields and values that it has there: `at` ms since the
epoch, `a`ctor, `k`ey, `f`ingerprint, `e`vents, `x` the tag of the build; a value that is no UTF-8 stands as
`{"base64": "…"}`. `sha256` is that of all bytes after the first line. Readers pass over members of the first line that
they do not know: there is room for the head of a chain and a signature. Deals follow each other without a hole, from
version 1 on: what happens between two deals belongs to the later one. The events tell every card.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import zstandard

from services.store.cold import RawEntry, version_of

FORMAT: Final = "marias-archive/1"
LEVEL: Final = 6
BYTES_MAX: Final = 256 * 1024 * 1024
"""More than any deal is: a file that unpacks to more is not one of ours."""

_encode = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(dict[str, Any]).decode


class BadArchive(Exception):
    """A file of the archive is not what it says; the message tells what is wrong first."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of an archived deal: the versions `first` to `last` of `table`, `count` entries."""

    format: str
    table: str
    deal: int
    first: int
    last: int
    count: int
    sha256: str


class Deal(NamedTuple):
    """A finished deal, with all that happened since the one before."""

    table: str
    deal: int
    entries: Sequence[RawEntry]

    @property
    def first(self) -> int:
        """Its first version."""
        return version_of(self.entries[0])

    @property
    def last(self) -> int:
        """The version at which it ended."""
        return version_of(self.entries[-1])


_decode_header = msgspec.json.Decoder(Header).decode


def pack(deal: Deal) -> bytes:
    """The file of a deal; the same bytes for the same deal and version of zstd."""
    body = b"".join(map(_line, deal.entries))
    header = Header(
        format=FORMAT,
        table=deal.table,
        deal=deal.deal,
        first=deal.first,
        last=deal.last,
        count=len(deal.entries),
        sha256=hashlib.sha256(body).hexdigest(),
    )
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(_encode(header) + b"\n" + body)


def is_whole(packed: bytes) -> bool:
    """Does this unpack to a header, and to the entries that it was made for?"""
    try:
        _proven(packed)
    except BadArchive:
        return False
    return True


def unpack(packed: bytes) -> Deal:
    """The deal in a file, proven by its header. Raises BadArchive."""
    header, body = _proven(packed)
    try:
        entries = [_entry(line) for line in body.splitlines()]
        versions = [version_of(entry) for entry in entries]
    except (msgspec.MsgspecError, KeyError, ValueError, AttributeError) as error:
        raise BadArchive(f"an entry cannot be read: {error!r}") from error
    if not versions or versions != list(range(header.first, header.last + 1)) or len(versions) != header.count:
        raise BadArchive(f"its versions are not {header.first} to {header.last} in a row")
    return Deal(header.table, header.deal, entries)


def _proven(packed: bytes) -> tuple[Header, bytes]:
    """The header and the lines of the entries. Raises BadArchive."""
    try:
        text = zstandard.ZstdDecompressor().decompress(packed, max_output_size=BYTES_MAX)
        head, _, body = text.partition(b"\n")
        header = _decode_header(head)
    except (zstandard.ZstdError, msgspec.MsgspecError, ValueError) as error:
        raise BadArchive(f"it cannot be read: {error}") from error
    if header.format != FORMAT:
        raise BadArchive(f"its format is {header.format!r}, not {FORMAT!r}")
    if hashlib.sha256(body).hexdigest() != header.sha256:
        raise BadArchive("its entries are not those that its header was made for (SHA-256)")
    return header, body


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

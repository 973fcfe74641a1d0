"""The hash chain of a table: each entry of its stream carries a hash of what it says and of the entry before it.

An entry that is changed, dropped, added or moved changes the hash of every later one, of which receipts, signed
heads and archives outside the store keep copies. Nobody can put the change right without those.

What is hashed (SHA-256): nine lengths of four bytes, the most significant first, then the nine parts without
anything between them: the hash before (32 bytes), table, version, time in ms, actor, key, fingerprint, the events as
the stream has them, tag; numbers in decimal, texts in UTF-8. Before the first entry stands the SHA-256 of
`marias-chain/1`, a zero byte and the table's id. Entries of builds that wrote no hash have one all the same.

Players are told hashes of entries that say hidden cards. They cannot try the few cards that they do not know: each
entry bears a fingerprint, a digest with a key that only the service has (`services/envelope.py`).
"""

import hashlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from struct import Struct
from typing import Final

from services.store.cold import RawEntry
from services.store.history import BrokenStream, Recorded, recorded
from services.store.slots import Argument

TEXT_LENGTH: Final = 43

_POSTINGS: Final = b"marias-postings/1\0"
_BEGINNING: Final = b"marias-chain/1\0"
_FIELDS: Final = [b"at", b"a", b"k", b"f", b"e", b"x", b"h"]
"""The fields of an entry in the order in which they are stored, all but the last as they are hashed."""
_lengths = Struct(">9I").pack
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")


def genesis(table: str) -> bytes:
    """What stands before the first entry of a table."""
    return hashlib.sha256(_BEGINNING + table.encode()).digest()


def link(previous: bytes, table: str, entry: Recorded) -> bytes:
    """The hash of `entry`, which follows the entry with the hash `previous`; b"": it is the first of its table."""
    version, at, actor, key, fingerprint, events, tag, _ = entry
    return linked((
        previous or genesis(table), table.encode(), b"%d" % version, b"%d" % at, actor.encode(), key.encode(),
        fingerprint.encode(), events, tag.encode(),
    ))


def linked(parts: Sequence[bytes]) -> bytes:
    """The hash of the nine parts as they are named above, for who has them as bytes."""
    return hashlib.sha256(_lengths(*map(len, parts)) + b"".join(parts)).digest()


def posting_link(previous: bytes, account: str, place: int, fields: Sequence[Argument]) -> bytes:
    """The hash of posting number `place` of an account, given its fields and values in a row without `h`.

    `previous` is that of the posting before, b"" where there is none, or none with a hash. Hashed are, each after its
    length in four bytes: the hash before (else the SHA-256 of `marias-postings/1`, a zero byte and the account), the
    account, the place in decimal, then names and values.
    """
    first = previous or hashlib.sha256(_POSTINGS + account.encode()).digest()
    texts = (each if isinstance(each, bytes) else str(each).encode() for each in fields)
    parts = (first, account.encode(), b"%d" % place, *texts)
    return hashlib.sha256(b"".join([len(part).to_bytes(4, "big") + part for part in parts])).digest()


def checked(previous: bytes, table: str, entry: Recorded) -> bytes:
    """`link`, for an entry that was read. Raises BrokenStream if the hash that it carries is another."""
    found = link(previous, table, entry)
    if entry.hash and entry.hash != text(found):
        raise _another(table, entry.version)
    return found


def checked_raw(previous: bytes, table: str, raw: RawEntry) -> tuple[bytes, bytes]:
    """`checked` for an entry as the stream has it, and its events; quicker, as what is hashed are the bytes there."""
    id_, flat = raw
    if flat[::2] != _FIELDS or not flat[-1]:
        entry = recorded(raw)
        return checked(previous, table, entry), entry.events
    values = flat[1::2]
    version = id_.partition(b"-")[0]
    found = linked((previous or genesis(table), table.encode(), version, *values[:-1]))
    if text(found).encode() != values[-1]:
        raise _another(table, version.decode())
    return found, values[4]


def _another(table: str, version: object) -> BrokenStream:
    return BrokenStream(f"{table}: the hash of version {version} is not that of what it says (field h)")


def text(digest: bytes) -> str:
    """A hash as it is written: base64url without padding, 43 characters."""
    return b2a_base64(digest, newline=False)[:TEXT_LENGTH].translate(_TO_URL).decode()


def digest(written: str) -> bytes:
    """The hash that is `written` as `text` does it. Raises ValueError."""
    found = a2b_base64(written.encode().translate(_FROM_URL) + b"=")
    if text(found) != written or len(found) != hashlib.sha256().digest_size:
        raise ValueError("a hash has 43 letters of base64url")
    return found

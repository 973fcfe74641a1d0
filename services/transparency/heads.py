"""Signed heads of the log of finished deals, and the lines in which they are kept outside the store.

A head is a compact JWS (`typ` marias-tree-head+jws) of how many leaves the log has, the root over them, and when it was
signed, in seconds. A line also tells the leaves since the line before, so that the lines alone make the whole log:

```
{"size": 2, "root": "…", "at": 1796032895, "signed": "eyJ…", "leaves": ["{\\"deal\\":1,…}", "{…}"]}
```
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from engine import merkle
from services.signing import TREE_HEAD, BadSignature, Find, Signer, opened
from services.store import chain

LOG: Final = "marias-deals/1"


class Head(NamedTuple):
    """`root` over the first `size` leaves, as it is written; `at` is in seconds since the epoch."""

    size: int
    root: str
    at: int


class Line(msgspec.Struct, frozen=True):
    """A head with its signature, and the leaves (JSON each) since the one before."""

    size: int
    root: str
    at: int
    signed: str
    leaves: list[str] = []

    @property
    def head(self) -> Head:
        """The head, as it stands beside its signature."""
        return Head(self.size, self.root, self.at)


class BadHeads(Exception):
    """The heads outside the store are not what our keys have signed; the message tells which line, and why."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Line).decode


def sign(signer: Signer, head: Head) -> str:
    """The head as a statement."""
    return signer.sign(TREE_HEAD, {"log": LOG, **head._asdict()})


def read(find: Find, statement: str) -> Head:
    """The head that was signed. Raises BadSignature."""
    said = opened(find, TREE_HEAD, statement)
    try:
        return Head(said["size"], said["root"], said["at"])
    except KeyError as error:
        raise BadSignature(f"It is signed, but no head: {error} is missing") from error


def written(line: Line) -> bytes:
    """A line, with its end."""
    return _encode(line) + b"\n"


def checked(find: Find, text: bytes) -> Line:
    """A line whose head is the one that was signed. Raises BadHeads."""
    try:
        line = _decode(text)
        said = read(find, line.signed)
        chain.digest(line.root)
    except (msgspec.MsgspecError, BadSignature, ValueError) as error:
        raise BadHeads(str(error)) from error
    if said != line.head:
        raise BadHeads(f"It says {line.head}, signed was {said}.")
    return line


def all_checked(find: Find, texts: Iterable[bytes]) -> Iterator[Line]:
    """All lines from the first on, each signed and each grown from the one before by its leaves. Raises BadHeads."""
    size, peaks = 0, list[bytes]()
    for number, text in enumerate(texts, 1):
        try:
            line = checked(find, text)
        except BadHeads as error:
            raise BadHeads(f"line {number}: {error}") from error
        hashes = [merkle.leaf_hash(leaf.encode()) for leaf in line.leaves]
        _, peaks = merkle.grown(size, peaks, hashes)
        size += len(hashes)
        if line.size != size or line.root != chain.text(merkle.fold(peaks) if peaks else merkle.root([])):
            raise BadHeads(f"line {number}: its leaves do not make the {line.size} leaves and the root that it tells")
        yield line

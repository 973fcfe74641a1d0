"""What the log of finished deals proves of a table in one file: that its deals are those that were signed for.

In the last line of the file (`services/archive/table_file.py`), as `proof`:

```
{"size": 9, "root": "…", "at": 1796032895, "signed": "eyJ…", "deals": [{"deal": 1, "index": 4, "path": ["…"]}],
 "keys": [{"kty": "OKP", …}]}
```

The first four members are the last signed head of the log. Each deal that it covers has its place among the leaves and
the path from there to the root (RFC 9162 §2.1.3). A leaf is made again from the file: which versions the deal took and
the hash of the chain at its end. The keys are what the log was signed by; whoever does not take the file's word for
them has them from the service (`/v1/.well-known/jwks.json`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
from redis import Redis

from engine import merkle
from services.signing import BadSignature, Find
from services.store import chain, deal_log
from services.transparency import heads, leaves

PATH_MAX: Final = 64
"""Nodes of a path; a log of more leaves than that would need is none."""


class BadProof(Exception):
    """The proof is not one of these deals; the message tells what is wrong first."""


class Covered(msgspec.Struct, frozen=True):
    """Deal number `deal` is leaf `index`; `path` leads from there to the root."""

    deal: int
    index: int
    path: list[str]


class Proof(msgspec.Struct, frozen=True):
    """A signed head, the deals that it covers, and the keys (JWK) it was signed by."""

    size: int
    root: str
    at: int
    signed: str
    deals: list[Covered]
    keys: list[dict[str, Any]]


class Ended(NamedTuple):
    """A finished deal: its first and last version, and the hash of its table's chain at its end."""

    first: int
    last: int
    head: str


def proof_of(redis: Redis, table: str, deals: int, keys: list[dict[str, str]]) -> dict[str, Any] | None:
    """The proof for the first `deals` of a table, as far as a signed head covers them; None: no head was signed."""
    state = deal_log.state(redis)
    if not state.head:
        return None
    head = msgspec.json.decode(state.head)
    found = ((deal, deal_log.index_of(redis, table, deal)) for deal in range(1, deals + 1))
    covered = [
        Covered(deal, index, [chain.text(each) for each in deal_log.inclusion(redis, index, head["size"])])
        for deal, index in found if index is not None and index < head["size"]
    ]
    told = {name: head[name] for name in ("size", "root", "at", "signed")}
    made: dict[str, Any] = msgspec.to_builtins(Proof(**told, deals=covered, keys=list(keys)))
    return made


def checked(given: object, table: str, ended: Mapping[int, Ended], find: Find) -> Proof:
    """The proof, if it is one of these deals of `table` by number, signed by a key that `find` knows.

    Raises BadProof.
    """
    try:
        proof = msgspec.convert(given, Proof)
        root = chain.digest(proof.root)
        said = heads.read(find, proof.signed)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadProof(f"the proof cannot be read: {error}") from error
    except BadSignature as error:
        raise BadProof(f"the head of the log is not signed: {error}") from error
    if said != (proof.size, proof.root, proof.at):
        raise BadProof(f"the head of the log says {(proof.size, proof.root, proof.at)}, signed was {tuple(said)}")
    for each in proof.deals:
        deal = ended.get(each.deal)
        if deal is None:
            raise BadProof(f"the proof is of deal {each.deal}, which is not there")
        leaf = merkle.leaf_hash(leaves.leaf(table, each.deal, *deal).data)
        if not merkle.verify_inclusion(leaf, each.index, proof.size, _path(each), root):
            raise BadProof(f"deal {each.deal} is not leaf {each.index} of the log that was signed for")
    return proof


def _path(covered: Covered) -> list[bytes]:
    if len(covered.path) > PATH_MAX:
        raise BadProof(f"the path of deal {covered.deal} has {len(covered.path)} nodes")
    try:
        return [chain.digest(each) for each in covered.path]
    except ValueError as error:
        raise BadProof(f"the path of deal {covered.deal}: {error}") from error

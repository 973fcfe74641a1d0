"""Statements that this service signs: compact JWS (RFC 7515) by Ed25519, each kind told apart by its `typ`.

The keys are a ring of their own: a token is never taken for a statement, nor a statement for a token.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from services.rings import ALGORITHM, Ring

RECEIPT: Final = "marias-receipt+jws"
TREE_HEAD: Final = "marias-tree-head+jws"
PREFIX: Final = "receipts."
"""Of the ids of the keys, so that none is called like a key of tokens."""
CHARACTERS_MAX: Final = 4096

Find: TypeAlias = Callable[[str], Ed25519PublicKey | None]
"""The public key with an id, None: it is not known."""
Said: TypeAlias = dict[str, Any]

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder(Said).decode
_jws = jwt.PyJWS(algorithms=[ALGORITHM])


class BadSignature(Exception):
    """A statement is not one that these keys have signed; the message tells why."""


class Signer:
    """Signs with the newest key of a folder; gives the first one to a folder without any."""

    def __init__(self, folder: Path) -> None:
        self._ring = Ring(folder, PREFIX)
        self.find: Find = self._ring.find

    def sign(self, kind: str, said: Said) -> str:
        """`said` as a signed statement of a kind."""
        kid, private = self._ring.signer()
        return _jws.encode(_encode(said), private, algorithm=ALGORITHM, headers={"typ": kind, "kid": kid})

    def jwks(self) -> list[dict[str, str]]:
        """The public halves as JWKs, newest first."""
        return self._ring.jwks()


def opened(find: Find, kind: str, statement: str) -> Said:
    """What a statement of a kind says. Raises BadSignature unless one of the keys has signed it as that kind."""
    if len(statement) > CHARACTERS_MAX or not statement.isascii():
        raise BadSignature("It is no statement that this service makes.")
    try:
        header = jwt.get_unverified_header(statement)
        kid = header.get("kid")
        key = find(kid) if isinstance(kid, str) else None
        if header.get("typ") != kind:
            raise BadSignature(f"It is no {kind}, its kind (typ) is {str(header.get('typ'))[:40]!r}.")
        if key is None:
            raise BadSignature(f"The key {str(kid)[:40]!r} that it names (kid) is not known.")
        said = _decode(_jws.decode(statement, key, algorithms=[ALGORITHM]))
    except (jwt.InvalidTokenError, msgspec.MsgspecError, ValueError) as error:
        raise BadSignature(f"It was not signed by the key that it names: {error}") from error
    return said


def published(jwks: Mapping[str, Iterable[Mapping[str, Any]]]) -> Find:
    """The keys of a JWK set, as `/v1/.well-known/jwks.json` tells them. Raises BadSignature: it is none."""
    try:
        keys = [jwt.PyJWK(dict(each)) for each in jwks["keys"]]
        found = {key.key_id: key.key for key in keys if isinstance(key.key, Ed25519PublicKey)}
    except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
        raise BadSignature(f"It is no set of keys (RFC 7517): {error}") from error
    return found.get

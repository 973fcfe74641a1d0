"""Bearer tokens: signed claims of who somebody is and in which role, and the ring of keys that signs them."""

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from services.rings import ALGORITHM, Ring

ISSUER = "marias"
CLAIMS = ["iss", "sub", "name", "role", "iat"]
ROLES = ("player", "auditor", "operator")
TOKEN_CHARACTERS_MAX = 1024
VERIFIED_TOKENS_MAX = 4096
CLOCK_SKEW_SECONDS_MAX = 24 * 3600
"""How far ahead the clock of the node that made a token may have been; that it was one of ours, the key proves."""


class TokenRefused(Exception):
    """The token is not one of ours, or no longer good. Its text never repeats the token."""


class Principal(NamedTuple):
    """Who sent a request: `id` is the actor of its commands, `role` one of ROLES."""

    id: str
    name: str
    role: str


class KeyRing:
    """Issues and verifies tokens with the keys of a folder (see `Ring`)."""

    def __init__(self, folder: Path) -> None:
        self._verified = lru_cache(VERIFIED_TOKENS_MAX)(self._claims)
        self._ring = Ring(folder, changed=self._verified.cache_clear)

    def issue(self, *, role: str, sub: str, name: str, seconds: int | None = None) -> str:
        """A signed token; `seconds` is its lifetime, None for one that does not run out."""
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}")
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": sub, "name": name, "role": role, "iat": now}
        if seconds is not None:
            claims["exp"] = now + seconds
        kid, private = self._ring.signer()
        return jwt.encode(claims, private, algorithm=ALGORITHM, headers={"kid": kid})

    def verify(self, token: str) -> Principal:
        """The principal a token stands for. Raises TokenRefused; verified tokens are remembered."""
        if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
            raise TokenRefused("The token is not one that this service makes.")
        self._ring.look()
        principal, expires = self._verified(token)
        if expires is not None and time.time() >= expires:
            raise TokenRefused("The token has expired.")
        return principal

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """The public halves as a JWK set (RFC 8037), newest first."""
        return {"keys": self._ring.jwks()}

    def _claims(self, token: str) -> tuple[Principal, int | None]:
        try:
            claims = jwt.decode(
                token, self._key_of(token), algorithms=[ALGORITHM], issuer=ISSUER,
                leeway=CLOCK_SKEW_SECONDS_MAX,
                options={"require": CLAIMS, "verify_aud": False, "verify_exp": False},
            )
        except jwt.InvalidTokenError as error:
            raise TokenRefused("The token was not signed by this service.") from error
        name, role, expires = claims["name"], claims["role"], claims.get("exp")
        if not isinstance(name, str) or role not in ROLES or not (expires is None or type(expires) is int):
            raise TokenRefused("The claims of the token are not understood.")
        return Principal(claims["sub"], name, role), expires

    def _key_of(self, token: str) -> Ed25519PublicKey:
        kid = jwt.get_unverified_header(token).get("kid")
        key = self._ring.find(kid) if isinstance(kid, str) else None
        if key is None:
            raise TokenRefused("The token names a key that is not in use.")
        return key

"""Bearer tokens: signed claims of who somebody is and in which role, and the rings of keys that sign them.

Players are made by the API, so it holds a key that signs players and nobody else. Auditors and operators (the staff)
are signed by keys in a folder of their own, of which whoever verifies needs the public halves alone.
"""

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
PLAYER = "player"
STAFF = "staff"
"""The folder of the keys that sign auditors and operators, and with a dot the beginning of their ids."""
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
    """Issues and verifies tokens with the keys of a folder (see `Ring`) and of the folder `staff` in it."""

    def __init__(self, folder: Path) -> None:
        self._verified = lru_cache(VERIFIED_TOKENS_MAX)(self._claims)
        self._ring = Ring(folder, changed=self._verified.cache_clear)
        self._staff = Ring(folder / STAFF, f"{STAFF}.", self._verified.cache_clear, lazy=True)

    def issue(self, *, role: str, sub: str, name: str, seconds: int | None = None) -> str:
        """A signed token; `seconds` is its lifetime, None for one that does not run out.

        Raises NoSigner where the private half of what signs the role is kept elsewhere.
        """
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}")
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": sub, "name": name, "role": role, "iat": now}
        if seconds is not None:
            claims["exp"] = now + seconds
        kid, private = (self._ring if role == PLAYER else self._staff).signer()
        return jwt.encode(claims, private, algorithm=ALGORITHM, headers={"kid": kid})

    def verify(self, token: str) -> Principal:
        """The principal a token stands for. Raises TokenRefused; verified tokens are remembered."""
        if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
            raise TokenRefused("The token is not one that this service makes.")
        self._ring.look()
        self._staff.look()
        principal, expires = self._verified(token)
        if expires is not None and time.time() >= expires:
            raise TokenRefused("The token has expired.")
        return principal

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """The public halves as a JWK set (RFC 8037), newest first."""
        return {"keys": [*self._ring.jwks(), *self._staff.jwks()]}

    def _claims(self, token: str) -> tuple[Principal, int | None]:
        kid, key = self._key_of(token)
        try:
            claims = jwt.decode(
                token, key, algorithms=[ALGORITHM], issuer=ISSUER,
                leeway=CLOCK_SKEW_SECONDS_MAX,
                options={"require": CLAIMS, "verify_aud": False, "verify_exp": False},
            )
        except jwt.InvalidTokenError as error:
            raise TokenRefused("The token was not signed by this service.") from error
        name, role, expires = claims["name"], claims["role"], claims.get("exp")
        if not isinstance(name, str) or role not in ROLES or not (expires is None or type(expires) is int):
            raise TokenRefused("The claims of the token are not understood.")
        if kid.startswith(f"{STAFF}.") != (role != PLAYER):
            raise TokenRefused(f"The token is not signed by a key that signs the role {role}; it must be made anew.")
        return Principal(claims["sub"], name, role), expires

    def _key_of(self, token: str) -> tuple[str, Ed25519PublicKey]:
        try:
            kid = jwt.get_unverified_header(token).get("kid")
        except jwt.InvalidTokenError as error:
            raise TokenRefused("The token was not signed by this service.") from error
        if not isinstance(kid, str):
            raise TokenRefused("The token names no key.")
        key = (self._staff if kid.startswith(f"{STAFF}.") else self._ring).find(kid)
        if key is None:
            raise TokenRefused("The token names a key that is not in use.")
        return kid, key

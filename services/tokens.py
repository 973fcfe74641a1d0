"""Bearer tokens: signed claims of who somebody is and in which role, and the ring of keys that signs them."""

import threading
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import OKPAlgorithm

from services import private_files

ISSUER = "marias"
ALGORITHM = "EdDSA"
CLAIMS = ["iss", "sub", "name", "role", "iat"]
ROLES = ("player", "auditor", "operator")
FIRST_KEY = "k1"
TOKEN_CHARACTERS_MAX = 1024
VERIFIED_TOKENS_MAX = 4096
CLOCK_SKEW_SECONDS_MAX = 24 * 3600
"""How far ahead the clock of the node that made a token may have been; that it was one of ours, the key proves."""
LOOK_SECONDS = 2.0


class TokenRefused(Exception):
    """The token is not one of ours, or no longer good. Its text never repeats the token."""


class Principal(NamedTuple):
    """Who sent a request: `id` is the actor of its commands, `role` one of ROLES."""

    id: str
    name: str
    role: str


class _Key(NamedTuple):
    kid: str
    private: Ed25519PrivateKey
    public: Ed25519PublicKey


class KeyRing:
    """The Ed25519 keys of a folder, one `<kid>.pem` each: the newest file signs, all of them verify.

    Rotate a key in by adding a file and out by deleting one; running processes notice within seconds.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._verified = lru_cache(VERIFIED_TOKENS_MAX)(self._claims)
        self._looked = time.monotonic()
        self._stamp = _make_first_key(folder)
        self._keys = _read(folder)

    def issue(self, *, role: str, sub: str, name: str, seconds: int | None = None) -> str:
        """A signed token; `seconds` is its lifetime, None for one that does not run out."""
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}")
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": sub, "name": name, "role": role, "iat": now}
        if seconds is not None:
            claims["exp"] = now + seconds
        self._look(again_after=0.0)
        key = next(iter(self._keys.values()))
        return jwt.encode(claims, key.private, algorithm=ALGORITHM, headers={"kid": key.kid})

    def verify(self, token: str) -> Principal:
        """The principal a token stands for. Raises TokenRefused; verified tokens are remembered."""
        if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
            raise TokenRefused("The token is not one that this service makes.")
        self._look(again_after=LOOK_SECONDS)
        principal, expires = self._verified(token)
        if expires is not None and time.time() >= expires:
            raise TokenRefused("The token has expired.")
        return principal

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """The public halves as a JWK set (RFC 8037), newest first."""
        self._look(again_after=0.0)
        return {"keys": [_jwk(key) for key in self._keys.values()]}

    def _claims(self, token: str) -> tuple[Principal, int | None]:
        try:
            claims = jwt.decode(
                token, self._key_of(token).public, algorithms=[ALGORITHM], issuer=ISSUER,
                leeway=CLOCK_SKEW_SECONDS_MAX,
                options={"require": CLAIMS, "verify_aud": False, "verify_exp": False},
            )
        except jwt.InvalidTokenError as error:
            raise TokenRefused("The token was not signed by this service.") from error
        name, role, expires = claims["name"], claims["role"], claims.get("exp")
        if not isinstance(name, str) or role not in ROLES or not (expires is None or type(expires) is int):
            raise TokenRefused("The claims of the token are not understood.")
        return Principal(claims["sub"], name, role), expires

    def _key_of(self, token: str) -> _Key:
        kid = jwt.get_unverified_header(token).get("kid")
        key = self._keys.get(kid) if isinstance(kid, str) else None
        if key is None:
            raise TokenRefused("The token names a key that is not in use.")
        return key

    def _look(self, *, again_after: float) -> None:
        """Read the folder again if it has changed and was not looked at within `again_after` seconds."""
        now = time.monotonic()
        if now - self._looked < again_after:
            return
        with self._lock:
            self._looked = now
            # A half-copied key must not stop a service that has good ones: it is read at a later look.
            with suppress(OSError, ValueError, TypeError):
                stamp = self._folder.stat().st_mtime_ns
                if stamp != self._stamp:
                    self._keys, self._stamp = _read(self._folder), stamp
                    self._verified.cache_clear()


def _read(folder: Path) -> dict[str, _Key]:
    """Keys by kid, the newest file first. FileNotFoundError: there is none; ValueError: one is broken."""
    files = sorted(folder.glob("*.pem"), key=lambda file: (-file.stat().st_mtime_ns, file.name))
    loaded = ((file.stem, load_pem_private_key(file.read_bytes(), password=None)) for file in files)
    # The folder may hold keys of other kinds, made for other ends than signing.
    signing = {kid: key for kid, key in loaded if isinstance(key, Ed25519PrivateKey)}
    if not signing:
        raise FileNotFoundError(f"{folder} holds no Ed25519 key (<kid>.pem)")
    return {kid: _Key(kid, key, key.public_key()) for kid, key in signing.items()}


def _make_first_key(folder: Path) -> int:
    """Put a key into a folder that has none, and return the folder's time stamp in ns.

    Of several processes that try at once one wins, and all use its key.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _read(folder)
    except FileNotFoundError:
        _write_key(folder, FIRST_KEY)
    return folder.stat().st_mtime_ns


def _write_key(folder: Path, kid: str) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    private_files.create(folder / f"{kid}.pem", pem)


def _jwk(key: _Key) -> dict[str, str]:
    public = OKPAlgorithm.to_jwk(key.public, as_dict=True)
    return public | {"kid": key.kid, "use": "sig", "alg": ALGORITHM}

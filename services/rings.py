"""Rings of Ed25519 keys, each in a folder of its own: what signs, what verifies, and how keys come and go."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from jwt.algorithms import OKPAlgorithm

from services import key_files, private_files

ALGORITHM = "EdDSA"
FIRST_KEY = "k1"
LOOK_SECONDS = 2.0


class Key(NamedTuple):
    """A key of a ring; one whose private half is gone only verifies."""

    kid: str
    private: Ed25519PrivateKey | None
    public: Ed25519PublicKey


class Ring:
    """The Ed25519 keys of a folder, one `<name>.pem` each: the newest private one signs, all of them verify.

    Rotate a key in by adding a file; out by deleting one, or, where what it has signed must stay good, by putting its
    public half in its place. Running processes notice within seconds. A folder without a key is given one. The id of
    a key is `prefix` and the name of its file; `changed` is called after another set of keys was read.
    """

    def __init__(self, folder: Path, prefix: str = "", changed: Callable[[], None] = lambda: None) -> None:
        self._folder = folder
        self._prefix = prefix
        self._changed = changed
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stamp = _make_first_key(folder)
        try:
            self._keys = self._read()
        except FileNotFoundError as error:
            raise key_files.BadKey(f"{error}: {FIRST_KEY}.pem is there, and is none.") from error

    def signer(self) -> tuple[str, Ed25519PrivateKey]:
        """The id and the private half of the key that signs now."""
        self._look(again_after=0.0)
        return next((key.kid, key.private) for key in self._keys.values() if key.private is not None)

    def find(self, kid: str) -> Ed25519PublicKey | None:
        """The public half of a key of the ring."""
        self._look(again_after=LOOK_SECONDS)
        key = self._keys.get(kid)
        return key.public if key else None

    def jwks(self) -> list[dict[str, str]]:
        """The public halves as JWKs (RFC 8037), newest first."""
        self._look(again_after=0.0)
        return [_jwk(key) for key in self._keys.values()]

    def look(self) -> None:
        """See whether keys came or went, if nobody has lately."""
        self._look(again_after=LOOK_SECONDS)

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
                    self._keys, self._stamp = self._read(), stamp
                    self._changed()

    def _read(self) -> dict[str, Key]:
        found = {self._prefix + name: key for name, key in _read(self._folder).items()}
        return {kid: key._replace(kid=kid) for kid, key in found.items()}


def _read(folder: Path) -> dict[str, Key]:
    """Keys by name, the newest file first. FileNotFoundError: none of them signs; ValueError: one is broken."""
    files = sorted(folder.glob("*.pem"), key=lambda file: (-file.lstat().st_mtime_ns, file.name))
    # The folder may hold keys of other kinds, made for other ends than signing.
    found = {key.kid: key for key in (_load(file) for file in files) if key is not None}
    if not any(key.private for key in found.values()):
        raise FileNotFoundError(f"{folder} holds no private Ed25519 key (<kid>.pem)")
    return found


def _load(file: Path) -> Key | None:
    pem = private_files.read(file)
    if b" PUBLIC KEY-" in pem:
        public = key_files.public_of(file, pem)
        return Key(file.stem, None, public) if isinstance(public, Ed25519PublicKey) else None
    private = key_files.private_of(file, pem)
    return Key(file.stem, private, private.public_key()) if isinstance(private, Ed25519PrivateKey) else None


def _make_first_key(folder: Path) -> int:
    """Put a key into a folder that has none, and return the folder's time stamp in ns.

    Of several processes that try at once one wins, and all use its key.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _read(folder)
    except FileNotFoundError:
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        private_files.create(folder / f"{FIRST_KEY}.pem", pem)
    return folder.stat().st_mtime_ns


def _jwk(key: Key) -> dict[str, str]:
    public = OKPAlgorithm.to_jwk(key.public, as_dict=True)
    return public | {"kid": key.kid, "use": "sig", "alg": ALGORITHM}

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
UNKNOWN_SECONDS = 0.05
"""After a look a stranger's tokens cost us no other one for so long."""


class NoSigner(Exception):
    """No key of the folder has its private half here; the message names the folder."""


class Key(NamedTuple):
    """A key of a ring; one whose private half is gone only verifies."""

    kid: str
    private: Ed25519PrivateKey | None
    public: Ed25519PublicKey


class Ring:
    """The Ed25519 keys of a folder, one `<name>.pem` each: the newest private one signs, all of them verify.

    Rotate a key in by adding a file; out by deleting one, or, where what it has signed must stay good, by putting its
    public half in its place. Running processes notice within seconds. A folder without a key is given one; if it need
    not sign (`lazy`), only once something is to be signed. The id of a key is `prefix` and the name of its file;
    `changed` is called after another set of keys was read.
    """

    def __init__(
        self, folder: Path, prefix: str = "", changed: Callable[[], None] = lambda: None, *, lazy: bool = False
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._changed = changed
        self._lazy = lazy
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        if not lazy:
            _make_first_key(folder)
        self._stamp = _stamp(folder)
        self._keys = self._read()
        if not self._may_be(self._keys):
            raise key_files.BadKey(
                f"{folder} holds no private Ed25519 key (<kid>.pem): {FIRST_KEY}.pem is there, and is none."
            )

    def signer(self) -> tuple[str, Ed25519PrivateKey]:
        """The id and the private half of the key that signs now. Raises NoSigner where only public halves lie."""
        self._look(again_after=0.0)
        if not self._keys:
            _make_first_key(self._folder)
            self._look(again_after=0.0)
        for key in self._keys.values():
            if key.private is not None:
                return key.kid, key.private
        raise NoSigner(f"{self._folder} holds public halves only")

    def find(self, kid: str) -> Ed25519PublicKey | None:
        """The public half of a key of the ring."""
        self._look(again_after=LOOK_SECONDS)
        if kid not in self._keys and kid.startswith(self._prefix):
            self._look(again_after=UNKNOWN_SECONDS)  # Perhaps it has just been made.
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
                stamp = _stamp(self._folder)
                if stamp != self._stamp:
                    keys = self._read()
                    if self._may_be(keys):
                        self._keys, self._stamp = keys, stamp
                        self._changed()

    def _may_be(self, keys: dict[str, Key]) -> bool:
        """A ring that must sign does not become one that cannot."""
        return self._lazy or any(key.private for key in keys.values())

    def _read(self) -> dict[str, Key]:
        found = {self._prefix + name: key for name, key in _read(self._folder).items()}
        return {kid: key._replace(kid=kid) for kid, key in found.items()}


def _read(folder: Path) -> dict[str, Key]:
    """Keys by name, the newest file first. Raises ValueError: one is broken."""
    files = sorted(folder.glob("*.pem"), key=lambda file: (-file.lstat().st_mtime_ns, file.name))
    # The folder may hold keys of other kinds, made for other ends than signing.
    return {key.kid: key for key in (_load(file) for file in files) if key is not None}


def _load(file: Path) -> Key | None:
    pem = private_files.read(file)
    if b" PUBLIC KEY-" in pem:
        public = key_files.public_of(file, pem)
        return Key(file.stem, None, public) if isinstance(public, Ed25519PublicKey) else None
    private = key_files.private_of(file, pem)
    return Key(file.stem, private, private.public_key()) if isinstance(private, Ed25519PrivateKey) else None


def _make_first_key(folder: Path) -> None:
    """Put a key into a folder that has none that signs.

    Of several processes that try at once one wins, and all use its key.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(key.private for key in _read(folder).values()):
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        private_files.create(folder / f"{FIRST_KEY}.pem", pem)


def _stamp(folder: Path) -> int:
    """When files of a folder came or went last, ns; 0: there is none."""
    return folder.stat().st_mtime_ns if folder.is_dir() else 0


def _jwk(key: Key) -> dict[str, str]:
    public = OKPAlgorithm.to_jwk(key.public, as_dict=True)
    return public | {"kid": key.kid, "use": "sig", "alg": ALGORITHM}

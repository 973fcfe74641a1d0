"""Sealing the key of a deal to the auditor: who runs the table can write it down, but not read it back.

A sealed text is base64url of `ephemeral public key (32 bytes) · ChaCha20-Poly1305 ciphertext`, its key drawn by
HKDF-SHA256 from the X25519 secret that the ephemeral pair shares with the auditor's.
"""

import base64
import contextlib
import os
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PUBLIC, PRIVATE = "auditor.pub", "auditor.key"

_KEY_BYTES = 32
_NONCE = bytes(12)  # Each box has a key of its own, so it needs no other nonce.
_PURPOSE = b"marias deal key 1"


def make_auditor_keys(folder: Path) -> None:
    """Make `auditor.pub` and `auditor.key` in `folder`, unless there is a public key already.

    The private one may be moved away: only audits need it.
    """
    if (folder / PUBLIC).exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    private = X25519PrivateKey.generate()
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The private key comes first and only once: of several starting processes, one decides.
    with contextlib.suppress(FileExistsError):
        _create(folder / PRIVATE, pem)
    kept = read_private_key(folder).public_key()
    _replace(folder / PUBLIC, _public_pem(kept))


def read_public_key(folder: Path) -> X25519PublicKey:
    """The auditor's public key. Raises FileNotFoundError."""
    key = serialization.load_pem_public_key((folder / PUBLIC).read_bytes())
    assert isinstance(key, X25519PublicKey), f"{PUBLIC} is no X25519 key"
    return key


def read_private_key(folder: Path) -> X25519PrivateKey:
    """The auditor's private key. Raises FileNotFoundError where it is kept elsewhere."""
    key = serialization.load_pem_private_key((folder / PRIVATE).read_bytes(), password=None)
    assert isinstance(key, X25519PrivateKey), f"{PRIVATE} is no X25519 key"
    return key


def seal(public: X25519PublicKey, secret: bytes) -> str:
    """`secret` as only the holder of the private key can read it."""
    ephemeral = X25519PrivateKey.generate()
    shown = ephemeral.public_key().public_bytes_raw()
    key = _box_key(ephemeral.exchange(public), shown, public)
    return base64.urlsafe_b64encode(shown + ChaCha20Poly1305(key).encrypt(_NONCE, secret, None)).decode()


def open_sealed(private: X25519PrivateKey, sealed: str) -> bytes:
    """The secret in `sealed`. Raises cryptography's InvalidTag when it was changed or sealed to another."""
    box = base64.urlsafe_b64decode(sealed)
    shown, ciphertext = box[:_KEY_BYTES], box[_KEY_BYTES:]
    shared = private.exchange(X25519PublicKey.from_public_bytes(shown))
    key = _box_key(shared, shown, private.public_key())
    return ChaCha20Poly1305(key).decrypt(_NONCE, ciphertext, None)


def _box_key(shared: bytes, shown: bytes, public: X25519PublicKey) -> bytes:
    """Bound to both public keys, so that no other pair leads to it."""
    info = _PURPOSE + shown + public.public_bytes_raw()
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(shared)


def _public_pem(key: X25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _create(path: Path, data: bytes) -> None:
    """Write a new private file, whole or not at all. Raises FileExistsError."""
    draft = _draft(path, data)
    try:
        os.link(draft, path)
    finally:
        draft.unlink()


def _replace(path: Path, data: bytes) -> None:
    _draft(path, data).replace(path)


def _draft(path: Path, data: bytes) -> Path:
    number, name = tempfile.mkstemp(dir=path.parent)  # Readable by its owner alone.
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return Path(name)

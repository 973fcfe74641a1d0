"""Sealing the key of a deal to the auditor: who runs the table can write it down, but not read it back.

A sealed text is base64url of `ephemeral public key (32 bytes) · ChaCha20-Poly1305 ciphertext`, its key drawn by
HKDF-SHA256 from the X25519 secret that the ephemeral pair shares with the auditor's.
"""

import base64
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from services.key_pairs import KEY_BYTES, box_key, make_pair, read_private, read_public

PUBLIC, PRIVATE = "auditor.pub", "auditor.key"

_NONCE = bytes(12)  # Each box has a key of its own, so it needs no other nonce.
_PURPOSE = b"marias deal key 1"


def make_auditor_keys(folder: Path) -> None:
    """Make `auditor.pub` and `auditor.key` in `folder`, unless there is a public key already.

    The private one may be moved away: only audits need it.
    """
    make_pair(folder / PUBLIC, folder / PRIVATE)


def read_public_key(folder: Path) -> X25519PublicKey:
    """The auditor's public key. Raises FileNotFoundError."""
    return read_public(folder / PUBLIC)


def read_private_key(folder: Path) -> X25519PrivateKey:
    """The auditor's private key. Raises FileNotFoundError where it is kept elsewhere."""
    return read_private(folder / PRIVATE)


def seal(public: X25519PublicKey, secret: bytes) -> str:
    """`secret` as only the holder of the private key can read it."""
    ephemeral = X25519PrivateKey.generate()
    shown = ephemeral.public_key().public_bytes_raw()
    key = box_key(_PURPOSE, ephemeral.exchange(public), shown, public)
    return base64.urlsafe_b64encode(shown + ChaCha20Poly1305(key).encrypt(_NONCE, secret, None)).decode()


def open_sealed(private: X25519PrivateKey, sealed: str) -> bytes:
    """The secret in `sealed`. Raises cryptography's InvalidTag when it was changed or sealed to another."""
    box = base64.urlsafe_b64decode(sealed)
    shown, ciphertext = box[:KEY_BYTES], box[KEY_BYTES:]
    shared = private.exchange(X25519PublicKey.from_public_bytes(shown))
    key = box_key(_PURPOSE, shared, shown, private.public_key())
    return ChaCha20Poly1305(key).decrypt(_NONCE, ciphertext, None)

"""Sealing the key of a deal to the auditor: who runs the table can write it down, but not read it back.

A sealed text is `2.` and base64url of `public key (32 bytes) · nonce (12 bytes) · ChaCha20-Poly1305 ciphertext`, its
key drawn by HKDF-SHA256 from the X25519 secret that this public key shares with the auditor's. A process shows one such
key for all that it seals: to agree on one takes 100 us, and what it seals it knows anyway. Without the `2.` it is how
earlier builds wrote it: a fresh public key for each text, and no nonce.
"""

import base64
import secrets
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from services.key_pairs import KEY_BYTES, box_key, make_pair, read_private, read_public

PUBLIC, PRIVATE = "auditor.pub", "auditor.key"

_SHARED = "2."
_NONCE_BYTES = 12
_NO_NONCE = bytes(_NONCE_BYTES)  # A box with a key of its own needs none.
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
    shown, box = _agreed(public.public_bytes_raw())
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return _SHARED + base64.urlsafe_b64encode(shown + nonce + box.encrypt(nonce, secret, None)).decode()


@lru_cache(maxsize=4)
def _agreed(public: bytes) -> tuple[bytes, ChaCha20Poly1305]:
    """What this process shows, and the box that it fills."""
    auditor, ephemeral = X25519PublicKey.from_public_bytes(public), X25519PrivateKey.generate()
    shown = ephemeral.public_key().public_bytes_raw()
    return shown, ChaCha20Poly1305(box_key(_PURPOSE, ephemeral.exchange(auditor), shown, auditor))


def open_sealed(private: X25519PrivateKey, sealed: str) -> bytes:
    """The secret in `sealed`. Raises cryptography's InvalidTag when it was changed or sealed to another."""
    is_shared = sealed.startswith(_SHARED)
    text = sealed.removeprefix(_SHARED)
    try:
        box = base64.urlsafe_b64decode(text)
        if base64.urlsafe_b64encode(box).decode() != text:  # The last letter has bits that say nothing.
            raise InvalidTag
        shown, rest = box[:KEY_BYTES], box[KEY_BYTES:]
        shared = private.exchange(X25519PublicKey.from_public_bytes(shown))
    except ValueError:
        raise InvalidTag from None
    nonce, ciphertext = (rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]) if is_shared else (_NO_NONCE, rest)
    return ChaCha20Poly1305(box_key(_PURPOSE, shared, shown, private.public_key())).decrypt(nonce, ciphertext, None)


def opened(private: X25519PrivateKey, sealed: str) -> bytes | None:
    """The secret in `sealed`; None when it was changed, sealed to another, or is nothing sealed."""
    try:
        return open_sealed(private, sealed)
    except (InvalidTag, ValueError):
        return None

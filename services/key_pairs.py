"""X25519 pairs in files, and the key of a box that is sealed to one."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from services import key_files, private_files

KEY_BYTES = 32


def make_pair(public: Path, private: Path) -> None:
    """Make a pair in these two files, unless there is a public key already; the private one may be moved away."""
    if public.exists():
        return
    public.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pem = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The private key comes first and only once: of several starting processes, one decides.
    private_files.create(private, pem)
    kept = read_private(private).public_key()
    private_files.replace(
        public, kept.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def read_public(path: Path) -> X25519PublicKey:
    """The public key in a file. Raises FileNotFoundError, BadKey."""
    key = key_files.public_of(path, private_files.read(path))
    if not isinstance(key, X25519PublicKey):
        raise key_files.BadKey(f"{path} holds no X25519 key.")
    return key


def read_private(path: Path) -> X25519PrivateKey:
    """The private key in a file. Raises FileNotFoundError where it is kept elsewhere, BadKey."""
    key = key_files.private_of(path, private_files.read(path))
    if not isinstance(key, X25519PrivateKey):
        raise key_files.BadKey(f"{path} holds no X25519 key.")
    return key


def box_key(purpose: bytes, shared: bytes, shown: bytes, public: X25519PublicKey) -> bytes:
    """The key of a box (HKDF-SHA256), from the secret that the pair `shown` shares with `public`.

    Bound to both public keys, so that no other pair leads to it.
    """
    info = purpose + shown + public.public_bytes_raw()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(shared)

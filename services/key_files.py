"""Keys in PEM, read with suspicion: what holds none is named with the reason."""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from services.private_files import BadFile


class BadKey(BadFile):
    """A file does not hold the key that it should."""


def private_of(path: Path, pem: bytes) -> PrivateKeyTypes:
    """The private key in the text of the file at `path`, of whatever kind. Raises BadKey."""
    try:
        return load_pem_private_key(pem, password=None)
    except TypeError:
        raise BadKey(f"{path} is locked with a password; keep it in a file for its owner alone instead.") from None
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path} is no private key in PEM: {_first_words(error)}.") from None


def public_of(path: Path, pem: bytes) -> PublicKeyTypes:
    """The public key in the text of the file at `path`, of whatever kind. Raises BadKey."""
    try:
        return load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path} is no public key in PEM: {_first_words(error)}.") from None


def _first_words(error: Exception) -> str:
    return str(error).partition(". ")[0].rstrip(".")

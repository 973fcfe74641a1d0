"""The envelope of a command on its way through the store: a mark that proves who sent it, and a seal over its cards.

Whoever takes commands in (API, push, jobs, the clock) holds the key of the mark, and the workers hold it too. The mark
stands in the place of the fingerprint: a keyed digest (BLAKE2b) of sender, table, key and canonical body, the same
at every node, so that a repeated command is known again, while nobody without the key can make one or guess the
body behind one. A body that names hidden cards is sealed to the workers' public key (X25519, ChaCha20-Poly1305): it
lies unreadable in the stream, its log on the disk, the backups and the dead letters.
"""

import base64
import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from services import key_files, private_files
from services.key_pairs import KEY_BYTES, box_key, make_pair, read_private, read_public

MARKS, PUBLIC, PRIVATE = "commands.key", "worker.pub", "worker*.key"
FIRST_PRIVATE = "worker.key"
SECRET = frozenset({"discard", "choose_trump"})
"""The types of commands that name cards which stay hidden although the command is applied."""

_MARK_BYTES = 12
_PUBLIC_BYTES = 32
_NONCE_BYTES = 12
_PURPOSE = b"marias command 1"
_BEFORE, _BETWEEN, _AFTER = b'{"sealed":"', b'","type":"', b'"}'


class Forged(Exception):
    """A command that nobody with the key has sent, or that was changed on its way."""


class Sender:
    """Marks and seals commands. Of one sender all seals share an ephemeral key, agreed on once."""

    def __init__(self, mark: bytes, public: X25519PublicKey) -> None:
        ephemeral = X25519PrivateKey.generate()
        self._mark = mark
        self._shown = ephemeral.public_key().public_bytes_raw()
        self._box = ChaCha20Poly1305(box_key(_PURPOSE, ephemeral.exchange(public), self._shown, public))

    def mark(self, said: bytes) -> str:
        """The mark of a command; `said` as `spoken` puts it."""
        return hashlib.blake2b(said, key=self._mark, digest_size=_MARK_BYTES).hexdigest()

    def seal(self, kind: str, body: bytes) -> bytes:
        """The JSON object in which `body`, a command of this type, goes through the store."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        box = base64.urlsafe_b64encode(self._shown + nonce + self._box.encrypt(nonce, body, None))
        return b"".join((_BEFORE, box, _BETWEEN, kind.encode(), _AFTER))


class Opener:
    """Opens what senders have sealed, and knows their marks."""

    def __init__(self, marks: Sequence[bytes], privates: Sequence[X25519PrivateKey]) -> None:
        self._marks = marks
        self._boxes = lru_cache(1024)(lambda shown: [_box(private, shown) for private in privates])

    def open(self, mark: str, spoken: Callable[[bytes], bytes], body: bytes) -> bytes:
        """The body (JSON) of a command as it was sent; `spoken` puts a body as `mark` was made of it. Raises Forged."""
        plain = self._unsealed(body) if body.startswith(_BEFORE) else body
        if not self._is_marked(mark, spoken(plain)) and (plain is body or not self._is_marked(mark, spoken(body))):
            raise Forged("no sender who knows the key has sent this")
        return plain

    def _is_marked(self, mark: str, said: bytes) -> bool:
        """By any key that is in use: there are two while one is exchanged."""
        for key in self._marks:
            if hmac.compare_digest(hashlib.blake2b(said, key=key, digest_size=_MARK_BYTES).hexdigest(), mark):
                return True
        return False

    def _unsealed(self, body: bytes) -> bytes:
        try:
            box = base64.urlsafe_b64decode(body[len(_BEFORE) : body.index(_BETWEEN)])
            shown, nonce, text = box[:_PUBLIC_BYTES], box[_PUBLIC_BYTES:][:_NONCE_BYTES], box[44:]
            boxes = self._boxes(shown)
        except ValueError:
            raise Forged("the seal is broken") from None
        for each in boxes:
            with contextlib.suppress(InvalidTag):
                return each.decrypt(nonce, text, None)
        raise Forged("the seal is broken, or meant for another worker")


def spoken(table: str, actor: str, key: str, name: str, body: bytes) -> bytes:
    """What a mark is made of. None of the first three can hold a zero byte, nor can the JSON of the body."""
    return b"\0".join((actor.encode(), table.encode(), key.encode(), name.encode(), body))


def make_keys(folder: Path) -> None:
    """Make the keys in `folder`, unless they are there: the marks' for senders and workers, the pair of the workers."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / MARKS).exists():
        private_files.create(folder / MARKS, secrets.token_hex(32).encode() + b"\n")
    make_pair(folder / PUBLIC, folder / FIRST_PRIVATE)


def has_keys(folder: Path) -> bool:
    """Are the keys there? Who comes with keys of his own making is taken for a forger."""
    return (folder / MARKS).exists() and (folder / PUBLIC).exists()


def sender_of(folder: Path) -> Sender:
    """Who sends commands with the keys of `folder`; they are made if there are none. The first mark's key counts."""
    make_keys(folder)
    return Sender(_marks(folder)[0], read_public(folder / PUBLIC))


def opener_of(folder: Path) -> Opener:
    """Who opens commands with the keys of `folder`; they are made if there are none."""
    make_keys(folder)
    return Opener(_marks(folder), [read_private(file) for file in sorted(folder.glob(PRIVATE))])


def _marks(folder: Path) -> list[bytes]:
    """Raises BadKey."""
    path = folder / MARKS
    try:
        found = [bytes.fromhex(line) for line in private_files.read(path).decode("ascii", "replace").split()]
    except private_files.BadFile:
        raise
    except ValueError:
        found = []
    if not found or any(len(key) != KEY_BYTES for key in found):
        raise key_files.BadKey(f"{path} must hold lines of {2 * KEY_BYTES} hex digits, one at least.")
    return found


def _box(private: X25519PrivateKey, shown: bytes) -> ChaCha20Poly1305:
    shared = private.exchange(X25519PublicKey.from_public_bytes(shown))
    return ChaCha20Poly1305(box_key(_PURPOSE, shared, shown, private.public_key()))

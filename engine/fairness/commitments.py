"""The bytes of fair deals: everything that is hashed, and the salts that hide it (`engine/FAIRNESS.md`, "Bytes").

The name of a deal is `<table>/<deal>`, as in `t-1f-0a1b2c3d4e5f/3`. Cards are numbers; seeds, keys, nonces and hashes
are 32 bytes, salts 16.
"""

import hashlib
import hmac
from collections.abc import Sequence
from hashlib import sha256
from struct import Struct
from typing import Final

from engine.merkle import root
from engine.notation import CODES
from engine.shuffle import deck_from_key

SALT: Final = 16
CARDS: Final = 32
SEATS: Final = 3
TALON: Final = CARDS
"""The salt of a talon comes after those of all cards."""

_LABEL: Final = b"marias fairness 1 "
_CODES: Final = tuple(code.encode() for code in CODES)
_PLACES: Final = tuple(b"%d/" % place for place in range(CARDS))
_cuts: Final = {count: Struct(f"{SALT}s" * count).unpack for count in (CARDS, CARDS + 1)}


def seed_of(key: bytes) -> bytes:
    """What salts and the server's nonce come from; the deal key cannot be found from it."""
    return hmac.digest(key, _LABEL + b"seed", "sha256")


def leaf_salts(seed: bytes) -> tuple[bytes, ...]:
    """The salt of each leaf."""
    return _salts(_LABEL + b"leaves" + seed, CARDS)


def server_nonce(seed: bytes) -> bytes:
    """What the server commits to before it knows any nonce of a player."""
    return sha256(_LABEL + b"server nonce" + seed).digest()


def seat_key(seed: bytes, seat: int) -> bytes:
    """What a seat is told at the deal: from it come the salts of its own tokens, and of a talon that it lays away."""
    return sha256(_LABEL + b"seat key" + bytes((seat,)) + seed).digest()


def round_salts(key: bytes, number: int) -> tuple[bytes, ...]:
    """The salts of round `number`, from 1, for the holder of a seat key: of each card, and last of the talon."""
    return _salts(_LABEL + b"round" + bytes((number,)) + key, CARDS + 1)


def leaf(name: str, place: int, card: int, salt: bytes) -> bytes:
    """The hash of leaf `place`; a leaf of a Merkle tree (RFC 9162)."""
    return sha256(b"\0%b%b/leaf/%b%b" % (salt, name.encode(), _PLACES[place], _CODES[card])).digest()


def leaves(name: str, seed: bytes, order: Sequence[int]) -> tuple[bytes, ...]:
    """The 32 leaves under which the server's order of the cards lies."""
    head = name.encode() + b"/leaf/"
    return tuple([
        sha256(b"\0" + salt + head + place + _CODES[card]).digest()
        for salt, place, card in zip(leaf_salts(seed), _PLACES, order, strict=True)
    ])


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The one hash that stands for all leaves."""
    return root(hashes)


def commitment_to(nonce: bytes) -> bytes:
    """What is said of a nonce before it is revealed."""
    return sha256(_LABEL + b"nonce" + nonce).digest()


def stand_in(server: bytes, seat: int) -> bytes:
    """The nonce of a seat that gave none, from the server's."""
    return sha256(_LABEL + b"stand-in" + bytes((seat,)) + server).digest()


def joint_key(tree: bytes, server: bytes, nonces: Sequence[bytes | None]) -> bytes:
    """The key of the permutation, from the root and the nonces by seat; None: the seat gave none."""
    given = [stand_in(server, seat) if nonce is None else nonce for seat, nonce in enumerate(nonces)]
    return sha256(b"%bjoint%b%b" % (_LABEL, tree, b"".join(given))).digest()


def permutation(tree: bytes, server: bytes, nonces: Sequence[bytes | None]) -> tuple[int, ...]:
    """For each place of the deal the leaf whose card lies there."""
    return deck_from_key(joint_key(tree, server, nonces), CARDS)


def token(name: str, number: int, seat: int, card: int, salt: bytes) -> bytes:
    """The hash of a card in the hand of `seat` in round `number`; it says nothing of the place in the deal."""
    return sha256(b"%b%b/hand/%d/%d/%b" % (salt, name.encode(), number, seat, _CODES[card])).digest()


def tokens(name: str, number: int, seat: int, cards: Sequence[int], salts: Sequence[bytes]) -> tuple[bytes, ...]:
    """The tokens of a whole hand, in the order of their bytes."""
    head, code = b"%b/hand/%d/%d/" % (name.encode(), number, seat), _CODES
    return tuple(sorted([sha256(salts[card] + head + code[card]).digest() for card in cards]))


def talon(name: str, number: int, cards: Sequence[int], salt: bytes) -> bytes:
    """The hash of the two cards that were laid away before round `number`, the lower one first."""
    low, high = sorted(cards)
    return sha256(b"%b%b/talon/%d/%b/%b" % (salt, name.encode(), number, _CODES[low], _CODES[high])).digest()


def round_commitment(name: str, number: int, hands: Sequence[Sequence[bytes]], sealed: bytes) -> bytes:
    """One hash for the tokens of all hands, by seat, and the talon."""
    told = b"".join([b"".join(each) for each in hands])
    return sha256(b"%b/hands/%d%b%b" % (name.encode(), number, told, sealed)).digest()


def _salts(secret: bytes, count: int) -> tuple[bytes, ...]:
    stream = hashlib.shake_256(secret).digest(SALT * count)
    return _cuts[count](stream)

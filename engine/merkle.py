"""Merkle trees as RFC 9162 §2.1 hashes them: a root over leaves, and short proofs that need only roots to be checked.

A leaf is SHA-256(0x00 ‖ data), a node SHA-256(0x01 ‖ left ‖ right), a root without leaves SHA-256 of nothing; the left
half of `n` leaves is the largest power of two below `n`. Hashes are 32 bytes. The checks believe nothing: whatever
they are given, they answer True or False.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

HASH_SIZE = 32


class Subtree(NamedTuple):
    """2^level leaves beginning at leaf `place`·2^level; never changes once the tree has these leaves."""

    level: int
    place: int


class Span(NamedTuple):
    """Leaves from `start` up to, not including, `stop`; as one node of a tree."""

    start: int
    stop: int


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of the node over two nodes."""
    return sha256(b"\1" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf hashes, in their order."""
    level = list(leaves)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []  # The last one waits for a partner, levels above.
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [sha256(b"\1" + left + right).digest() for left, right in pairs] + odd  # As `node_hash` does it.
    return level[0] if level else sha256().digest()


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The proof that leaf `index` is under the root of `leaves`. Raises IndexError."""
    return [root(leaves[start:stop]) for start, stop in inclusion_spans(index, len(leaves))]


def consistency(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """The proof that the root of the first `first` leaves grew into that of all. Raises IndexError."""
    return [root(leaves[start:stop]) for start, stop in consistency_spans(first, len(leaves))]


def inclusion_spans(index: int, size: int) -> list[Span]:
    """The nodes whose hashes prove leaf `index` of `size`, the lowest first. Raises IndexError."""
    if not 0 <= index < size:
        raise IndexError(f"there is no leaf {index} among {size}")
    spans, start, stop = [], 0, size
    while stop - start > 1:
        middle = start + _left(stop - start)
        if index < middle:
            spans.append(Span(middle, stop))
            stop = middle
        else:
            spans.append(Span(start, middle))
            start = middle
    return spans[::-1]


def consistency_spans(first: int, second: int) -> list[Span]:
    """The nodes whose hashes prove that `first` leaves grew into `second`, the lowest first. Raises IndexError."""
    if not 0 < first <= second:
        raise IndexError(f"{first} leaves, at least one, cannot have grown into {second}")
    spans, start, stop = [], 0, second
    while stop != first:
        middle = start + _left(stop - start)
        if first <= middle:
            spans.append(Span(middle, stop))
            stop = middle
        else:
            spans.append(Span(start, middle))
            start = middle
    if start:  # Else the old root is the whole left side, and whoever checks has it.
        spans.append(Span(start, stop))
    return spans[::-1]


def subtrees(span: Span) -> list[Subtree]:
    """The full sub-trees that make a node, largest first. `span` is one of the spans of a proof, or a whole tree."""
    found, start = [], span.start
    while start < span.stop:
        level = (span.stop - start).bit_length() - 1
        found.append(Subtree(level, start >> level))
        start += 1 << level
    return found


def fold(hashes: Iterable[bytes]) -> bytes:
    """The hash of a node from those of its `subtrees`, largest first."""
    *rest, found = hashes
    for left in reversed(rest):
        found = node_hash(left, found)
    return found


Made = list[tuple[Subtree, bytes]]


def grown(size: int, peaks: Sequence[bytes], leaves: Iterable[bytes]) -> tuple[Made, list[bytes]]:
    """A tree of `size` leaves with more of them: the hashes of all full sub-trees that this completes, and the peaks
    after it. Peaks are the hashes of the `subtrees` of the whole tree, largest first."""
    made: Made = []
    left = list(peaks)
    for place, leaf in enumerate(leaves, size):
        subtree, found = Subtree(0, place), leaf
        made.append((subtree, found))
        while subtree.place % 2:
            subtree, found = Subtree(subtree.level + 1, subtree.place >> 1), node_hash(left.pop(), found)
            made.append((subtree, found))
        left.append(found)
    return made, left


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected: bytes) -> bool:
    """Whether `path` proves that the leaf hash `leaf` stands at `index` under the root `expected` of `size` leaves."""
    if not 0 <= index < size or not _hashes(leaf, *path):
        return False
    place, last, found = index, size - 1, leaf
    for step in path:
        if last == 0:
            return False
        if place % 2 or place == last:
            found = node_hash(step, found)
            place, last = _skip(place, last)
        else:
            found = node_hash(found, step)
        place, last = place >> 1, last >> 1
    return last == 0 and found == expected


def verify_consistency(first: int, second: int, path: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """Whether `path` proves that the tree of `first` leaves, with its root, is the beginning of that of `second`."""
    if not 0 < first <= second or not _hashes(first_root, second_root, *path):
        return False
    if first == second:
        return not path and first_root == second_root
    steps = list(path) if first & (first - 1) else [first_root, *path]  # A full tree is its own lowest node.
    if not steps:
        return False
    place, last = first - 1, second - 1
    while place % 2:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place % 2 or place == last:
            old, new = node_hash(step, old), node_hash(step, new)
            place, last = _skip(place, last)
        else:
            new = node_hash(new, step)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def _left(size: int) -> int:
    """The largest power of two below `size`, which is at least 2."""
    return 1 << (size - 1).bit_length() - 1


def _skip(place: int, last: int) -> tuple[int, int]:
    """Up the levels on which the node, being the last and without a partner, is carried up as it is."""
    while place and not place % 2:
        place, last = place >> 1, last >> 1
    return place, last


def _hashes(*values: bytes) -> bool:
    return all(len(value) == HASH_SIZE for value in values)

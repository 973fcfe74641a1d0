"""Signing the head of the log: only if the log has grown out of the last head that is kept outside the store."""

import logging
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from redis import Redis

from engine import merkle
from services.signing import Signer
from services.store import chain, deal_log
from services.transparency import heads
from services.transparency.heads import BadHeads, Head, Line
from services.transparency.outside import Opened, Outside

_log = logging.getLogger(__name__)

LEAVES_MAX: Final = 1_000
"""So many leaves are told in one line; a log that grew by more is given several heads."""


class Refused(Exception):
    """No head is signed, since the log is not what was signed before; the message tells an operator what to do."""


class Book(NamedTuple):
    """What it takes to sign heads. `now` is in seconds since the epoch."""

    redis: Redis
    signer: Signer
    kept: Outside
    now: Callable[[], float] = time.time


def sign(book: Book) -> Line | None:
    """The head of the log as it is now, signed and kept, without its leaves; None: the log is empty.

    Raises Refused, and the store tells it to operators until it is mended; OSError, StoreUnavailable.
    """
    try:
        with book.kept.opened() as file:
            return _sign(book, file)
    except Refused as refusal:
        deal_log.set_wrong(book.redis, str(refusal))
        raise


def _sign(book: Book, file: Opened) -> Line | None:
    last = _last(book, file)
    state = deal_log.state(book.redis)
    size, first = state.size, last.size if last else 0
    if size < first:
        raise Refused(
            f"the log of finished deals has shrunk: the store has {size} of the {first} that were signed for"
            f" ({book.kept.name}). Look for what was lost; `marias log restore` appends what the file has."
        )
    if last and chain.text(deal_log.root(book.redis, first)) != last.root:
        raise Refused(
            f"the log of finished deals is forked: its first {first} deals are not those that were signed for"
            f" ({book.kept.name}). Somebody has changed one of the two; compare them before you go on."
        )
    _hold_to(book, state, first)
    while last is None or last.size < size:
        if not size:
            return None
        last = _next(book, last, min(size, (last.size if last else 0) + LEAVES_MAX))
        file.append(heads.written(last))
    told = Line(last.size, last.root, last.at, last.signed)
    deal_log.keep_head(book.redis, told.size, told.at * 1000, heads.written(told)[:-1])
    return told


def _hold_to(book: Book, state: deal_log.State, first: int) -> None:
    """Where the file lacks heads, be it lost or cut off, the store's own signed head counts. Raises Refused."""
    if not state.head or state.signed <= first:
        return
    _log.warning("%s has no head of %d deals, as the store has: a new one is signed", book.kept.name, state.signed)
    try:
        head = heads.checked(book.signer.find, state.head).head
    except BadHeads as error:
        raise Refused(f"the store's own head of the log of finished deals is not ours: {error}") from error
    if head.size > state.size or chain.text(deal_log.root(book.redis, head.size)) != head.root:
        raise Refused(
            f"the log of finished deals is forked: its first {head.size} deals are not those that were signed for, and"
            f" {book.kept.name} lacks that head. Put back a copy of the file, and compare."
        )


def _last(book: Book, file: Opened) -> Line | None:
    text = file.last()
    try:
        return heads.checked(book.signer.find, text) if text else None
    except BadHeads as error:
        raise Refused(f"the last head in {book.kept.name} is not ours: {error}") from error


def _next(book: Book, last: Line | None, size: int) -> Line:
    """The next line. Its root is made of the leaves themselves, and must be what the stored nodes say."""
    first = last.size if last else 0
    leaves = deal_log.leaves(book.redis, first, size - first)
    hashes = [merkle.leaf_hash(leaf) for leaf in leaves]
    _, peaks = merkle.grown(first, deal_log.peaks(book.redis, first), hashes)
    root = merkle.fold(peaks)
    path = deal_log.consistency(book.redis, first, size) if last else []
    grew = last is None or merkle.verify_consistency(first, size, path, chain.digest(last.root), root)
    if len(leaves) != size - first or root != deal_log.root(book.redis, size) or not grew:
        raise Refused(
            f"the log of finished deals is damaged: its leaves {first} to {size - 1} do not make the tree that the"
            " store has. Nothing is signed for it."
        )
    head = Head(size, chain.text(root), int(book.now()))
    return Line(*head, heads.sign(book.signer, head), [leaf.decode() for leaf in leaves])

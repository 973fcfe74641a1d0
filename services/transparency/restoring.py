"""The log made again from what is kept outside the store: the same leaves in the same order."""

from collections.abc import Callable, Iterator

from engine import merkle
from services.store import deal_log
from services.store.deal_log import Leaf
from services.transparency import heads
from services.transparency.heads import BadHeads, Line
from services.transparency.leaves import leaf, read
from services.transparency.signing import Book, Refused

LEAVES_MAX = 100

Progress = Callable[[int], None]
"""Told how many deals are in the log."""


def restore(book: Book, progress: Progress) -> int:
    """Append to the log what the kept lines have and the store has not; gives how many deals that were.

    The lines are proven from the first on, and what the store has must be their beginning. Deals that were logged
    after the last line are appended by the projector once more. Raises BadHeads, Refused, StoreUnavailable.
    """
    size = deal_log.state(book.redis).size
    place, peaks, last = 0, list[bytes](), None
    waiting: list[Leaf] = []
    for line in heads.all_checked(book.signer.find, book.kept.lines()):
        for each in _leaves(line):
            if place == size:
                _must_begin(book, size, peaks)
            _, peaks = merkle.grown(place, peaks, [merkle.leaf_hash(each.data)])
            place += 1
            if place > size:
                waiting.append(each)
            if len(waiting) >= LEAVES_MAX:
                _append(book, waiting, place, progress)
        last = line
    if place <= size:
        _must_begin(book, place, peaks)
    _append(book, waiting, place, progress)
    if last is not None and place >= size:
        told = Line(last.size, last.root, last.at, last.signed)
        deal_log.keep_head(book.redis, told.size, told.at * 1000, heads.written(told)[:-1])
    return max(0, place - size)


def _leaves(line: Line) -> Iterator[Leaf]:
    for text in line.leaves:
        try:
            told = read(text.encode())
        except ValueError as error:
            raise BadHeads(f"the line of {line.size} deals: {error}") from error
        yield leaf(told.table, told.deal, told.first, told.last, told.head)


def _must_begin(book: Book, size: int, peaks: list[bytes]) -> None:
    """The first `size` deals, whose peaks these are, must be the same in the store."""
    if size and deal_log.root(book.redis, size) != merkle.fold(peaks):
        raise Refused(f"the {size} deals that the store has logged first are not the first {size} of {book.kept.name}")


def _append(book: Book, waiting: list[Leaf], place: int, progress: Progress) -> None:
    if waiting and not deal_log.grow(book.redis, waiting):
        raise Refused("the log was appended to by somebody else, or knows these deals in another order")
    waiting.clear()
    progress(place)

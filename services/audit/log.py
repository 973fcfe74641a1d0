"""The log of finished deals by itself: its leaves, the tree over them, the head that was signed, the lines outside.

The lines are read first and the leaves last: a log only grows, so that these have what those tell.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import chain as joined
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from engine import merkle
from services.audit.fault import Fault, Found, said, wrong_type
from services.audit.notes import Notes
from services.signing import Find
from services.store import chain, deal_log, log_keys
from services.store.cold import RawEntry
from services.store.wire import ask
from services.transparency import heads
from services.transparency.heads import BadHeads, Head
from services.transparency.leaves import Told, read
from services.transparency.outside import Outside

PAGE = 1_000
TRIES_MAX, PAUSE_SECONDS = 50, 0.1
"""A projector on a busy machine may take seconds between keeping a head outside and telling the store."""


class Kept(NamedTuple):
    """Where signed heads are kept outside the store, and who knows the keys that sign them."""

    outside: Outside
    find: Find


def of_lines(kept: Kept, notes: Notes, *, note_leaves: bool) -> tuple[Head | None, list[Fault]]:
    """The last head that is kept outside the store, if every line is sound, with the faults; nothing is the first."""
    last: Head | None = None
    try:
        for line in heads.all_checked(kept.find, kept.outside.lines()):
            if note_leaves:
                first = line.size - len(line.leaves)
                notes.add_leaves(first, [read(leaf.encode()) for leaf in line.leaves])
            last = line.head
    except (BadHeads, ValueError) as error:
        line_number, _, why = str(error).partition(": ")
        return None, [fault(kept.outside.name, line_number, "a head that was signed, and its leaves", why)]
    except OSError as error:
        return None, [fault(kept.outside.name, "file", "a file that can be read", str(error))]
    return last, []


def of_store(redis: Redis, kept: Kept | None, outside: Head | None, notes: Notes) -> tuple[int, list[Fault]]:
    """How many leaves the log in the store has, with its faults; they are noted. `outside` is the last head there."""
    faults: list[Fault] = []
    size = 0
    try:
        state = state_since(redis, outside)
        size = state.size
        signed, wrong = signed_in_store(state, kept)
        faults += wrong
        faults += sizes(state, kept, outside, signed)
        faults += older(kept, outside, state.signed)
        faults += _tree(redis, size, [each for each in (outside, signed) if each], notes)
        faults += _beyond(redis, size)
        if faults and kept is not None:
            faults = [*apart(redis, kept), *faults]
    except (Found, ResponseError, ValueError, TypeError) as error:
        faults.append(unreadable(error))
    return size, faults


def unreadable(error: Exception) -> Fault:
    """The fault that kept the log from being read on."""
    if isinstance(error, Found):
        return error.fault
    told = wrong_type(error) if isinstance(error, ResponseError) else repr(error)
    return fault(log_keys.state(), "type", "the log of finished deals", told)


def state_since(redis: Redis, outside: Head | None) -> deal_log.State:
    """How the log stands. A head is kept outside a moment before the store has it, and that moment is waited for."""
    state = deal_log.state(redis)
    for _ in range(TRIES_MAX):
        if outside is None or state.signed >= outside.size:
            break
        time.sleep(PAUSE_SECONDS)
        state = deal_log.state(redis)
    return state


def sizes(state: deal_log.State, kept: Kept | None, outside: Head | None, signed: Head | None) -> Iterator[Fault]:
    """The log has at least what the heads cover, and the store's head is no older than the last one outside."""
    if outside is not None and state.signed < outside.size:
        yield fault(log_keys.state(), "size", f"at least {outside.size}, as signed", str(state.signed))
    for head, place in ((outside, kept.outside.name if kept else ""), (signed, log_keys.state())):
        if head is not None and head.size > state.size:
            yield fault(log_keys.leaves(), "n", f"{head.size} leaves, as signed ({place})", str(state.size))


def older(kept: Kept | None, outside: Head | None, signed: int) -> Iterator[Fault]:
    """A head is kept outside before the store has it: what is there is no older, once it is looked at again."""
    if kept is None or signed <= (outside.size if outside else 0):
        return
    try:
        text = kept.outside.last()
        size = heads.checked(kept.find, text).head.size if text else 0
    except (BadHeads, OSError, ValueError):
        return  # That is told already.
    if size < signed:
        yield fault(kept.outside.name, "size", f"a head of {signed} leaves, as the store has", str(size))


def _beyond(redis: Redis, size: int) -> Iterator[Fault]:
    """There is nothing behind the last leaf and the last node of each level, unless the log has grown meanwhile."""
    levels = [merkle.Subtree(level, size >> level) for level in range(size.bit_length() + 1)]
    nodes = deal_log.nodes(redis, levels)
    after = ask(redis, "XRANGE", log_keys.leaves(), f"({size}-0", "+", "COUNT", 1)
    between = ask(redis, "XLEN", log_keys.leaves())
    if deal_log.state(redis).size != size:
        return
    if after or between != size:
        found = said(after[0][0]) if after else f"{between} leaves"
        yield fault(log_keys.leaves(), f"{size + 1}-0", f"{size} leaves", found)
    for (level, place), node in zip(levels, nodes, strict=True):
        if node:
            key = log_keys.nodes(level, place // deal_log.BLOCK)
            yield fault(key, f"{level}/{place}", "nothing behind its last node", node.hex())


def signed_in_store(state: deal_log.State, kept: Kept | None) -> tuple[Head | None, list[Fault]]:
    """The head that the store has, which was signed; None: there is none, or a wrong one."""
    place = log_keys.state()
    if not state.head:
        return None, [fault(place, "head", f"that of {state.signed} leaves", "none")] if state.signed else []
    if kept is None:
        return None, []
    try:
        line = heads.checked(kept.find, state.head)
    except BadHeads as error:
        return None, [fault(place, "head", "a head that was signed", str(error))]
    head, form = line.head, heads.written(line)[:-1]
    if form != state.head:
        return None, [fault(place, "head", said(form), said(state.head))]
    if (head.size, head.at * 1000) != (state.signed, state.at):
        return None, [fault(place, "size", f"{head.size} at {head.at * 1000}", f"{state.signed} at {state.at}")]
    return head, []


def _tree(redis: Redis, size: int, signed: Sequence[Head], notes: Notes) -> Iterator[Fault]:
    """The leaves one after the other, the nodes that the store has over them, and the roots that were signed."""
    done, peaks = 0, list[bytes]()
    stops = sorted({each.size for each in signed if each.size <= size})
    while done < size:
        stop = min([done + PAGE, size, *(each for each in stops if each > done)])
        leaves = _leaves(redis, done, stop)
        told = [leaf_told(index, data) for index, data in enumerate(leaves, done)]
        if (again := notes.add_leaves(done, told)) is not None:
            yield fault(log_keys.leaves(), f"deal {again.deal}", "each deal once", "two leaves", again.table)
        made, peaks = merkle.grown(done, peaks, [merkle.leaf_hash(data) for data in leaves])
        found = deal_log.nodes(redis, [subtree for subtree, _ in made])
        wrong = [(subtree, node, other) for (subtree, node), other in zip(made, found, strict=True) if node != other]
        if wrong:
            yield _node(wrong, done, told)
            return
        done = stop
        for head in signed:
            if head.size == done and chain.text(merkle.fold(peaks)) != head.root:
                yield fault(log_keys.leaves(), "root", f"{head.root}, as signed", chain.text(merkle.fold(peaks)))
                return


def _node(wrong: list[tuple[merkle.Subtree, bytes, bytes]], first: int, told: Sequence[Told]) -> Fault:
    """Where one leaf is another than the whole tree was made of, it is the leaf; else the node alone is wrong."""
    (level, place), node, found = wrong[0]
    if level == 0 and (len(wrong) > 1 or place == first + len(told) - 1):
        leaf = told[place - first]
        field = f"{place + 1}-0"
        return fault(
            log_keys.leaves(), field, f"a leaf with the hash {found.hex()}", f"deal {leaf.deal}, {node.hex()}",
            leaf.table,
        )
    return fault(log_keys.nodes(level, place // deal_log.BLOCK), f"{level}/{place}", node.hex(), found.hex())


def _leaves(redis: Redis, first: int, stop: int) -> list[bytes]:
    """The leaves `first` to `stop`, without a hole. Raises Found."""
    found: list[RawEntry] = ask(redis, "XRANGE", log_keys.leaves(), f"{first + 1}-0", f"{stop}-0")
    leaves = []
    for index in range(first, stop):
        id_, flat = found[index - first] if index - first < len(found) else (b"nothing", (b"d", b""))
        if id_ != b"%d-0" % (index + 1):
            raise Found(fault(log_keys.leaves(), f"{index + 1}-0", f"{index + 1}-0", said(id_)))
        if len(flat) != 2 or flat[0] != b"d":
            raise Found(fault(log_keys.leaves(), f"{index + 1}-0", "d", said(b" ".join(flat[::2]))))
        leaves.append(flat[1])
    return leaves


def leaf_told(index: int, data: bytes) -> Told:
    """The leaf at `index`, read. Raises Found."""
    try:
        return read(data)
    except ValueError as error:
        raise Found(fault(log_keys.leaves(), f"{index + 1}-0", f"a leaf: {error}", said(data))) from error


def apart(redis: Redis, kept: Kept) -> Iterator[Fault]:
    """The first leaf in the store that is another than the one that was signed for."""
    try:
        lines = heads.all_checked(kept.find, kept.outside.lines())
        leaves = joined.from_iterable((leaf.encode() for leaf in line.leaves) for line in lines)
        for index, expected in enumerate(leaves):
            found = ask(redis, "XRANGE", log_keys.leaves(), f"{index + 1}-0", f"{index + 1}-0")
            told = found[0][1][-1] if found else b"nothing"
            if told != expected:
                table = read(expected).table
                yield fault(log_keys.leaves(), f"{index + 1}-0", f"{said(expected)}, as signed", said(told), table)
                return
    except (BadHeads, OSError, ValueError):
        return  # That is told already.


def fault(place: str, field: str, expected: str, found: str, table: str = "") -> Fault:
    """What is wrong with the log, or with a head of it."""
    return Fault(check="log", table=table, version=0, field=field, expected=expected, found=found, place=place)

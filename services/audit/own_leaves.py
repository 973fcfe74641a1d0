"""The log of finished deals as far as it concerns one table: its leaves, each proven under the signed heads.

Of a long log this reads the last head, the places that are noted of the table, and of each leaf its path: so many
hashes as the log has doublings. That no leaf of the table stands elsewhere only the audit of everything can tell.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from engine import merkle
from services.audit.fault import Fault, Found
from services.audit.log import Kept, apart, fault, leaf_told, older, signed_in_store, sizes, state_since, unreadable
from services.audit.notes import Notes
from services.store import chain, deal_log, log_keys
from services.store.wire import ask, ask_all, fields_of
from services.transparency import heads
from services.transparency.heads import BadHeads, Head

PAGE = 64


class Tree(NamedTuple):
    """The first `size` leaves of the log, under `root`."""

    size: int
    root: bytes


def of_table(redis: Redis, kept: Kept | None, table: str, notes: Notes) -> tuple[int, list[Fault]]:
    """How many leaves the log has, and the faults of those of `table`; these are noted. Raises StoreUnavailable."""
    faults: list[Fault] = []
    size = 0
    try:
        outside = _last_outside(kept)
        state = state_since(redis, outside)
        size = state.size
        signed, faults = signed_in_store(state, kept)
        faults += [*sizes(state, kept, outside, signed), *older(kept, outside, state.signed)]
        heads_told = [each for each in (outside, signed) if each is not None and each.size <= size]
        for head in heads_told:
            faults += _root(redis, head)
        if not faults:
            trees = [Tree(head.size, chain.digest(head.root)) for head in heads_told]
            trees.append(Tree(size, deal_log.root(redis, size)))
            faults += _leaves(redis, table, sorted(trees), notes)
        elif kept is not None:
            faults = [*apart(redis, kept), *faults]
    except (Found, ResponseError, ValueError, TypeError) as error:
        faults.append(unreadable(error))
    return size, faults


def _last_outside(kept: Kept | None) -> Head | None:
    """The last head outside the store. Raises Found."""
    if kept is None:
        return None
    try:
        text = kept.outside.last()
        return heads.checked(kept.find, text).head if text else None
    except BadHeads as error:
        raise Found(fault(kept.outside.name, "last line", "a head that was signed", str(error))) from error
    except (OSError, ValueError) as error:
        raise Found(fault(kept.outside.name, "file", "a file that can be read", str(error))) from error


def _root(redis: Redis, head: Head) -> Iterator[Fault]:
    """The nodes that the store has make the root that was signed."""
    found = chain.text(deal_log.root(redis, head.size))
    if found != head.root:
        yield fault(log_keys.leaves(), "root", f"{head.root}, as signed", found)


def _leaves(redis: Redis, table: str, trees: Sequence[Tree], notes: Notes) -> Iterator[Fault]:
    """Each leaf that is noted of the table, under the smallest of `trees` that has it; the last one is the whole log.

    Raises Found for what is no leaf.
    """
    noted = fields_of(ask(redis, "HGETALL", log_keys.table(table)))
    told = [(number.decode(), place) for number, place in noted.items() if number.isdigit()]
    size = deal_log.state(redis).size
    for number, place in told:
        if not place.isdigit() or int(place) >= size:
            no_place = place.decode(errors="replace")
            yield fault(log_keys.table(table), number, f"a place among {size} leaves", no_place, table)
    places = sorted((int(place), int(number)) for number, place in told if place.isdigit())
    places = [each for each in places if each[0] < trees[-1].size]  # Others were logged since.
    for begins in range(0, len(places), PAGE):
        page = places[begins : begins + PAGE]
        within = [next(tree for tree in trees if index < tree.size) for index, _ in page]
        found = ask_all(redis, [("XRANGE", log_keys.leaves(), f"{i + 1}-0", f"{i + 1}-0") for i, _ in page])
        paths = deal_log.inclusions(
            redis, [(index, tree.size) for (index, _), tree in zip(page, within, strict=True)]
        )
        for (index, deal), tree, entries, path in zip(page, within, found, paths, strict=True):
            data = entries[0][1][-1] if entries else b""
            leaf = leaf_told(index, data)
            said = f"deal {leaf.deal} of {leaf.table}"
            if not merkle.verify_inclusion(merkle.leaf_hash(data), index, tree.size, path, tree.root):
                wanted = f"a leaf under the root of {tree.size} leaves"
                yield fault(log_keys.leaves(), f"{index + 1}-0", wanted, f"{said}, under another root", table)
            if (leaf.table, leaf.deal) == (table, deal):
                notes.add_leaves(index, [leaf])
            else:
                yield fault(log_keys.table(table), str(deal), f"the index of deal {deal}", f"that of {said}", table)

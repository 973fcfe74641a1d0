"""The deals of a table against their leaves in the log of finished deals.

Who writes a finished deal anew and makes all hashes after it fit is told by the leaf: it has the hash that the chain
had at the end of that deal, and is itself under a root that was signed.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from redis import Redis

from services.audit.fault import Fault, Where, said
from services.audit.walk import Walk
from services.store import chain, log_keys
from services.store.wire import ask, fields_of
from services.transparency.leaves import Told

UNLOGGED = "deals that the log of finished deals does not have (yet)"


class Leaves(NamedTuple):
    """The leaves of a table by deal, each with its index, out of `size` that were read from `place`."""

    by_deal: Mapping[int, tuple[int, Told]]
    size: int
    place: str


NO_LEAVES = Leaves({}, 0, "")


class Logged:
    """Compares the deals of `table` with `leaves`, while a walk goes along it. `missing` are those without a leaf."""

    def __init__(self, table: str, leaves: Leaves) -> None:
        self._table = table
        self._leaves = leaves
        self._last = max(leaves.by_deal, default=0)
        self._begins = 1
        self._ended = 0
        self._is_wrong = False
        self.missing = 0

    def at(self, walk: Walk) -> Iterator[Fault]:
        """The fault of the deal that has ended with the last entry; of those of one chain only the first is told."""
        if walk.ended is None:
            return
        self._ended = walk.ended.deal
        if self._is_wrong:
            return
        deal, begins, self._begins = walk.ended.deal, self._begins, walk.version + 1
        found = self._leaves.by_deal.get(deal)
        if found is None:
            self.missing += 1
            if deal < self._last:
                self._is_wrong = True
                yield self._at("").fault(walk.version, f"deal {deal}", "a leaf, as later deals have", "none")
            return
        index, told = found
        now = {"first": begins, "last": walk.version, "head": chain.text(walk.held.chain)}
        for field, value in now.items():
            if getattr(told, field) != value:
                self._is_wrong = True
                place = f" {index + 1}-0, deal {deal}"
                yield self._at(place).fault(walk.version, field, said(getattr(told, field)), said(value))
                return

    def end(self, walk: Walk) -> Iterator[Fault]:
        """The fault of deals that are logged and that the table does not have."""
        over = self._ended
        if over < self._last and not self._is_wrong:
            yield self._at("").fault(
                walk.version, f"deal {over + 1}", f"deals up to {self._last}, as they are logged", f"{over} deals"
            )

    def noted(self, redis: Redis) -> Iterator[Fault]:
        """What the log has noted of the table: where its leaves are, and how far it is logged."""
        key = log_keys.table(self._table)
        found = fields_of(ask(redis, "HGETALL", key))
        expected = {b"%d" % deal: b"%d" % index for deal, (index, _) in self._leaves.by_deal.items()}
        done = int(found.get(b"d", b"0")) if found.get(b"d", b"0").isdigit() else -1
        if done == self._last and done:
            told = self._leaves.by_deal[done][1]
            expected |= {b"v": b"%d" % told.last, b"h": told.head.encode()}
        for field, value in expected.items():
            if found.get(field) != value:
                yield self._in(key, field, said(value), said(found.get(field, b"nothing")))
                return
        later = found.get(b"%d" % done, b"")
        is_grown = done > self._last and later.isdigit() and int(later) >= self._leaves.size
        if not is_grown and (done != self._last or (found and not done)):
            yield self._in(key, b"d", f"{self._last}, or a deal logged since", said(found.get(b"d", b"nothing")))
        for field, value in found.items():
            is_new = (field + value).isdigit() and self._last < int(field) <= done and int(value) >= self._leaves.size
            if field not in (b"d", b"v", b"h", *expected) and not is_new:
                yield self._in(key, field, "nothing", said(value))

    def _at(self, place: str) -> Where:
        return Where("log", self._table, f"{self._leaves.place}{place}")

    def _in(self, key: str, field: bytes, expected: str, found: str) -> Fault:
        return Where("log", self._table, key).fault(0, field.decode(errors="replace"), expected, found)

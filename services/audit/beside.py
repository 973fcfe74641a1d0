"""The snapshot beside that of a table's last rest: whoever has no better one starts from it."""

from collections.abc import Iterator, Mapping
from typing import Final

from engine.table import at_rest
from services.audit.fault import Fault, Where, apart, said
from services.audit.walk import Walk
from services.store import keys
from services.worker.build import TAG
from services.worker.held import snapshot

FIELDS: Final = frozenset({b"ov", b"ox", b"ob"})


class Beside:
    """Compared with the replay at the version that it tells; that of another build only that one could compare."""

    def __init__(self, table: str, found: Mapping[bytes, bytes]) -> None:
        self._where = Where("snapshot", table, keys.snapshot(table))
        self._kept = {name: found[name] for name in FIELDS & found.keys()}
        self.is_foreign = bool(self._kept) and self._kept.get(b"ox") != TAG.encode()
        self._is_met = self.is_foreign or not self._kept

    def at(self, walk: Walk) -> Iterator[Fault]:
        """The fault of the version that `walk` has come to."""
        if self._is_met or self._kept.get(b"ov") != b"%d" % walk.version:
            return
        self._is_met = True
        expected = snapshot(walk.held) if at_rest(walk.held.table) else b"none: a deal runs"
        if self._kept.get(b"ob") != expected:
            yield self._where.fault(walk.version, "ob", *apart(expected, self._kept.get(b"ob", b"")))

    def end(self, walk: Walk) -> Iterator[Fault]:
        """The faults of what is of no version."""
        if self._kept and self._kept.keys() != FIELDS:
            yield self._where.fault(0, "fields", "ob ov ox", said(b" ".join(sorted(self._kept))))
        elif not self._is_met:
            yield self._where.fault(walk.version, "ov", f"up to {walk.version}", said(self._kept[b"ov"]))

"""What a table's entries say of its commands, held against receipts: pure, so that anybody can ask it."""

from collections.abc import Iterable
from typing import NamedTuple

from services.receipts import Receipt
from services.store import chain
from services.store.history import Recorded


class Denied(NamedTuple):
    """A receipt that the entries of its table deny: at which version, by which field, and in words."""

    table: str
    version: int
    field: str
    reason: str


class _Entry(NamedTuple):
    version: int
    actor: str
    key: str
    fingerprint: str
    head: str


class Written:
    """The commands in the entries of a table, which begin with its first; with the hashes that they should have."""

    def __init__(self, table: str, entries: Iterable[Recorded]) -> None:
        self.table = table
        self._entries: list[_Entry] = []
        self._versions: dict[tuple[str, str], int] = {}
        head = b""
        for entry in entries:
            head = chain.link(head, table, entry)
            self._entries.append(
                _Entry(entry.version, entry.actor, entry.key, entry.fingerprint, chain.text(head))
            )
            self._versions[entry.actor, entry.key] = entry.version

    def denies(self, receipt: Receipt) -> Denied | None:
        """How the entries deny the receipt; None: they do not. A queued command need not have become an entry."""
        if receipt.table != self.table:
            return self._denied(receipt, "table", f"the receipt is of {receipt.table}")
        if receipt.status == "applied":
            return self._denies_applied(receipt)
        written = self._versions.get((receipt.player, receipt.key))
        if receipt.status == "refused" and written is not None:
            return self._denied(receipt, "status", f"it was refused, and is written as version {written}")
        return None

    def _denies_applied(self, receipt: Receipt) -> Denied | None:
        if not 0 < receipt.version <= len(self._entries):
            return self._denied(receipt, "version", f"it is lost: the table ends at version {len(self._entries)}")
        entry = self._entries[receipt.version - 1]
        pairs = (
            ("version", entry.version, receipt.version),
            ("actor", entry.actor, receipt.player),
            ("key", entry.key, receipt.key),
            ("fingerprint", entry.fingerprint, receipt.mark or entry.fingerprint),
            ("hash", entry.head, receipt.hash or entry.head),
        )
        for field, found, said in pairs:
            if found != said:
                return self._denied(receipt, field, f"{field} is {found!r}, the receipt says {said!r}")
        return None

    def _denied(self, receipt: Receipt, field: str, reason: str) -> Denied:
        return Denied(self.table, receipt.version, field, f"command {receipt.key} of {receipt.player}: {reason}")

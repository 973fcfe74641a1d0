"""What lies beside the store, and the audit of all of it, as `marias audit --all --keys` makes it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from redis import Redis

from services.audit.log import Kept
from services.audit.notes import Notes
from services.audit.run import Installation, audit
from services.rings import Ring
from services.signing import PREFIX
from services.transparency.outside import InFile
from services.worker.seal import open_sealed, opened, read_private_key
from tests.faults.fair import OpenKey, ToldProof
from tests.faults.logged import ToldHead
from tests.faults.verdict import Verdict


class Beside(NamedTuple):
    """The heads outside the store, the archive, the auditor's private key, and what was told meanwhile."""

    kept: Kept
    archive: Path | None = None
    private: X25519PrivateKey | None = None
    heads: Sequence[ToldHead] = ()
    proofs: Sequence[ToldProof] = ()

    @property
    def open_key(self) -> OpenKey | None:
        """What opens a sealed deal key."""
        return partial(opened, self.private) if self.private else None


def in_folder(data: Path, archive: Path, heads: Sequence[ToldHead], proofs: Sequence[ToldProof]) -> Beside:
    """What the roles have left in the data folder and the archive."""
    keys = data / "keys"
    kept = Kept(InFile(data / "heads.jsonl"), Ring(keys / "receipts", PREFIX, lazy=True).find)
    return Beside(kept, archive, read_private_key(keys), heads, proofs)


def check_audit(redis: Redis, partitions: Sequence[str], beside: Beside, verdict: Verdict) -> None:
    """The whole audit: each of its faults is a violation, and whatever it could not read."""
    open_key = partial(open_sealed, beside.private) if beside.private else None
    place = Installation(redis, beside.archive, partitions, open_key, beside.kept)
    notes = Notes(None, "the whole run")
    report = audit(place, notes, lambda *_: None)
    notes.close(is_done=True)
    verdict.audited = report.deals
    for fault in report.faults:
        verdict.add("audit", fault.line())
    for missing in report.missing:
        verdict.add("audit", f"not read: {missing}")

"""What a check found: each violation named by its kind, and how much was looked at."""

from collections import Counter
from dataclasses import dataclass, field

SHOWN_MAX = 5

KINDS = {
    "lost": "acknowledged, but not in the stream",
    "doubled": "in the stream more than once",
    "ghost refusal": "refused, but in the stream",
    "ghost entry": "in the stream, but nobody sent it",
    "other outcome": "one key was answered in two ways, or not as it was written",
    "unanswered": "taken in and passed by, but without a receipt",
    "hole": "the versions of a table are not 1, 2, 3, ...",
    "chips": "chips have come from nowhere or gone nowhere",
    "chain": "an entry or a receipt bears another hash than its past makes of it",
    "replay": "the state is not what the events make of it",
    "view": "a view or a feed is not what the events make of it",
    "taken back": "what was pushed is not what is kept",
    "projection": "a projection is not what a rebuild makes of it",
    "unfair": "a proof of a finished deal does not hold, or a nonce that was revealed does not count once",
    "deal log": "the log of finished deals is not what has ended, or not what a head has told",
    "audit": "the audit of all tables, accounts, scores, archived deals and heads has found a fault",
    "archive": "a file of the archive is not whole, or one is missing before it",
    "dead letter": "a command was given up that should not have been",
    "bad answer": "a client was told what none must be told, or fell over",
    "stall": "a table stood still for longer than allowed while a worker and a node lived",
}


@dataclass
class Verdict:
    """The violations by kind, and what was looked at. `unknown_applied`: unknown outcomes that had taken effect;
    `linked`: entries that bore the hash of their past. `deals` have ended, `shuffled` of them with nonces of players;
    `proofs` of them and `heads` of their log, which has `leaves`, were told meanwhile; `audited` were decided again."""

    operations: int = 0
    pushed: int = 0
    tables: int = 0
    entries: int = 0
    linked: int = 0
    accounts: int = 0
    chips: int = 0
    unknown_applied: int = 0
    dead_letters: int = 0
    deals: int = 0
    shuffled: int = 0
    proofs: int = 0
    leaves: int = 0
    heads: int = 0
    audited: int = 0
    found: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Was nothing found?"""
        return not self.found

    def add(self, kind: str, what: str) -> None:
        """One violation. Its kind is one of KINDS."""
        assert kind in KINDS, kind
        self.found.setdefault(kind, []).append(what)

    def count(self, *kinds: str) -> int:
        """How many violations of these kinds."""
        counts = Counter({kind: len(found) for kind, found in self.found.items()})
        return sum(counts[kind] for kind in kinds)

    def lines(self) -> list[str]:
        """The verdict as an operator reads it."""
        said = [
            f"checked {self.operations} commands and {self.pushed} pushed versions against {self.entries} entries of "
            f"{self.tables} tables ({self.linked} linked by their hashes), and {self.chips} chips at tables and in "
            f"{self.accounts} accounts",
            f"checked all proofs of {self.deals} finished deals ({self.shuffled} with nonces of players), "
            f"{self.proofs} proofs and {self.heads} heads that were told, and a log of {self.leaves} deals; "
            f"audited {self.audited} deals",
        ]
        for kind, found in self.found.items():
            said.append(f"VIOLATION {kind} ({KINDS[kind]}): {len(found)}")
            said += [f"  {what}" for what in found[:SHOWN_MAX]]
            if len(found) > SHOWN_MAX:
                said.append(f"  ... and {len(found) - SHOWN_MAX} more")
        return said

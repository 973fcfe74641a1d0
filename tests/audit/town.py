"""A small town for audits: tables of both stakes, with archived deals, running ones and chips that came and went."""

import shutil
from pathlib import Path

from fakeredis import FakeRedis, FakeServer
from redis import Redis

from services.audit.accounts import Bank
from services.audit.fault import Fault
from services.audit.log import Kept
from services.audit.notes import Notes
from services.audit.run import Installation, Report, accounts_faults, audit, audit_folder, read_heads, read_log
from services.audit.scores import Scores
from services.jobs.archive_deals import work
from services.processes import settlement
from services.processes.follow import Follower
from services.signing import Signer
from services.store import accounts, keys
from services.transparency import keeping
from services.transparency.keeping import Keeper
from services.transparency.outside import InFile
from services.transparency.signing import Book, sign
from tests.archive.conftest import Archived
from tests.worker.house import ANA, PARTITIONS, PLAYERS

FREE = "t-01-00000000000a"
"""Three deals archived, one over and not archived, one running."""
RICH = "t-02-00000000000c"
"""Under bankroll: deals, one player left, the others sit on."""
FRESH = "t-00-00000000000e"
"""In its first deal, nothing archived, in private."""
CAP = {"preset": "hospoda", "cap": 100}


class Town(Archived):
    """A house with an archive, in which all processes have handled what there is."""

    def __init__(self, redis: Redis, archive: Path) -> None:
        super().__init__(redis, archive)
        self.heads = archive.parent / "heads.jsonl"
        self.signer = Signer(archive.parent / "keys")
        self.log = Book(redis, self.signer, InFile(self.heads))
        self.keeper = Keeper(self.log, PARTITIONS)
        self.chips = Follower(
            redis, settlement.PROCESS, PARTITIONS, lambda pointers: settlement.settlement(redis, pointers)
        )

    known: Notes | None = None
    kept_files: Path | None = None
    """A copy of the archive as it was."""
    kept_heads: bytes = b""
    """The heads outside the store as they were."""

    @property
    def kept(self) -> Kept:
        """The heads outside, and the keys that sign them."""
        return Kept(self.log.kept, self.signer.find)

    def _note(self, pointers) -> bool:
        keeping.note(self.redis, pointers)
        return super()._note(pointers)

    def sign(self) -> None:
        """Every finished deal is logged, and a head is signed."""
        while self.keeper.turn():
            pass
        sign(self.log)
        self.kept_heads = self.heads.read_bytes()

    def follow(self) -> None:
        """Everything that follows the log is up to date."""
        super().follow()
        while self.chips.turn(None):
            pass
        self.chips.keep()

    def build(self) -> "Town":
        """Play until there is one of everything."""
        for player in PLAYERS:
            accounts.open_account(self.redis, player, 1_000)
        self.deal(FREE)
        self.play_deals(3, FREE)
        self.follow()
        self.sign()
        for partition in PARTITIONS:
            work(self.redis, self.archive, partition)
        self.play_deals(1, FREE, seed=2)
        self.play(7, FREE, seed=3)
        self.deal(RICH, stake="bankroll", buy_in=300, rules=CAP)
        self.play_deals(2, RICH)
        self.say(RICH, ANA, "leave")
        self._private()
        self.follow()
        self.sign()
        return self

    def put_files_back(self) -> None:
        """The archive is again as it was kept."""
        assert self.kept_files is not None
        shutil.rmtree(self.archive)
        shutil.copytree(self.kept_files, self.archive)
        self.heads.write_bytes(self.kept_heads)

    def _private(self) -> None:
        self.open(FRESH, private=True, code="secret", turn_seconds=30)
        for player in PLAYERS:
            assert self.say(FRESH, player, "sit", code="secret")["s"] == "applied"
        for player in PLAYERS:
            assert self.say(FRESH, player, "ready")["s"] == "applied"
        self.play(5, FRESH, seed=4)

    def audited(self, only: str = "", archive: Path | None = None) -> Report:
        """The report of an audit of all."""
        place = Installation(self.redis, archive or self.archive, PARTITIONS, kept=self.kept)
        notes = Notes(None, "all")
        try:
            return audit(place, notes, lambda *_: None, only=only)
        finally:
            notes.close(is_done=True)

    def audited_accounts(self) -> list[Fault]:
        """What is wrong with accounts and scores, by tables that were audited before and are sound."""
        if self.known is None:
            self.known = Notes(None, "all")
            place = Installation(self.redis, self.archive, PARTITIONS, kept=self.kept)
            assert audit(place, self.known, lambda *_: None).faults == []
        bank = Bank(self.redis, self.known, PARTITIONS)
        return accounts_faults(bank, Scores(self.redis, self.known))

    def audited_log(self) -> list[Fault]:
        """What is wrong with the log of finished deals by itself."""
        notes = Notes(None, "all")
        try:
            read_log(self.redis, self.kept, notes)
            return notes.faults
        finally:
            notes.close(is_done=True)

    def audited_folder(self) -> Report:
        """The report of an audit of the archive by itself."""
        notes = Notes(None, "all")
        try:
            read_heads(self.kept, notes)
            return audit_folder(self.archive, notes, lambda *_: None)
        finally:
            notes.close(is_done=True)


def built(archive: Path) -> Town:
    """A new town."""
    return Town(FakeRedis(server=FakeServer(version=(7,)), protocol=2), archive).build()


def events(table: str) -> str:
    """The stream of a table."""
    return keys.events(table)

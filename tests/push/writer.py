"""A worker that knows no game: it writes versions to the store as the real one does, so that push has what to push."""

import itertools
import json
import time

from redis import Redis

from services.store import keys, leases
from services.store.append import Answer, Entry, Position, Status, apply_many
from tests.cast import ANA, BARA, CYRIL

TABLE = "t-1f-00000000000a"
SEATED = f"{ANA.id}|{BARA.id}|{CYRIL.id}"


class Writer:
    """The owner of the partition of `TABLE`. Every seat is told a secret of its own with every version."""

    def __init__(self, redis: Redis, table: str = TABLE) -> None:
        self.redis = redis
        self.table = table
        self.version = 0
        partition = keys.partition_of(table)
        self._lease = leases.claim(redis, [partition], "test", ms=600_000)[partition]
        self._last = self._lease.cursor
        self._numbers = itertools.count(1)

    def change(self, *, who: str = SEATED, code: str = "", actor: str = ANA.id, key: str = "", floor: int | None = None,
               event: dict | None = None, padding: int = 0, moving: dict | None = None, hash: str = "") -> int:
        """One more version; its number. With `moving`, members of the view, nothing else of the view changes."""
        self.version += 1
        number = self.version
        public = json.dumps([event or {"type": "said", "n": number}], separators=(",", ":")).encode()
        seen = tuple(
            b'[{"type":"said","n":%d,"secret":"%d-%d"}]' % (number, seat, number) for seat in range(3)
        )
        head = f',"h":"{hash}"'.encode() if hash else b""
        self._apply(Entry(
            position=self._position(actor, key), expected=number - 1,
            receipt=b'{"v":%d,"f":"fp","s":"applied"%b}' % (number, head), at=1_700_000_000_000 + number,
            events=b'[{"type":"whole"}]', tag="tag", hash=hash, shown=(public, seen),
            brief=json.dumps({"version": number} | (moving or {}), separators=(",", ":")).encode()[1:-1],
            about_changed=moving is None, about=b'"filler":"%b"' % (b"x" * padding),
            private=tuple(
                b'"seat":%d,"hand":["card-of-%d"],"legal":[]' % (seat, seat) for seat in range(3)
            ),
            who=who, code=code, settled=0, feed_floor=floor,
        ))
        return number

    def play_on(self, until: int) -> None:
        """Versions up to `until`, one each millisecond."""
        while self.version < until:
            self.change()
            time.sleep(0.001)

    def refuse(self, actor: str, key: str, code: str, detail: dict | None = None) -> None:
        """Answer a command without a version."""
        receipt = {"v": self.version, "f": "fp", "s": "refused", "c": code} | ({"d": detail} if detail else {})
        text = json.dumps(receipt, separators=(",", ":")).encode()
        self._apply(Answer(self._position(actor, key), self.version, text))

    def _position(self, actor: str, key: str) -> Position:
        number = next(self._numbers)
        command = f"{1000 + number}-0"
        return Position(self.table, self._lease.fence, self._last, command, actor, key or f"k{number}", "fp")

    def _apply(self, entry: Entry | Answer) -> None:
        [result] = apply_many(self.redis, [entry])
        assert result.status is Status.APPLIED, result
        self._last = entry.position.command

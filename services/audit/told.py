"""What clients are told of a table, against what its events make of it: view, feed, snapshot, receipts.

Each is made again by the function with which the worker makes it, at the version at which it was read.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec
from redis import Redis

from engine.table import Step, at_rest
from schemas.table import shown_events
from services.audit.beside import FIELDS, Beside
from services.audit.derived import Derived, since
from services.audit.fault import Fault, Where, apart, said
from services.audit.walk import Walk
from services.store import keys
from services.store.append import Entry, Position, stored_feed, stored_view
from services.store.cold import RawEntry
from services.store.commands import Command
from services.store.history import Recorded
from services.store.wire import fields_of
from services.worker.build import TAG
from services.worker.handle import REMEMBERED_MS, applied
from services.worker.held import Held, snapshot

_decode = msgspec.json.Decoder(dict[str, Any]).decode
NEWER_MAX: Final = 256
_VIEW: Final = {b"v", b"p", b"q"}
_SNAPSHOT: Final = {b"v", b"x", b"b"}
_FOREIGN: Final = "snapshots of another build, which only that one could compare"


Shown: TypeAlias = tuple[bytes, tuple[bytes | None, ...]]
"""What an entry tells to all, and to each seat (None: the same)."""


class Told:
    """What was told of `table`, as it was read at `now` (ms by the store's clock) before the walk began."""

    def __init__(self, redis: Redis, table: str, found: Derived, now: int, *, is_restored: bool) -> None:
        self._redis = redis
        self._table = table
        self._found = found
        self._now = now
        self._view = _number(found.view)
        self._snapshot = _number(found.snapshot)
        self._feed = {id_.partition(b"-")[0]: (id_, flat) for id_, flat in found.feed}
        self._is_restored = is_restored
        self._lacking: dict[int, bytes] = {}
        """The receipts that should be there and are not, by version."""
        self._matched: set[bytes] = set()
        self._must_tell = found.mark[0] if is_restored else 1
        """The first version that the feed must still tell; it grows as the walk goes on."""
        self._rested = 0
        self._rest: Held | None = None
        """The table as it rested last, at that version."""
        self._unlike: Fault | None = None
        """What is wrong with the snapshot, if it is of the version that it tells."""
        self._newer: dict[int, Entry] = {}
        """The last entries that came after the view that was read."""
        self._beside = Beside(table, found.snapshot)
        self.unchecked = [_FOREIGN] if self._beside.is_foreign else []

    def copies(self, version: int) -> dict[str, str]:
        """The fields of an entry, by their names, that its receipt and the feed tell as well."""
        found: dict[str, str] = {}
        for field, receipt in self._readable():
            if receipt["v"] == version and receipt.get("s") == "applied":
                actor, _, key = field.decode().partition("/")
                found |= {"a": actor, "k": key, "f": str(receipt.get("f")), "h": str(receipt.get("h"))}
        if (told := self._feed.get(b"%d" % version)) is not None:
            found["at"] = fields_of(told[1]).get(b"at", b"").decode(errors="replace")
        return found

    def at(self, walk: Walk) -> Iterator[Fault]:
        """The faults of what belongs to the version that `walk` has come to."""
        version, before = walk.version, walk.before
        if walk.held.began != before.began and before.began:
            self._must_tell = max(self._must_tell, before.began)
        rests = at_rest(walk.held.table)
        if rests and walk.entry.at + REMEMBERED_MS <= self._now:
            self._must_tell = max(self._must_tell, version + 1)
        if rests and version <= self._view:
            self._rested, self._rest = version, walk.held
        yield from self._beside.at(walk)
        yield from self._answered(walk)
        if (rests and walk.entry.at + REMEMBERED_MS <= self._now) or (version < self._must_tell and self._is_restored):
            self._lacking.clear()
        if (told := self._feed.get(b"%d" % version)) is not None:
            yield from self._fed(walk.entry.at, shown_events(walk.events), version, told)
        if version in (self._view, self._snapshot):
            yield from self._told(_written(walk), version)
        elif version > self._view:
            self._newer[version] = _written(walk)
            if len(self._newer) > NEWER_MAX:
                del self._newer[min(self._newer)]

    def end(self, walk: Walk) -> Iterator[Fault]:
        """The faults of what belongs to no version, or to one that the table has not reached."""
        yield from self._unreadable()
        yield from self._since(walk)
        name, place = "view", keys.view(self._table)
        if self._found.view and set(self._found.view) != _VIEW:
            yield self._at(name, place).fault(0, "fields", "v p q", said(b" ".join(sorted(self._found.view))))
        if not 0 < self._view <= walk.version:
            yield self._at(name, place).fault(walk.version, "v", f"up to {walk.version}", str(self._view))
        yield from self._feed_ends(walk)
        yield from self._snapshot_ends(walk)
        yield from self._beside.end(walk)
        yield from self._answers_end(walk)

    def _since(self, walk: Walk) -> Iterator[Fault]:
        """What was told of the entries that came after the view: it is written with them, so by now it is there."""
        if not self._newer:
            return
        first = min(self._newer)
        fields = [self._lacking[version] for version in self._newer if version in self._lacking]
        found = since(self._redis, self._table, first - 1, fields)
        if found.view < walk.version:
            place = keys.view(self._table)
            yield self._at("view", place).fault(walk.version, "v", f"at least {walk.version}", str(found.view))
        told = dict(found.feed)
        place = keys.feed(self._table)
        for version, entry in self._newer.items():
            flat = told.get(b"%d-0" % version)
            if flat is not None:
                yield from self._fed(entry.at, entry.shown, version, (b"%d-0" % version, flat))
            elif version >= self._must_tell:
                yield self._at("feed", place).fault(version, "id", f"{version}-0", "none")
            field = self._lacking.get(version)
            if field is not None and found.receipts[field] != entry.receipt:
                place_of = keys.receipts(self._table)
                other = said(found.receipts[field])
                yield self._at("receipts", place_of).fault(version, field.decode(), said(entry.receipt), other)

    def _told(self, entry: Entry, version: int) -> Iterator[Fault]:
        view = self._found.view
        if version == self._view:
            number, place = _says(view.get(b"p", b"")), keys.view(self._table)
            if number not in ("", str(version)):
                yield self._at("view", place).fault(version, "v", number, str(version))
                return
            for field, expected in zip((b"p", b"q"), stored_view(entry), strict=True):
                if view.get(field) != expected:
                    wanted, found = apart(expected, view.get(field, b""))
                    yield self._at("view", keys.view(self._table)).fault(version, field.decode(), wanted, found)
        if version == self._snapshot:
            self._kept(entry, version)

    def _fed(self, at: int, shown: Shown, version: int, told: RawEntry) -> Iterator[Fault]:
        place, (id_, flat) = keys.feed(self._table), told
        if id_ != b"%d-0" % version:
            yield self._at("feed", place).fault(version, "id", f"{version}-0", said(id_))
        expected = {b"at": b"%d" % at, **fields_of(list(stored_feed(shown)))}
        found = fields_of(flat)
        if found == expected:
            return
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                one, other = apart(expected.get(name, b"(nothing)"), found.get(name, b"(nothing)"))
                yield self._at("feed", place).fault(version, name.decode(errors="replace"), one, other)

    def _kept(self, entry: Entry, version: int) -> None:
        place, found = keys.snapshot(self._table), self._found.snapshot
        if found.get(b"x") != TAG.encode():
            self.unchecked.append(_FOREIGN)
        elif found.get(b"b") != entry.snapshot:
            expected, other = apart(entry.snapshot or b"none: a deal runs", found.get(b"b", b""))
            self._unlike = self._at("snapshot", place).fault(version, "b", expected, other)

    def _feed_ends(self, walk: Walk) -> Iterator[Fault]:
        place, numbers = keys.feed(self._table), [int(number) for number in self._feed]
        expected = numbers[0] if numbers else self._view + 1
        if expected > self._must_tell:
            first = f"{expected}-0 is the first" if numbers else "an empty feed"
            yield self._at("feed", place).fault(self._must_tell, "id", f"{self._must_tell}-0", first)
        for number in numbers:
            if number != expected:
                yield self._at("feed", place).fault(expected, "id", f"{expected}-0", f"{number}-0 comes next")
                return
            expected += 1
        if numbers and not self._view < expected <= walk.version + 1:
            yield self._at("feed", place).fault(
                expected, "id", f"versions up to {self._view}", f"ends at {expected - 1}"
            )

    def _snapshot_ends(self, walk: Walk) -> Iterator[Fault]:
        place, found = keys.snapshot(self._table), self._found.snapshot
        fields = found.keys() - FIELDS
        if fields and fields != _SNAPSHOT:
            yield self._at("snapshot", place).fault(0, "fields", "v x b", said(b" ".join(sorted(fields))))
        if self._unlike is not None and self._rest is not None and found.get(b"b") == snapshot(self._rest):
            told = str(self._snapshot)
            yield self._at("snapshot", place).fault(self._rested, "v", str(self._rested), told)
        elif self._unlike is not None:
            yield self._unlike
        if not self._rested <= self._snapshot <= walk.version:
            yield self._at("snapshot", place).fault(
                self._rested, "v", f"{self._rested}, when the table came to rest", str(self._snapshot)
            )

    def _answered(self, walk: Walk) -> Iterator[Fault]:
        """The receipt of the command that made this version."""
        entry, version = walk.entry, walk.version
        field = keys.receipt_field(entry.actor, entry.key).encode()
        if self._found.receipts.get(field) != _as_written(entry):
            found = _receipt(self._found.receipts.get(field, b""))
            if found is None or found["v"] != version or found.get("s") != "applied":
                self._lacking[version] = field
                return
            yield from self._unlike_receipt(entry, field, found)
        self._matched.add(field)
        reserved = self._found.reservations.get(field)
        if reserved != entry.fingerprint.encode() and (reserved or (version <= self._view and not self._is_restored)):
            yield self._at("receipts", keys.reservations(self._table)).fault(
                version, field.decode(), entry.fingerprint, said(reserved)
            )

    def _unlike_receipt(self, entry: Recorded, field: bytes, found: Mapping[str, Any]) -> Iterator[Fault]:
        expected = {"v": entry.version, "f": entry.fingerprint, "s": "applied"}
        if entry.hash:
            expected["h"] = entry.hash
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                wanted, other = said(expected.get(name)), said(found.get(name))
                place = keys.receipts(self._table)
                yield self._at("receipts", place).fault(entry.version, f"{field.decode()}.{name}", wanted, other)

    def _answers_end(self, walk: Walk) -> Iterator[Fault]:
        """What was written and is not forgotten has its receipt, and nothing else has one that says so."""
        place = keys.receipts(self._table)
        for version, field in self._lacking.items():
            if version <= self._view:
                found = self._found.receipts.get(field, b"no receipt")
                yield self._at("receipts", place).fault(
                    version, field.decode(), f"applied as version {version}", said(found)
                )
        for field, receipt in self._readable():
            claims = receipt.get("s") == "applied" and field not in self._matched
            is_known = receipt.get("s") in ("applied", "refused") and receipt["v"] <= walk.version
            if (claims and field not in self._lacking.values()) or not is_known:
                expected = f"the receipt of a command, up to version {walk.version}"
                yield self._at("receipts", place).fault(receipt["v"], field.decode(), expected, said(receipt))

    def _readable(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """The receipts that no entry has been matched with, by field, as far as they can be read."""
        for field, text in self._found.receipts.items():
            if field not in self._matched and (receipt := _receipt(text)) is not None:
                yield field, receipt

    def _unreadable(self) -> Iterator[Fault]:
        for field, text in self._found.receipts.items():
            if field not in self._matched and _receipt(text) is None:
                yield self._at("receipts", keys.receipts(self._table)).fault(0, said(field), "a receipt", said(text))

    def _at(self, check: str, place: str) -> Where:
        return Where(check, self._table, place)


def _written(walk: Walk) -> Entry:
    """What the worker writes of the last entry. Where the command stands in its partition is not part of it."""
    version, at, actor, key, mark = walk.entry[:5]
    place = Position(walk.table, "", "", "", actor, key, mark)
    command = Command(f"{at}-0", walk.table, actor, "", key, mark, b"", None)
    entry = applied(walk.before, command, place, Step(walk.events, walk.held.table)).write
    assert isinstance(entry, Entry)
    assert entry.expected + 1 == version
    return entry


def _as_written(entry: Recorded) -> bytes:
    """The receipt of an entry, as it is written with it."""
    hash_ = b',"h":"%b"' % entry.hash.encode() if entry.hash else b""
    return b'{"v":%d,"f":"%b","s":"applied"%b}' % (entry.version, entry.fingerprint.encode(), hash_)


def _receipt(text: bytes) -> dict[str, Any] | None:
    """A receipt that can be read."""
    try:
        receipt = _decode(text)
        receipt["v"] = int(receipt["v"])
    except (msgspec.MsgspecError, KeyError, ValueError, TypeError):
        return None
    return receipt


def _says(brief: bytes) -> str:
    """The version that a view itself begins with; "" where it cannot be read."""
    number = brief.removeprefix(b'"version":').partition(b",")[0]
    return number.decode() if number.isdigit() else ""


def _number(found: Mapping[bytes, bytes]) -> int:
    """The version of a part; 0 where there is none, or nothing that is one."""
    text = found.get(b"v", b"0")
    return int(text) if text.isdigit() else 0

"""The walk along one table: each entry is read strictly and decided again from the table that the ones before it made.

It stops at the first fault, as everything behind it is built on it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from engine.errors import RuleViolation
from engine.table import Step
from engine.table.events import (
    CardOpened,
    ChipsBrought,
    ChipsReturned,
    DeadlineSet,
    DealEnded,
    DealStarted,
    Event,
    OfTable,
)
from engine.table.play import GameEvent
from schemas.table import dump_event, dump_events, load_event
from schemas.upcasters import version_of as present_version
from services.audit.chained import SINGLE, Beside, Changed, changed
from services.audit.command import Impossible, decided
from services.audit.fault import Found, Where, said
from services.audit.recount import miscounted
from services.audit.shuffle import OpenKey, unlike
from services.projections.bank import bank
from services.projections.sheet import BLANK, Sheet, turned
from services.store.chain import TEXT_LENGTH, genesis, linked, text
from services.store.cold import RawEntry
from services.store.history import Recorded, recorded
from services.store.outbox import Told
from services.worker.held import UNOPENED, Held, after

COMMON_BYTES_MAX: Final = 64
FIELDS: Final = [b"at", b"a", b"k", b"f", b"e", b"x", b"h"]
"""The fields of an entry, in order; earlier builds wrote no `h`, the hash."""

_PASSING: Final = (DeadlineSet, CardOpened)
"""What comes with a play and leaves seats, chips and projections as they are."""

_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode = msgspec.json.Decoder(dict[str, object]).decode


class Chips(NamedTuple):
    """Chips that came to a table (+) or left it (-) at `version` by `transfer`; player "" is a bot. `deal` is the one
    that ended with it."""

    transfer: str
    version: int
    player: str
    chips: int
    deal: int | None


class Ended(NamedTuple):
    """A deal that ended with the entry `told`: its events, and the table as the projections knew it before."""

    deal: int
    told: Told
    events: Sequence[GameEvent]
    before: Sheet
    ended: DealEnded


class Walk:
    """A table, and what is known of it at the version that the walk has come to."""

    def __init__(self, table: str, open_key: OpenKey | None = None) -> None:
        self.table = table
        self._open_key = open_key
        self.held: Held = UNOPENED
        self.before: Held = UNOPENED
        self.entry = Recorded(0, 0, "", "", "", b"", "")
        self.events: tuple[Event, ...] = ()
        self.sheet: Sheet = BLANK
        self.sheet_before: Sheet = BLANK
        self.chips: list[Chips] = []
        """Those of the last entry."""
        self.banked: dict[str, bytes] = {}
        """The fields of the bank that the last entry changed."""
        self.ended: Ended | None = None
        """The deal that ended with the last entry."""
        self.deals = 0
        self._deal: list[GameEvent] = []
        self._brought = 0
        self.copies: Callable[[int], Mapping[str, str]] = lambda _: {}
        """Copies of the fields of an entry by their names, as far as anything holds them."""
        self._place, self._number = "", 0
        self._name, self._previous = table.encode(), genesis(table)

    @property
    def checks_shuffles(self) -> bool:
        """Can the sealed keys of deals be opened?"""
        return self._open_key is not None

    @property
    def version(self) -> int:
        """How far it has come."""
        return self.held.version

    def take(self, raw: RawEntry, place: str, following: RawEntry | None = None) -> None:
        """The next entry, which lies at `place`; `following` comes after it. Raises Found."""
        self._place, self._number = place, self.held.version + 1
        self.entry = entry = self._read(raw)
        at, actor, key, mark, events, tag = raw[1][1:12:2]
        parts = self._previous, self._name, b"%d" % entry.version, at, actor, key, mark, events, tag
        self._previous = head = linked(parts)
        wrong: Changed | None = None
        if entry.hash and entry.hash != text(head):
            beside = Beside(_readable(following), self.copies(entry.version))
            wrong = changed(self.held.chain, self.table, entry, beside)
            if wrong.field in SINGLE:
                raise self._fault("hash", *wrong)
        try:
            made = self._decided(entry)
        except Found as refused:
            if wrong is not None and wrong.field == "e" and not refused.fault.field.startswith("e"):
                raise self._fault("hash", *wrong) from refused  # The rules were told of another field's change.
            raise
        if wrong is not None:
            raise self._fault("hash", *wrong)
        self.before, self.held = self.held, after(self.held, made.table, head)
        self.events = made.events
        self._note(made.events, Told(entry.version, entry.at, entry.events))

    def _decided(self, entry: Recorded) -> Step:
        """What the command behind `entry` does, which must be what is recorded. Raises Found."""
        try:
            loaded = _Loaded(entry.events)
            made = decided(self.table, self.held.table, entry, loaded.event(0), loaded.all)
        except Impossible as error:
            raise self._fault("legality", error.field, error.expected, error.found) from error
        except RuleViolation as refused:
            raise self._fault(
                "legality", "e", "what the rules allow", f"{refused.code}: {said(entry.events)}"
            ) from refused
        except Exception as error:
            raise self._fault("legality", "e", "the events of a command", f"{error!r}: {said(entry.events)}") from error
        if dump_events(made.events) != entry.events:
            self._differ(made.events, loaded)
        return made

    def _read(self, raw: RawEntry) -> Recorded:
        version = self.held.version + 1
        id_, flat = raw
        if id_ != b"%d-0" % version:
            raise self._fault("versions", "id", f"{version}-0", said(id_))
        names = list(flat[::2])
        if names != FIELDS and (names != FIELDS[:-1] or self.entry.hash):
            raise self._fault("versions", "fields", said(b" ".join(FIELDS)), said(b" ".join(names)))
        at, actor, key, mark, events, tag, *hash_ = flat[1::2]
        if not at.isdigit() or at != b"%d" % int(at):
            raise self._fault("versions", "at", "milliseconds", said(at))
        if not (actor and key and mark and tag):
            named = (("a", actor), ("k", key), ("f", mark), ("x", tag))
            raise self._fault("versions", next(name for name, value in named if not value), "some text", "none")
        for value in hash_:
            if len(value) != TEXT_LENGTH:
                raise self._fault("versions", "h", f"a hash of {TEXT_LENGTH} letters", said(value))
        try:
            told = (actor.decode(), key.decode(), mark.decode(), events, tag.decode(), b"".join(hash_).decode())
            return Recorded(version, int(at), *told)
        except UnicodeDecodeError as error:
            raise self._fault("versions", "fields", "text", repr(error)) from error

    def _differ(self, made: Sequence[Event], loaded: "_Loaded") -> None:
        """What is recorded is not what follows; unless an earlier version of this program has written it otherwise."""
        expected = [_decode(msgspec.json.encode(dump_event(event))) for event in made]
        try:
            stored = [_decode(text) for text in loaded.texts]
            if _is_older(stored) and tuple(loaded.all()) == tuple(made):
                return
        except Exception as error:
            raise self._fault("legality", "e", said(expected), f"{error!r}: {said(self.entry.events)}") from error
        field, wanted, found = _first_difference(expected, stored)
        check = "payments" if ".payments" in field else "points" if ".result" in field else "legality"
        raise self._fault(check, field, said(wanted), said(found))

    def _note(self, events: Sequence[Event], told: Told) -> None:
        """What the projections and the bank make of the entry."""
        self.chips, self.ended, self.sheet_before = [], None, self.sheet
        self.banked = {}
        played = [event for event in events if not isinstance(event, OfTable)]
        if len(played) + sum(isinstance(event, _PASSING) for event in events) == len(events):
            self._deal += played
            return
        number = next((event.deal for event in events if isinstance(event, DealEnded)), None)
        for event in events:
            if not isinstance(event, OfTable):
                self._deal.append(event)
                continue
            if isinstance(event, DealStarted):
                self._deal = []
                self.deals = event.deal
            before, self.sheet = self.sheet, turned(self.sheet, event, told)
            self.banked |= bank(before, event, self.sheet, told)
            match event:
                case ChipsBrought(player=player, chips=chips, transfer=transfer):
                    self.chips.append(Chips(transfer, told.version, player, chips, number))
                case ChipsReturned(player=player, chips=chips, transfer=transfer):
                    self.chips.append(Chips(transfer, told.version, player, -chips, number))
                case DealEnded():
                    self.ended = Ended(event.deal, told, self._deal, before, event)
        for field, expected, found in unlike(events, self._open_key) if self._open_key else ():
            raise self._fault("shuffle", field, expected, found)
        self._brought += sum([each.chips for each in self.chips])
        self._count()

    def _count(self) -> None:
        """Points and chips, counted without asking those who have decided them."""
        session = self.held.table.session
        if self.ended is not None:
            for field, expected, found in miscounted(self.held.table.state, self.ended.ended.payments):
                raise self._fault("points" if "points" in field else "payments", field, expected, found)
        if (sum(session.bank), sum(session.score)) != (self._brought, 0):
            raise self._fault(
                "payments",
                "e",
                f"{self._brought} chips at the seats, and scores of 0 together",
                f"{session.bank} and {session.score}",
            )

    def _fault(self, check: str, field: str, expected: str, found: str) -> Found:
        return Where(check, self.table, self._place).found(self._number, field, expected, found)


def _readable(raw: RawEntry | None) -> Recorded | None:
    try:
        return None if raw is None else recorded(raw)
    except (KeyError, ValueError):
        return None


class _Loaded:
    """The events of an entry, each read when it is asked for: of a move the first one is enough."""

    def __init__(self, events: bytes) -> None:
        self.texts = [bytes(text) for text in _split(events)]

    def event(self, number: int) -> Event:
        return _load(self.texts[number])

    def all(self) -> Sequence[Event]:
        return [_load(text) for text in self.texts]


def _load(stored: bytes) -> Event:
    return _load_common(stored) if len(stored) <= COMMON_BYTES_MAX else load_event(_decode(stored))


@lru_cache(maxsize=4096)
def _load_common(stored: bytes) -> Event:
    """The same plays come again in every deal."""
    return load_event(_decode(stored))


def _is_older(stored: Sequence[dict[str, object]]) -> bool:
    """Is there an event of a version that is no longer written? Such a one is spelt otherwise."""
    return any(each.get("v", 1) != present_version(str(each["type"])) for each in stored)


def _first_difference(expected: Any, found: Any, path: str = "e") -> tuple[str, Any, Any]:
    """The path of the first place where two JSON values differ, and what stands there in each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *(name for name in found if name not in expected)]:
            if expected.get(name, _ABSENT) != found.get(name, _ABSENT):
                return _first_difference(expected.get(name, _ABSENT), found.get(name, _ABSENT), f"{path}.{name}")
    if isinstance(expected, list) and isinstance(found, list):
        for number in range(max(len(expected), len(found))):
            one, other = (each[number] if number < len(each) else _ABSENT for each in (expected, found))
            if one != other:
                return _first_difference(one, other, f"{path}.{number}")
    if expected == found:
        return path, "the bytes in which this is written", "the same, spelt otherwise"
    return path, expected, found


_ABSENT: Final = "(nothing)"

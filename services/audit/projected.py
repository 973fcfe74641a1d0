"""The projections of a table against its events: what they remember, bank, records, scores, row in the lobby."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from services.archive import shelf
from services.audit.derived import Derived, has_place
from services.audit.fault import Fault, Where, apart, said, wrong_type
from services.audit.shelves import differences, shelf_of
from services.audit.walk import Ended, Walk
from services.projections.lobby import concerns_lobby, lobby
from services.projections.records import record_text
from services.projections.score import score
from services.store import keys, shelved
from services.store.cold import PastMissing
from services.store.outputs import Post, Row
from services.store.packing import Damaged, unpacked
from services.store.projected import BALANCES, booked_field, company_field, company_number
from services.store.shelved import BANK, RECORDS, SEALED, Shelf
from services.store.wire import Request, ask_many

PAGE: Final = 32
"""So many deals are compared in one round trip."""

_encode = msgspec.json.encode


class Wanted(NamedTuple):
    """A value that the store must hold: how it is asked for, how it is read, and where a fault in it lies; `of` are
    the kind and the deal with which it may leave the store."""

    request: Request
    read: Callable[[bytes], bytes]
    expected: bytes
    version: int
    field: str
    of: tuple[str, int] | None = None


class Scored(NamedTuple):
    """What a table has posted to the score of a player: how many postings, and their chips."""

    player: str
    postings: int
    chips: int


class Projections:
    """What the projections say of a table, as it was read before the walk began."""

    def __init__(self, redis: Redis, table: str, found: Derived) -> None:
        self._redis = redis
        self._table = table
        self._found = found
        self.version = found.projected.version if found.projected else 0
        self._wanted: list[Wanted] = []
        self._balances = b""
        self._moved = found.projected.moved if found.projected else 0
        self._companies: dict[str, bytes] = {}
        self._banked, self._recorded, self._sealed = 1 + (self._moved > 0), 0, 0
        self._shown_since: Row | None = None
        self._row: Row | None = None
        self.scored: dict[str, Scored] = {}

    def at(self, walk: Walk) -> Iterator[Fault]:
        """The faults of the version that `walk` has come to."""
        if walk.sheet is not walk.sheet_before:
            self._look_at_lobby(walk)
        if walk.version > self.version:
            return
        for field, text in walk.banked.items():
            self._bank(walk.version, field, text)
        if walk.ended is not None:
            yield from self._deal(walk.ended, walk.banked)
            if len(self._wanted) >= PAGE * 10:
                yield from self._compared()
        if walk.version == self.version:
            yield from self._compared()
            yield from self._standing(walk)

    def end(self, walk: Walk) -> Iterator[Fault]:
        """The faults of what belongs to no version, or to one that the table has not reached."""
        found, partition = self._found, keys.partition_of(self._table)
        if found.frozen is not None:
            yield self._at(keys.frozen(partition)).fault(0, self._table, "projections that go on", said(found.frozen))
        if self.version > walk.version:
            yield self._at(keys.fold(self._table)).fault(walk.version, "v", f"up to {walk.version}", str(self.version))
        if not found.is_listed:
            yield self._at(keys.tables(partition)).fault(0, self._table, "a member", "none")
        yield from self._lobby()

    def _deal(self, ended: Ended, banked: Mapping[str, bytes]) -> Iterator[Fault]:
        """The fields that are made of a finished deal: in the store, or in a file beside the archive."""
        deal, told, events, before, event = ended
        version, table = told.version, self._table
        shown, sealed = record_text(deal, events, before.seats)
        for post in score(before, table, told, event):
            self._post(post, version)
        company = company_field(company_number(banked.get(booked_field(deal))))
        if deal <= self._moved:
            yield from self._shelf(deal, version, shelf_of(deal, banked, self._companies, (shown, sealed)))
            return
        if deal == self._moved + 1 and company not in banked:  # It began before, and goes on.
            self._want_banked(version, company, self._companies[company])
        self._recorded += len(shown)
        self._sealed += 1
        for field, text in shown.items():
            self._want(RECORDS, deal, field, text, version)
        for field, text in sealed.items():
            self._want(SEALED, deal, field, text, version)

    def _shelf(self, deal: int, version: int, expected: Shelf) -> Iterator[Fault]:
        """The faults of the file of a deal whose fields have left the store: it holds these and no others."""
        where = self._at(shelf.name(deal))
        try:
            found = shelved.read(self._redis, self._table, deal)
        except (PastMissing, shelved.Elsewhere) as error:
            yield where.fault(version, "file", f"what was made of deal {deal}", str(error))
            return
        yield from differences(where, version, expected, found)

    def _bank(self, version: int, field: str, text: bytes) -> None:
        """A field is written once, but for the balances, which stand for the last version alone."""
        if field == BALANCES:
            self._balances = text
            return
        kind, _, deal = field.rpartition(":")
        if kind == "s":
            self._companies[field] = text
        if int(deal) > self._moved:
            self._want_banked(version, field, text)

    def _want_banked(self, version: int, field: str, text: bytes) -> None:
        self._banked += 1
        self._want(BANK, int(field.rpartition(":")[2]), field, text, version)

    def _post(self, post: Post, version: int) -> None:
        player, id_, place, chips, posting = post
        self._wanted.append(Wanted(("HGET", keys.balance(player), id_), _same, posting, version, id_))
        order = keys.score(player)
        self._wanted.append(Wanted(("ZSCORE", order, place), lambda _: b"there", b"there", version, place))
        _, count, sum_ = self.scored.get(player, Scored(player, 0, 0))
        self.scored[player] = Scored(player, count + 1, sum_ + chips)

    def _want(self, kind: str, deal: int, field: str, expected: bytes, version: int) -> None:
        request = "HGET", shelved.NAMES[kind](self._table), field
        read = _same if kind == BANK else _unpacked
        self._wanted.append(Wanted(request, read, expected, version, field, (kind, deal)))

    def _left(self, wanted: Wanted) -> bytes | None:
        """What is not in the store, if it has left that since the audit of the table began."""
        if wanted.of is None:
            return None
        (kind, deal), table = wanted.of, self._table
        [moved] = ask_many(self._redis, [("HGET", keys.bank(table), shelved.MOVED)])
        try:
            gone = shelved.gone(table, kind, moved)
            return shelved.filled(self._redis, gone, [(deal, wanted.field)], [None])[0]
        except (PastMissing, shelved.Elsewhere, ValueError, TypeError):
            return None

    def _compared(self) -> Iterator[Fault]:
        wanted, self._wanted = self._wanted, []
        replies = ask_many(self._redis, [each.request for each in wanted])
        for each, reply in zip(wanted, replies, strict=True):
            place = str(each.request[1])
            if isinstance(reply, ResponseError):
                yield self._at(place).fault(each.version, "type", "the type that this key has", wrong_type(reply))
                continue
            value = self._left(each) if reply is None else reply
            if value is None:
                yield self._at(place).fault(each.version, each.field, said(each.expected), "nothing")
                continue
            try:
                found = each.read(value)
            except Damaged as error:
                yield self._at(place).fault(each.version, each.field, "a record", f"what cannot be unpacked: {error}")
                continue
            if found != each.expected:
                yield self._at(place).fault(each.version, each.field, *apart(each.expected, found))

    def _standing(self, walk: Walk) -> Iterator[Fault]:
        """What is remembered, the balances, how many fields there are, and the lobby."""
        found, table, version = self._found.projected, self._table, walk.version
        assert found is not None
        state = _encode(walk.sheet)
        if found.state != state:
            yield self._at(keys.fold(table)).fault(version, "s", *apart(state, found.state))
        balances = self._balances
        if found.balances != balances:
            yield self._at(keys.bank(table)).fault(version, "balances", said(balances), said(found.balances))
        for key, expected, count in (
            (keys.bank(table), self._banked, found.banked),
            (keys.records(table), self._recorded, found.recorded),
            (keys.sealed_records(table), self._sealed, found.sealed),
        ):
            if count != expected:
                yield self._at(key).fault(version, "fields", f"{expected} fields", f"{count} fields")

    def _look_at_lobby(self, walk: Walk) -> None:
        """Remember since when the lobby must show what it shows, and the row as it is since the version it knows."""
        if concerns_lobby(walk.sheet_before, walk.sheet):
            row = lobby(self._table, walk.version, walk.sheet)
            if walk.version <= self.version:
                self._shown_since = row
            if self._found.lobby is not None and walk.version == self._found.lobby[0]:
                self._row = row

    def _lobby(self) -> Iterator[Fault]:
        """The row is written before the position of the projections: it is no older than that, though perhaps newer."""
        since, found = self._found.lobby or (0, None)
        table, least = self._table, self._shown_since.version if self._shown_since else 0
        if since < least or (since and self._row is None):
            yield self._at(keys.lobby_versions()).fault(
                since, table, f"version {least}, or a later one at which the row changed", str(since)
            )
            return
        row = self._row.row if self._row else b""
        if (found or b"") != row:
            yield self._at(keys.lobby()).fault(since, table, *apart(row or b"no row", found or b"no row"))
        if self._row is not None:
            stands = has_place(self._redis, table, self._row.place, since)
            if stands is not None and stands != bool(row):
                words = {True: "a member", False: "no member"}
                yield self._at(keys.lobby_order()).fault(since, self._row.place, words[bool(row)], words[stands])

    def _at(self, place: str) -> Where:
        return Where("projections", self._table, place)


def _same(stored: bytes) -> bytes:
    return stored


def _unpacked(stored: bytes) -> bytes:
    return unpacked(stored)

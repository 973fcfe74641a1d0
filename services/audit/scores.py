"""The scores of free tables: each player's postings are those that the tables have made, and their sum is his score."""

from collections.abc import Iterator

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from services.audit.fault import Fault, said, wrong_type
from services.audit.notes import Notes
from services.audit.projected import Scored
from services.store import keys
from services.store.projected import BALANCE
from services.store.rebuilding import key_names, scan_fields
from services.store.wire import ask, ask_all

TRIES_MAX = 3

_decode = msgspec.json.Decoder(dict[str, object]).decode


class Scores:
    """The audit of all scores against what tables have posted up to the versions at which they were audited."""

    def __init__(self, redis: Redis, notes: Notes) -> None:
        self._redis = redis
        self._notes = notes
        self._versions: dict[str, int | None] = {}

    def audit(self) -> Iterator[Fault]:
        """All faults of scores. Raises StoreUnavailable."""
        expected = self._notes.scores()
        names = key_names(self._redis, "pj:{p??}:[bs][ac][lo]*:*")
        stored = {name.rpartition(":")[2] for name in names if name.split(":")[2] in ("bal", "score")}
        for player in sorted(stored | expected.keys()):
            try:
                yield from self._player(player, expected.get(player, Scored(player, 0, 0)))
            except ResponseError as error:
                yield self._fault(player, "type", "the types of its keys", wrong_type(error), keys.balance(player))

    def _player(self, player: str, expected: Scored) -> Iterator[Fault]:
        place = keys.balance(player)
        is_quiet = False
        for _ in range(TRIES_MAX):
            before = self._balance(player)
            counted, total, faults = self._sum(player)
            is_quiet = before == self._balance(player)
            if is_quiet:
                break
        else:
            self._notes.skip("sums of scores that change faster than they can be added")
        yield from faults
        if counted != (expected.postings, expected.chips):
            yield self._fault(
                player,
                "postings",
                f"{expected.postings} postings of {expected.chips} chips",
                f"{counted[0]} of {counted[1]}",
                place,
            )
        balance, fields, places = before
        if is_quiet and balance != (None if not fields else b"%d" % total):
            yield self._fault(player, BALANCE, str(total), said(balance), place)
        if is_quiet and places != fields:
            yield self._fault(player, "members", f"{fields} places", str(places), keys.score(player))

    def _balance(self, player: str) -> tuple[bytes | None, int, int]:
        """The sum as it is kept, and the numbers of postings and of their places."""
        balance, fields, places = ask_all(
            self._redis,
            [
                ("HGET", keys.balance(player), BALANCE),
                ("HLEN", keys.balance(player)),
                ("ZCARD", keys.score(player)),
            ],
        )
        return balance, fields - (balance is not None), places

    def _sum(self, player: str) -> tuple[tuple[int, int], int, list[Fault]]:
        """The postings of audited versions and their chips, the chips of all, and what is wrong with single ones."""
        count, chips, total = 0, 0, 0
        faults: list[Fault] = []
        seen: set[bytes] = set()
        for field, text in scan_fields(self._redis, keys.balance(player)):
            if field == BALANCE.encode() or field in seen:
                continue
            seen.add(field)
            try:
                table, version, _ = field.decode().split(":")
                posted = _decode(text)["chips"]
                assert isinstance(posted, int)
                audited = self._version(table)
            except (ValueError, KeyError, AssertionError, msgspec.MsgspecError):
                faults.append(self._fault(player, said(field), "a posting", said(text), keys.balance(player)))
                continue
            total += posted
            if audited is None:
                faults.append(
                    self._fault(
                        player,
                        said(field),
                        "a posting of a table",
                        f"{said(text)}, of no table",
                        keys.balance(player),
                    )
                )
            elif int(version) <= audited:
                count += 1
                chips += posted
        return (count, chips), total, faults

    def _version(self, table: str) -> int | None:
        """Up to where the projections of a table were compared; 0 if it was opened since, None if there is none."""
        if table not in self._versions:
            version = self._notes.projected(table)
            if version is None and keys.is_table_id(table) and ask(self._redis, "EXISTS", keys.events(table)):
                version = 0
            self._versions[table] = version
        return self._versions[table]

    def _fault(self, player: str, field: str, expected: str, found: str, place: str) -> Fault:
        return Fault(
            check="projections", account=player, version=0, field=field, expected=expected, found=found, place=place
        )

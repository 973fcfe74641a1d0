"""The read side: a table as one seat may see it, what that seat was told, the answers to its commands.

Where replicas must confirm, what is read here is shown only once they have it: it can not be taken back.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from redis import Redis

from services.store import keys
from services.store.wire import Reply, ask_all, fields_of

SPECTATOR = b'"seat":null,"hand":[],"legal":[]'

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Current(NamedTuple):
    """A table now. `public` and `private` are JSON members without braces; `who` are player ids by seat."""

    version: int
    public: bytes
    private: tuple[bytes, bytes, bytes]
    who: tuple[str, ...]
    code: str
    settled: int


class Item(NamedTuple):
    """What one version told: the JSON array of its events, for a spectator (None) and for each seat."""

    version: int
    at: int
    events: dict[int | None, bytes]


class Feed(NamedTuple):
    """A stretch of what a table told. `gone`: versions after the one asked for are no longer kept."""

    version: int  # The table's now.
    items: list[Item]
    oldest: int  # The first version that is kept.
    more: bool
    gone: bool


def current(redis: Redis, table: str) -> Current | None:
    """The table now, or None when it does not exist."""
    [found] = current_many(redis, [table])
    return found


def current_many(redis: Redis, tables: Sequence[str]) -> list[Current | None]:
    """`current` of each, in one round trip."""
    replies = ask_all(redis, [("HMGET", keys.view(table), *_VIEW) for table in tables], confirmed=True)
    return [_current(reply) for reply in replies]


def seat_in(table: Current, actor: str) -> int | None:
    """The seat of a player or of `bot:<seat>`, or None."""
    return table.who.index(actor) if actor and actor in table.who else None


def view_bytes(table: Current, seat: int | None) -> bytes:
    """The view of `seat`, or of a spectator, as a JSON object."""
    private = SPECTATOR if seat is None else table.private[seat]
    return b"{%b,%b}" % (table.public, private)


def receipt(redis: Redis, aggregate: str, actor: str, key: str) -> dict[str, Any] | None:
    """The answer to a command: `{"s": "applied" | "refused" | "queued", …}`, or None when unknown."""
    field = keys.receipt_field(actor, key)
    asked = [("HGET", keys.receipts(aggregate), field), ("HGET", keys.reservations(aggregate), field)]
    replies = ask_all(redis, asked, confirmed=True)
    if replies[0] is not None:
        return _decode(replies[0])
    return None if replies[1] is None else {"s": "queued"}


def feed(redis: Redis, table: str, after: int, limit: int) -> Feed | None:
    """At most `limit` items after version `after`, or None when the table does not exist. One round trip."""
    name = keys.feed(table)
    found, first, version = ask_all(
        redis,
        [
            ("XRANGE", name, f"{after + 1}-0", "+", "COUNT", limit),
            ("XRANGE", name, "-", "+", "COUNT", 1),
            ("HGET", keys.view(table), "v"),
        ],
        confirmed=True,
    )
    if version is None:
        return None
    now = int(version)
    items = [_item(id_, flat) for id_, flat in found]
    start = items[0].version if items else now + 1
    return Feed(
        now,
        items,
        oldest=_version(first[0][0]) if first else now + 1,
        more=bool(items) and items[-1].version < now,
        gone=start > after + 1,
    )


_VIEW = ("v", "p", "q")


def _current(values: list[bytes]) -> Current | None:
    version, play, rest = values
    if version is None:
        return None
    brief, first, second, third = play.split(b"\0")
    about, who, code, settled = rest.split(b"\0")
    seats = tuple(who.decode().split("|"))
    return Current(
        int(version), b"%b,%b" % (brief, about), (first, second, third), seats, code.decode(), int(settled)
    )


def _item(id_: bytes, flat: Reply) -> Item:
    fields = fields_of(flat)
    public = fields[b"e"]
    events: dict[int | None, bytes] = {seat: fields.get(b"e%d" % seat, public) for seat in range(3)}
    events[None] = public
    return Item(_version(id_), int(fields[b"at"]), events)


def _version(id_: bytes) -> int:
    return int(id_.partition(b"-")[0])

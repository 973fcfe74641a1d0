"""What the projections have written, for those who answer questions with it; nothing here is the truth."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from redis import Redis

from engine.table import SEATS
from services.store import keys, shelved
from services.store.accounts import Ledger, Posting, UnknownPosting
from services.store.packing import unpacked
from services.store.wire import ask, ask_all

BALANCE, BALANCES = "balance", "balances"

_decode = msgspec.json.decode
_encode = msgspec.json.encode


class Lobby(NamedTuple):
    """A page of the lobby, the newest table first: JSON rows, and the `after` of the next page, if any."""

    rows: tuple[bytes, ...]
    next: str | None


class Booked(msgspec.Struct, frozen=True, array_like=True):
    """Where and when (ms) a deal ended, what lay at the seats then, and the deal with which those began to play who
    sat there: the number of their Company."""

    version: int
    at: int
    balances: tuple[int, ...]
    company: int


class Holder(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Who held a seat in a deal: a player, or a bot of policy `bot`; `away`: he had left when it ended."""

    player: str = ""
    name: str = ""
    bot: str = ""
    away: bool = False


class Company(msgspec.Struct, frozen=True):
    """Who held the seats in a deal and those after it, and after how many deals the session was to end."""

    seats: tuple[Holder, ...]
    deals: int | None


class DealPaid(NamedTuple):
    """What deal number `deal` paid, chips by seat. `booked` None: by a build that did not note it."""

    deal: int
    payments: tuple[int, ...]
    booked: Booked | None = None


class Bank(NamedTuple):
    """What lies at the seats of a table, and a page of the deals that made it; `next` as in Lobby."""

    balances: tuple[int, ...]
    deals: tuple[DealPaid, ...]
    next: int | None


class Page(NamedTuple):
    """A page of a Bank, with the Companies that its deals name."""

    bank: Bank
    companies: dict[int, Company]


_decode_booked = msgspec.json.Decoder(Booked).decode
_decode_company = msgspec.json.Decoder(Company).decode
read_page = msgspec.json.Decoder(Page).decode
"""A Page from its JSON."""


def posting_place(at: int, table: str, version: int, seat: int) -> str:
    """Where a posting stands among those of its player: by time, the same whoever projects in which order."""
    return f"{at:015d}-{table}-{version:09d}-{seat}"


def table_place(opened_at: int, table: str) -> str:
    """Where a table stands in the lobby."""
    return f"{opened_at:015d}-{table}"


def lobby(redis: Redis, after: str | None, limit: int) -> Lobby:
    """The public tables that are not finished; `after` is the `next` of the page before."""
    start = "+" if after is None else f"({after}"
    places = ask(redis, "ZREVRANGEBYLEX", keys.lobby_order(), start, "-", "LIMIT", 0, limit + 1)
    shown = places[:limit]
    if not shown:
        return Lobby((), None)
    rows = ask(redis, "HMGET", keys.lobby(), *(place.partition(b"-")[2] for place in shown))
    following = shown[-1].decode() if len(places) > limit else None
    return Lobby(tuple(row for row in rows if row is not None), following)


def score(redis: Redis, player: str, after: str | None, limit: int) -> Ledger:
    """The postings at free tables that follow the one with the id `after`. Raises UnknownPosting."""
    start = "-" if after is None else f"({_place_of(redis, player, after)}"
    places, balance = ask_all(
        redis,
        [
            ("ZRANGEBYLEX", keys.score(player), start, "+", "LIMIT", 0, limit),
            ("HGET", keys.balance(player), BALANCE),
        ],
    )
    ids = [_id_of(place.decode()) for place in places]
    found = ask(redis, "HMGET", keys.balance(player), *ids) if ids else []
    return Ledger(int(balance or 0), tuple(Posting(**_decode(posting)) for posting in found))


def _place_of(redis: Redis, player: str, id_: str) -> str:
    found = ask(redis, "HGET", keys.balance(player), id_) if id_.count(":") == 2 else None
    if found is None:
        raise UnknownPosting(id_)
    table, version, seat = id_.split(":")
    return posting_place(_decode(found)["at"], table, int(version), int(seat))


def _id_of(place: str) -> str:
    """The id `<table>:<version>:<seat>` of a posting at `place`."""
    _, rest = place.split("-", 1)
    table, version, seat = rest.rsplit("-", 2)
    return f"{table}:{int(version)}:{seat}"


def bank(redis: Redis, table: str, after: int, limit: int) -> Bank:
    """The standing of a table and the deals after number `after`; a table without a past has nothing.

    Raises Elsewhere where some have left the store and no archive is attached to read them in; PastMissing,
    StoreUnavailable.
    """
    asked = range(after + 1, after + limit + 2)
    wanted = [(0, BALANCES), *((deal, str(deal)) for deal in asked), *((deal, booked_field(deal)) for deal in asked)]
    balances, *found = _banked(redis, table, wanted)
    if balances is None:
        return Bank((0,) * SEATS, (), None)
    paid = [
        DealPaid(deal, tuple(_decode(payments)), None if booked is None else _decode_booked(booked))
        for deal, payments, booked in zip(asked, found[: len(asked)], found[len(asked) :], strict=True)
        if payments is not None
    ]
    return Bank(tuple(_decode(balances)), tuple(paid[:limit]), after + limit if len(paid) > limit else None)


def page(redis: Redis, table: str, after: int, limit: int) -> Page:
    """`bank`, and who held the seats in its deals. Raises as `bank`."""
    found = bank(redis, table, after, limit)
    noted = (paid.booked for paid in found.deals if paid.booked is not None)
    return Page(found, companies(redis, table, (each.company for each in noted)))


def booked(redis: Redis, table: str, deals: Sequence[int]) -> list[Booked | None]:
    """Where each of `deals` ended; None: it has not, or nobody has noted it. Raises as `bank`."""
    found = _banked(redis, table, [(deal, booked_field(deal)) for deal in deals])
    return [None if each is None else _decode_booked(each) for each in found]


def has_ended(redis: Redis, table: str, deal: int) -> bool:
    """Is deal number `deal` in the bank of its table? Raises as `bank`."""
    return bool(_banked(redis, table, [(deal, str(deal))])[0])


def companies(redis: Redis, table: str, numbers: Iterable[int]) -> dict[int, Company]:
    """Who held the seats, by the numbers of `Booked.company`. Raises as `bank`."""
    wanted = sorted(set(numbers))
    found = _banked(redis, table, [(number, company_field(number)) for number in wanted]) if wanted else []
    return {number: _decode_company(each) for number, each in zip(wanted, found, strict=True) if each is not None}


def _banked(redis: Redis, table: str, wanted: Sequence[tuple[int, str]]) -> list[bytes | None]:
    """Fields of the bank, each with the deal that it belongs to, also those that have left the store."""
    moved, *found = ask(redis, "HMGET", keys.bank(table), shelved.MOVED, *(field for _, field in wanted))
    return shelved.filled(redis, shelved.gone(table, shelved.BANK, moved), wanted, found)


def _recorded(redis: Redis, table: str, kind: str, deal: int, names: Sequence[str]) -> list[bytes | None]:
    """Fields of the records of a deal, also if they have left the store."""
    found: list[bytes | None] = ask(redis, "HMGET", shelved.NAMES[kind](table), *names)
    if found[0] is not None:
        return found
    moved = ask(redis, "HGET", keys.bank(table), shelved.MOVED)
    return shelved.filled(redis, shelved.gone(table, kind, moved), [(deal, name) for name in names], found)


def booked_field(deal: int) -> str:
    """The field of a deal's Booked in the bank of its table."""
    return f"d:{deal}"


def company_field(deal: int) -> str:
    """The field of a Company."""
    return f"s:{deal}"


def company_number(booked: bytes | None) -> int:
    """The number of the Company of a deal whose Booked is this (JSON), 0: it has none."""
    return 0 if booked is None else _decode_booked(booked).company


def record(redis: Redis, table: str, deal: int, reader: str | None) -> bytes | None:
    """The record of a finished deal (JSON) as the player `reader` may know it, None: as anybody may.

    It goes by who held which seat in that deal, not by who holds it now. Raises as `bank`.
    """
    own = () if reader is None else (f"{deal}:{reader}",)
    public, *overlay = _recorded(redis, table, shelved.RECORDS, deal, (str(deal), *own))
    if public is None:
        return None
    text = unpacked(public)
    return _laid_over(text, overlay[0]) if overlay and overlay[0] is not None else text


def whole_record(redis: Redis, table: str, deal: int) -> bytes | None:
    """The record of a finished deal with every card (JSON), for auditors. Raises as `bank`."""
    [found] = _recorded(redis, table, shelved.SEALED, deal, (str(deal),))
    return None if found is None else unpacked(found)


def _laid_over(public: bytes, overlay: bytes) -> bytes:
    """The public record with what one seat knows more: `{"deck": {place: card}, "moves": {place: {…}}}`."""
    record: dict[str, Any] = _decode(public)
    more: dict[str, dict[str, Any]] = _decode(unpacked(overlay))
    for place, card in more["deck"].items():
        record["deck"][int(place)] = card
    for place, fields in more["moves"].items():
        record["moves"][int(place)] |= fields
    return _encode(record)

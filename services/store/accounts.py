"""Accounts of chips: each is a stream of postings, decided by the engine's bank.

The two sides of a buy-in lie apart: the account here, the table in its own history. In this order nothing is
lost whoever dies in between, and nothing is paid twice, as each step may be repeated by its transfer's id:
`withdraw`, then the sit is decided and applied; only once its refusal is stored, `refund`. A buy-in stays in
`under_way` until `arrived` or `refund`, so that one forgotten by a dead process is found and settled.
"""

from collections.abc import Sequence
from typing import NamedTuple

from redis import Redis

from engine.bank import Bank, Command, Refund, Transfer, Transferred, decide, evolve, refund_of
from services.store import chain, keys, scripts
from services.store.wire import Argument, Fields, ask, ask_all, fields_of

OPENING_CHIPS = 10_000
ATTEMPTS_MAX = 64
"""A lost race means that another transfer was posted, so this many in a row is a fault, not bad luck."""

_ACCOUNT = scripts.load("account")
_TABLE = "table:"


class Posting(NamedTuple):
    """`chips` came to (+) or went from (-) a player by the transfer or event `id`, `at` ms since the epoch.

    `table`, `deal` and `version` lead to the event; None where there is none (an opening grant) or none yet.
    """

    id: str
    chips: int
    table: str | None
    deal: int | None
    version: int | None
    at: int


class Ledger(NamedTuple):
    """A player's balance now, and a page of postings in order."""

    balance: int
    postings: tuple[Posting, ...]


class Origin(NamedTuple):
    """The event of a table that moved chips, and the deal that ended with it, if any."""

    table: str
    deal: int | None
    version: int


class BuyIn(NamedTuple):
    """Chips that left `player` for `table` at `at` (ms) by `transfer`, and are not known to have come."""

    player: str
    table: str
    transfer: str
    at: int


class UnknownPosting(Exception):
    """A page was asked for after a posting that the ledger does not hold."""


class Contended(Exception):
    """An account changed at every attempt."""


def house_of(partition: str) -> str:
    """The house's account in a partition: what it lends to a player's account is posted in the same step."""
    return f"u-{partition}-house"


def open_account(redis: Redis, player: str, chips: int = OPENING_CHIPS) -> None:
    """Give `player` an account with `chips` from the house; done once, whatever `chips` says later."""
    transfer = f"grant-{player}"
    if ask(redis, "HEXISTS", keys.transfers(player), transfer):
        return
    house = house_of(keys.partition_of(player))
    _post(redis, _Order([player, house], Transfer(id=transfer, debit=house, credit=player, chips=chips)))


def withdraw(redis: Redis, player: str, transfer: str, chips: int, table: str) -> None:
    """Move `chips` from `player` towards `table`. Raises RuleViolation, such as `insufficient_chips`."""
    moved = Transfer(id=transfer, debit=player, credit=_TABLE + table, chips=chips)
    _post(redis, _Order([player], moved, under_way="+"))


def refund(redis: Redis, player: str, transfer: str) -> None:
    """Give back what was withdrawn by `transfer`, if anything was: its sit has been refused for good."""
    _post(redis, _Order([player], Refund(id=transfer), under_way="-"))


def arrived(redis: Redis, buy_in: BuyIn) -> None:
    """The table's history holds the chips of this buy-in."""
    partition = keys.partition_of(buy_in.player)
    ask(redis, "HDEL", keys.buy_ins(partition), _field(buy_in.player, buy_in.table, buy_in.transfer))


def deposit(redis: Redis, player: str, transfer: str, chips: int, origin: Origin) -> None:
    """Move `chips`, which a table returned, to the account of `player`, which may be the house."""
    moved = Transfer(id=transfer, debit=_TABLE + origin.table, credit=player, chips=chips)
    _post(redis, _Order([player], moved, origin=origin))


def lend(redis: Redis, transfer: str, chips: int, origin: Origin) -> None:
    """Post what the house has brought to a table for a bot."""
    moved = Transfer(id=transfer, debit=keys.HOUSE, credit=_TABLE + origin.table, chips=chips)
    _post(redis, _Order([keys.HOUSE], moved, origin=origin))


def balance(redis: Redis, player: str) -> int | None:
    """The chips of `player`; None when there is no account."""
    found = ask(redis, "HGET", keys.account(player), "b")
    return None if found is None else int(found)


def postings(redis: Redis, player: str, after: str | None, limit: int) -> Ledger:
    """The postings that follow the one with the id `after` (None: the first ones). Raises UnknownPosting."""
    start = "-" if after is None else f"({_place(redis, player, after)}-0"
    chips, entries = ask_all(
        redis,
        [
            ("HGET", keys.account(player), "b"),
            ("XRANGE", keys.postings(player), start, "+", "COUNT", limit),
        ],
    )
    return Ledger(int(chips or 0), tuple(_posting(player, fields_of(flat)) for _, flat in entries))


def under_way(redis: Redis, partition: str) -> list[BuyIn]:
    """The buy-ins of the partition's players that are not known to have come to their table."""
    found = fields_of(ask(redis, "HGETALL", keys.buy_ins(partition)))
    return [_buy_in(field.decode(), int(at)) for field, at in found.items()]


def _buy_in(field: str, at: int) -> BuyIn:
    player, _, rest = field.partition("|")
    table, _, transfer = rest.partition("|")
    return BuyIn(player, table, transfer, at)


def _place(redis: Redis, player: str, transfer: str) -> int:
    found = ask(redis, "HGET", keys.transfers(player), transfer)
    if found is None:
        raise UnknownPosting(transfer)
    return int(found)


class _Order(NamedTuple):
    """A command for `accounts`, which live in one partition; `under_way` as in the script."""

    accounts: Sequence[str]
    command: Command
    under_way: str = ""
    origin: Origin | None = None


class _Seen(NamedTuple):
    """What a decision was made on: the bank as far as needed, the version of each account and the hash of its last
    posting (b"": none), the time in ms."""

    bank: Bank
    versions: tuple[int, ...]
    heads: tuple[bytes, ...]
    now: int


def _post(redis: Redis, order: _Order) -> None:
    """Decide the order and write what it moves, if anything. Raises RuleViolation, Contended."""
    for _ in range(ATTEMPTS_MAX):
        seen = _read(redis, order)
        events = decide(seen.bank, order.command)
        if not events:
            return
        if _write(redis, order, seen, events[0]):
            return
    raise Contended(order.accounts[0])


def _read(redis: Redis, order: _Order) -> _Seen:
    first, transfer = order.accounts[0], order.command.id
    (seconds, micros), places, *rows = ask_all(
        redis,
        [
            ("TIME",),
            ("HMGET", keys.transfers(first), transfer, refund_of(transfer)),
            *(("HMGET", keys.account(account), "v", "b", "h") for account in order.accounts),
        ],
        confirmed=True,  # It may have been done before, by somebody who does not know that it is for good.
    )
    balances = {account: int(chips or 0) for account, (_, chips, _) in zip(order.accounts, rows, strict=True)}
    bank = Bank(balances, _earlier(redis, first, [int(place) for place in places if place is not None]))
    now = int(seconds) * 1000 + int(micros) // 1000
    heads = tuple(chain.digest(head.decode()) if head else b"" for _, _, head in rows)
    return _Seen(bank, tuple(int(version or 0) for version, *_ in rows), heads, now)


def _earlier(redis: Redis, account: str, places: Sequence[int]) -> dict[str, Transferred]:
    """The transfers at `places` of the account's postings, by id."""
    if not places:
        return {}
    asked = [("XRANGE", keys.postings(account), f"{n}-0", f"{n}-0") for n in places]
    found = ask_all(redis, asked, confirmed=True)
    events = [_transferred(fields_of(flat)) for ((_, flat),) in found]
    return {event.id: event for event in events}


def _write(redis: Redis, order: _Order, seen: _Seen, event: Transferred) -> bool:
    """Write the posting to each account; False when one has moved on since it was read."""
    balances = evolve(seen.bank, event).balances
    first = order.accounts[0]
    names: list[Argument] = [keys.buy_ins(keys.partition_of(first))]
    rows: list[Argument] = []
    posting = _fields(event, order.origin, seen.now)
    for account, version, head in zip(order.accounts, seen.versions, seen.heads, strict=True):
        names += [keys.account(account), keys.transfers(account), keys.postings(account)]
        link = chain.text(chain.posting_link(head, account, version + 1, posting))
        rows += [version, version + 1, balances[account], link]
    field = _field(first, _table_of(event) or "", order.command.id)
    arguments = (event.id, order.under_way, field, seen.now, len(posting), *posting, *rows)
    return bool(scripts.run(redis, _ACCOUNT, names, arguments, confirmed=True))


def _field(player: str, table: str, transfer: str) -> str:
    return f"{player}|{table}|{transfer}"


def _fields(event: Transferred, origin: Origin | None, now: int) -> list[Argument]:
    both_sides: list[Argument] = ["id", event.id, "debit", event.debit, "credit", event.credit]
    facts: list[Argument] = []
    if origin is not None:
        facts += ["version", origin.version]
    if origin is not None and origin.deal is not None:
        facts += ["deal", origin.deal]
    return [*both_sides, "chips", event.chips, "at", now, *facts]


def _transferred(fields: Fields) -> Transferred:
    return Transferred(
        id=fields[b"id"].decode(),
        debit=fields[b"debit"].decode(),
        credit=fields[b"credit"].decode(),
        chips=int(fields[b"chips"]),
    )


def _table_of(event: Transferred) -> str | None:
    for account in (event.debit, event.credit):
        if account.startswith(_TABLE):
            return account.removeprefix(_TABLE)
    return None


def _posting(player: str, fields: Fields) -> Posting:
    event = _transferred(fields)
    deal, version = fields.get(b"deal"), fields.get(b"version")
    return Posting(
        id=event.id,
        chips=event.chips if event.credit == player else -event.chips,
        table=_table_of(event),
        deal=None if deal is None else int(deal),
        version=None if version is None else int(version),
        at=int(fields[b"at"]),
    )

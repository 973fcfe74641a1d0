"""The bank: every account by its postings, every posting by the event or grant it comes from, every chip accounted for.

An account is read up to a version of its own. What it has of tables that went on since they were audited is looked up
in their streams; what is still on its way between an account and a table counts on neither side.
"""

from collections.abc import Iterable, Iterator, Sequence

from redis import Redis
from redis.exceptions import ResponseError

from engine.bank import is_limited, refund_of
from services.audit.fault import Fault, Where, said, wrong_type
from services.audit.notes import Notes
from services.audit.strange import of_accounts
from services.audit.transfers import Posted, Postings, account_of, knows, later_chips, not_posted, waiting
from services.audit.walk import Chips
from services.store import accounts, keys
from services.store.accounts import house_of
from services.store.outbox import place as place_of
from services.store.rebuilding import key_names
from services.store.wire import ask, ask_all, fields_of

PAGE = 500
_FACTS = {b"v", b"b", b"h"}
"""The fields of an account."""


class Bank:
    """The audit of all accounts. `accounts` and `postings` count what was looked at, `chips` what players hold."""

    def __init__(self, redis: Redis, notes: Notes, partitions: Sequence[str]) -> None:
        self._redis = redis
        self._notes = notes
        self._partitions = partitions
        self._later: dict[str, dict[str, Chips]] = {}
        self._total = 0
        self.accounts = 0
        self.postings = 0
        self.chips = 0

    def audit(self) -> Iterator[Fault]:
        """All faults of accounts. Raises StoreUnavailable."""
        notes = self._notes
        notes.begin_accounts()
        under_way = {each.transfer for part in self._partitions for each in accounts.under_way(self._redis, part)}
        found = _keys(self._redis)
        yield from of_accounts(found)
        for account in _all_accounts(found):
            try:
                yield from self._account(account, under_way)
            except (KeyError, ValueError) as error:
                yield _at(account, keys.postings(account)).fault(0, "posting", "fields of a posting", repr(error))
            except ResponseError as error:
                yield _at(account, keys.account(account)).fault(0, "type", "the types of its keys", wrong_type(error))
            self.accounts += 1
        yield from self._unposted()
        total = self._total + notes.totals.at_seats
        if notes.totals.broken:
            notes.skip("conservation of chips: tables with faults may hold any number")
        elif total:
            yield Fault(
                check="conservation",
                account="all",
                version=0,
                field="chips",
                expected="0 together",
                found=f"{total:+d}",
                place="all accounts and tables",
            )

    def _account(self, account: str, under_way: set[str]) -> Iterator[Fault]:
        facts = fields_of(ask(self._redis, "HGETALL", keys.account(account)))
        if facts.keys() - _FACTS:
            known = said(b" ".join(sorted(_FACTS)))
            yield _at(account, keys.account(account)).fault(0, "fields", known, said(b" ".join(sorted(facts))))
        stored = facts.get(b"b")
        last, balance, low = int(facts.get(b"v", 0)), 0, 0
        seen: dict[str, int] = {}
        place = keys.postings(account)
        bought: list[Posted] = []
        linked = Postings(account)
        for number, posted in enumerate(self._read(account, last), start=1):
            if posted.place != number:
                yield _at(account, place).fault(number, "id", f"{number}-0", f"{posted.place}-0")
                return
            if posted.id in seen or account not in (posted.debit, posted.credit) or posted.chips <= 0:
                yield _at(account, place).fault(
                    number, "id", "another transfer of this account", said(posted._asdict())
                )
            seen[posted.id] = number
            balance += posted.chips if posted.credit == account else -posted.chips
            low = min(low, balance)
            self.postings += 1
            if (wrong := linked.take(posted)) is not None:
                yield _at(account, place).fault(number, *wrong)
            yield from self._posting(account, posted, bought)
        if (facts.get(b"h") or b"").decode(errors="replace") != linked.head:
            yield _at(account, keys.account(account)).fault(last, "h", linked.head or "none", said(facts.get(b"h")))
        yield from self._balance(account, last, (stored, balance, low), seen)
        yield from self._buy_ins(account, bought, under_way, seen)
        self._total += balance
        if is_limited(account):
            self.chips += balance

    def _balance(
        self, account: str, last: int, balances: tuple[bytes | None, int, int], seen: dict[str, int]
    ) -> Iterator[Fault]:
        """The balance and the index of transfers are what the postings say."""
        stored, balance, low = balances
        if len(seen) != last:
            yield _at(account, keys.postings(account)).fault(last, "v", f"{last} postings", f"{len(seen)}")
        if stored != b"%d" % balance:
            yield _at(account, keys.account(account)).fault(last, "b", str(balance), said(stored))
        if low < 0 and is_limited(account):
            yield _at(account, keys.account(account)).fault(last, "b", "never less than 0", str(low))
        index = {
            name.decode(): value
            for name, value in fields_of(ask(self._redis, "HGETALL", keys.transfers(account))).items()
        }
        for id_ in sorted(seen.keys() | index.keys()):
            number, known = seen.get(id_), index.get(id_)
            newer = number is None and known is not None and known.isdigit() and int(known) > last
            if not newer and known != (None if number is None else b"%d" % number):
                yield _at(account, keys.transfers(account)).fault(number or 0, id_, said(number), said(known))
        yield from self._beyond(account, last)

    def _beyond(self, account: str, last: int) -> Iterator[Fault]:
        """A posting is written together with the version of its account, which is at least that by now."""
        replies = ask_all(self._redis, [
            ("XREVRANGE", keys.postings(account), "+", f"({last}-0", "COUNT", 1),
            ("HGET", keys.account(account), "v"),
        ])
        found, now = replies[0], int(replies[1] or 0)
        if found and place_of(found[0][0].decode()) > (now, 0):
            yield _at(account, keys.postings(account)).fault(now, "id", f"none after {now}-0", found[0][0].decode())

    def _read(self, account: str, last: int) -> Iterator[Posted]:
        """The postings of an account up to number `last`."""
        start, end = "-", f"{last}-0"
        while last and (page := ask(self._redis, "XRANGE", keys.postings(account), start, end, "COUNT", PAGE)):
            for id_, flat in page:
                fields = {name.decode(): value.decode() for name, value in fields_of(flat).items()}
                deal, version = fields.get("deal"), fields.get("version")
                int(fields["at"])
                yield Posted(
                    int(id_.partition(b"-")[0]),
                    *(fields["id"], fields["debit"], fields["credit"], int(fields["chips"])),
                    None if deal is None else int(deal),
                    None if version is None else int(version),
                    tuple(flat[:-2] if b"h" in flat[-2:-1] else flat),
                    fields.get("h", ""),
                )
            start = f"({page[-1][0].decode()}"

    def _posting(self, account: str, posted: Posted, bought: list[Posted]) -> Iterator[Fault]:
        """What a posting comes from."""
        table = posted.table
        if posted.id.endswith("/refund"):
            return  # With the buy-in that it takes back.
        if not table:
            yield from self._grant(account, posted)
        elif posted.debit == account and account != keys.HOUSE:
            bought.append(posted)
        else:
            yield from self._of_table(account, posted, table)

    def _grant(self, account: str, posted: Posted) -> Iterator[Fault]:
        """Between the house and a player; it is in both accounts, and counts in neither: it is made in one step."""
        player = posted.credit
        house = house_of(keys.partition_of(player))
        other = player if account == house else house
        self._total -= posted.chips if posted.credit == account else -posted.chips
        is_known = posted.debit == house and posted.id == f"grant-{player}" and knows(self._redis, other, posted.id)
        if not is_known:
            yield _at(account, keys.postings(account)).fault(
                posted.place, posted.id, f"a grant, also in the account {other}", said(posted._asdict())
            )

    def _of_table(self, account: str, posted: Posted, table: str) -> Iterator[Fault]:
        """The other side lies in the table's events."""
        found = self._event(table, posted)
        if found is None:
            if not self._is_broken(table):
                yield self._unknown(account, posted, table)
            return
        event, is_audited = found
        signed = posted.chips if posted.debit == account else -posted.chips
        told = (account_of(event), event.chips, event.version, event.deal)
        if (account, signed, posted.version, posted.deal) != told:
            yield _at(account, keys.postings(account)).fault(
                posted.place, posted.id, f"(account, chips, version, deal) {told}", said(posted._asdict())
            )
        if not is_audited:
            self._total += signed

    def _buy_ins(
        self, account: str, bought: Sequence[Posted], under_way: set[str], seen: dict[str, int]
    ) -> Iterator[Fault]:
        """What left an account has come to its table, or is back, or is known to be on its way."""
        for posted in bought:
            found = self._event(posted.table, posted)
            is_back = refund_of(posted.id) in seen
            if is_back and found is None:
                continue
            if found is not None and not is_back:
                event, is_audited = found
                if (event.player, event.chips) != (account, posted.chips):
                    yield _at(account, keys.postings(account)).fault(
                        posted.place, posted.id, f"{event.chips} chips of {event.player}", said(posted._asdict())
                    )
                if not is_audited:
                    self._total += posted.chips
                continue
            self._total += posted.chips
            if is_back or (posted.id not in under_way and not self._is_broken(posted.table)):
                yield self._unknown(account, posted, posted.table)
        refunded = {each.removesuffix("/refund") for each in seen if each.endswith("/refund")}
        for id_ in sorted(refunded - {each.id for each in bought}):
            yield _at(account, keys.postings(account)).fault(
                seen[refund_of(id_)], refund_of(id_), f"a buy-in {id_} before it", "none"
            )

    def _is_broken(self, table: str) -> bool:
        return (self._notes.version(table) or 0) < 0

    def _unknown(self, account: str, posted: Posted, table: str) -> Fault:
        return _at(account, keys.postings(account)).fault(
            posted.place, posted.id, f"an event of {table} that moves these chips", said(posted._asdict())
        )

    def _event(self, table: str, posted: Posted) -> tuple[Chips, bool] | None:
        """The table's side of a posting, and whether it is one of the audited versions."""
        found = self._notes.take_chips(posted.id)
        if found is not None:
            return (found[1], True) if found[0] == table else None
        version = self._notes.version(table) or 0  # One that is not known was opened since, or never.
        if version < 0 or not keys.is_table_id(table):
            return None
        if table not in self._later:
            self._later[table] = later_chips(self._redis, table, version)
        event = self._later[table].get(posted.id)
        return None if event is None else (event, False)

    def _unposted(self) -> Iterator[Fault]:
        """Chips of tables that no account knew when it was read: posted since, still on their way, or lost."""
        unhandled = waiting(self._redis, self._partitions)
        for table, event in self._notes.unposted():
            self._total -= event.chips
            if knows(self._redis, account_of(event), event.transfer):
                continue
            if (table, event.version) in unhandled:
                self._notes.skip("chips that the settlement has not come to yet")
                continue
            yield not_posted(table, event, "none")


def _all_accounts(found: Iterable[str]) -> list[str]:
    """Every account: players before the house of their partition, whose grants are then in its account for certain."""
    return sorted({name.split(":", 3)[3] for name in found}, key=lambda account: (account.endswith("-house"), account))


def _keys(redis: Redis) -> list[str]:
    """All keys of accounts, by one walk for all kinds."""
    return [name for name in key_names(redis, "m:{p??}:[apt]*:*") if name.split(":")[2] in ("acct", "post", "tr")]


def _at(account: str, place: str) -> Where:
    return Where("bank", account, place)

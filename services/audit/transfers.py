"""Transfers between tables and accounts: a posting as an account holds it, and what a table's events say of it."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from engine.table.events import ChipsBrought, ChipsReturned, DealEnded
from schemas.table import load_events
from services.audit.fault import Fault, said, wrong_type
from services.audit.walk import Chips
from services.processes import settlement
from services.store import chain, history, keys, outbox
from services.store.wire import ask, ask_all, fields_of

_TABLE = "table:"


class Posted(NamedTuple):
    """A posting as an account holds it, at `place`."""

    place: int
    id: str
    debit: str
    credit: str
    chips: int
    deal: int | None
    version: int | None
    fields: tuple[bytes, ...]
    """Its fields and values in a row, as they were hashed."""
    hash: str
    """"": an earlier build wrote none."""

    @property
    def table(self) -> str:
        """The table on the other side; "" where there is none."""
        return next((each.removeprefix(_TABLE) for each in (self.debit, self.credit) if each.startswith(_TABLE)), "")


class Postings:
    """The chain of postings of an account, followed one by one. Those of earlier builds are no part of it."""

    def __init__(self, account: str) -> None:
        self._account = account
        self._head = b""

    def take(self, posted: Posted) -> tuple[str, str, str] | None:
        """The next posting; where its hash is not that of what it says: field, expected, found."""
        if not posted.hash:
            return None
        before, account, place = self._head, self._account, posted.place
        self._head = chain.posting_link(before, account, place, posted.fields)
        if chain.text(self._head) == posted.hash:
            return None
        expected = chain.text(self._head)
        with contextlib.suppress(ValueError):
            self._head = chain.digest(posted.hash)  # The next ones were hashed behind it.
        for at, fields in _other_times(posted.fields):
            if chain.text(chain.posting_link(before, account, place, fields)) == posted.hash:
                return "at", at, dict(_pairs(posted.fields)).get(b"at", b"").decode()
        return "h", expected, posted.hash

    @property
    def head(self) -> str:
        """The hash of the last one; "" before the first that has one."""
        return chain.text(self._head) if self._head else ""


def _other_times(fields: tuple[bytes, ...]) -> Iterator[tuple[str, tuple[bytes, ...]]]:
    """The fields with another digit in the time, which nothing else tells."""
    place = fields.index(b"at") + 1 if b"at" in fields[::2] else len(fields)
    time = fields[place] if place < len(fields) else b""
    for number in range(len(time)):
        for digit in b"0123456789":
            told = time[:number] + bytes([digit]) + time[number + 1 :]
            yield told.decode(errors="replace"), (*fields[:place], told, *fields[place + 1 :])


def _pairs(flat: tuple[bytes, ...]) -> Iterator[tuple[bytes, bytes]]:
    return zip(flat[::2], flat[1::2], strict=True)


def knows(redis: Redis, account: str, transfer: str) -> bool:
    """Has this account a posting by `transfer`? A key of another type knows nothing, which is told elsewhere."""
    try:
        return bool(ask(redis, "HEXISTS", keys.transfers(account), transfer))
    except ResponseError as error:
        wrong_type(error)
        return False


def unposted(redis: Redis, table: str, moved: Sequence[Chips]) -> Iterator[Fault]:
    """The chips that a table has moved and no account tells of as it should; where only that table is audited."""
    unhandled = waiting(redis, [keys.partition_of(table)])
    for event in moved:
        account = account_of(event)
        place = ask(redis, "HGET", keys.transfers(account), event.transfer)
        found = ask(redis, "XRANGE", keys.postings(account), f"{int(place)}-0", f"{int(place)}-0") if place else []
        chips = b"%d" % abs(event.chips)
        if place is None and (table, event.version) in unhandled:
            continue
        fields = fields_of(found[0][1]) if found else {}
        if (fields.get(b"id"), fields.get(b"chips")) != (event.transfer.encode(), chips):
            yield not_posted(table, event, said(fields) if found else "none")


def not_posted(table: str, event: Chips, found: str) -> Fault:
    """Chips of a table without the posting that they should have; `found` is what stands in its place."""
    account = account_of(event)
    return Fault(
        check="bank",
        table=table,
        account=account,
        version=event.version,
        field=event.transfer,
        expected=f"a posting of {event.chips} chips",
        found=found,
        place=keys.postings(account),
    )


def account_of(event: Chips) -> str:
    """The account that chips came from or went to: bots play from the house's."""
    return event.player or keys.HOUSE


def later_chips(redis: Redis, table: str, version: int) -> dict[str, Chips]:
    """The chips that a table has moved after `version`, by transfer."""
    found = {}
    for entry in history.entries_after(redis, table, version):
        events = load_events(entry.events)
        deal = next((event.deal for event in events if isinstance(event, DealEnded)), None)
        for event in events:
            if isinstance(event, ChipsBrought | ChipsReturned):
                chips = event.chips if isinstance(event, ChipsBrought) else -event.chips
                found[event.transfer] = Chips(event.transfer, entry.version, event.player, chips, deal)
    return found


def waiting(redis: Redis, partitions: Sequence[str]) -> set[tuple[str, int]]:
    """The versions of tables that the settlement has not handled."""
    positions = outbox.handled(redis, settlement.PROCESS, partitions)
    replies = ask_all(redis, [("XRANGE", keys.log(each), f"({positions[each]}", "+") for each in partitions])
    rows = [fields_of(flat) for reply in replies for _, flat in reply]
    return {(row[b"t"].decode(), int(row[b"v"])) for row in rows}

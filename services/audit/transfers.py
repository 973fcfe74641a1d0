"""Transfers between tables and accounts: a posting as an account holds it, and what a table's events say of it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redis import Redis

from engine.table.events import ChipsBrought, ChipsReturned, DealEnded
from schemas.table import load_events
from services.audit.fault import Fault, said
from services.audit.walk import Chips
from services.processes import settlement
from services.store import history, keys, outbox
from services.store.wire import ask, ask_many, fields_of, first_error

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

    @property
    def table(self) -> str:
        """The table on the other side; "" where there is none."""
        return next((each.removeprefix(_TABLE) for each in (self.debit, self.credit) if each.startswith(_TABLE)), "")


def unposted(redis: Redis, table: str, moved: Sequence[Chips]) -> Iterator[Fault]:
    """The chips that a table has moved and no account tells of as it should; where only that table is audited."""
    unhandled = waiting(redis, [keys.partition_of(table)])
    for event in moved:
        account = event.player or keys.HOUSE
        place = ask(redis, "HGET", keys.transfers(account), event.transfer)
        found = ask(redis, "XRANGE", keys.postings(account), f"{int(place)}-0", f"{int(place)}-0") if place else []
        chips = b"%d" % abs(event.chips)
        if place is None and (table, event.version) in unhandled:
            continue
        fields = fields_of(found[0][1]) if found else {}
        if (fields.get(b"id"), fields.get(b"chips")) != (event.transfer.encode(), chips):
            yield Fault(
                check="bank",
                table=table,
                account=account,
                version=event.version,
                field=event.transfer,
                expected=f"a posting of {event.chips} chips",
                found=said(fields) if found else "none",
                place=keys.postings(account),
            )


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
    replies = ask_many(redis, [("XRANGE", keys.log(each), f"({positions[each]}", "+") for each in partitions])
    first_error(replies)
    rows = [fields_of(flat) for reply in replies for _, flat in reply]
    return {(row[b"t"].decode(), int(row[b"v"])) for row in rows}

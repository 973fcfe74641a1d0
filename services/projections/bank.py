"""What lies at the seats of a table, and what each deal paid."""

import msgspec

from engine.table.events import DealEnded, Event
from services.projections.sheet import Sheet
from services.store.projected import BALANCES


def bank(before: Sheet, event: Event, after: Sheet) -> dict[str, bytes]:
    """The fields that `event` changes in the bank of its table."""
    fields = {}
    if isinstance(event, DealEnded):
        fields[str(event.deal)] = msgspec.json.encode(event.payments)
    if after.bank != before.bank or before.options is None:
        fields[BALANCES] = msgspec.json.encode(after.bank)
    return fields

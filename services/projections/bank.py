"""What lies at the seats of a table, what each deal paid, and where and with whom it ended."""

import msgspec

from engine.table.events import DealEnded, Event
from services.projections.sheet import Sheet
from services.store.outbox import Told
from services.store.projected import BALANCES, Booked, Company, Holder, booked_field, company_field


def bank(before: Sheet, event: Event, after: Sheet, told: Told) -> dict[str, bytes]:
    """The fields that `event` of the entry `told` changes in the bank of its table."""
    fields = {}
    if isinstance(event, DealEnded):
        booked = Booked(told.version, told.at, after.bank, after.company)
        fields[str(event.deal)] = msgspec.json.encode(event.payments)
        fields[booked_field(event.deal)] = msgspec.json.encode(booked)
        if after.company == event.deal:
            fields[company_field(event.deal)] = msgspec.json.encode(_company(after))
    if after.bank != before.bank or before.options is None:
        fields[BALANCES] = msgspec.json.encode(after.bank)
    return fields


def _company(sheet: Sheet) -> Company:
    held = (Holder() if seat is None else Holder(seat.player, seat.name, seat.bot, seat.away) for seat in sheet.seats)
    return Company(tuple(held), sheet.deals)

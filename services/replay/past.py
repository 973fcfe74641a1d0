"""The past of one deal, read from the events, archived or not, without those of the hundreds of deals before it.

A fold may begin behind any deal: nothing of a deal outlives the next one but the seats, the chips and the length of
the session, and these the bank of the table notes at the end of each. So that what the deal before has left on the
table is shown as it was, it begins one deal earlier still. Where the bank has no such note, at version 1.
"""

from redis import Redis

from engine.table import INITIAL, Table, fold
from engine.table.events import DealEnded
from engine.table.state import Occupant, settings
from services.replay.moments import FIRST, Happened, Start, happened
from services.store import projected
from services.store.history import entries_between, last_version
from services.store.projected import Booked, Company, Holder
from services.worker.held import events_of

ENTRIES_MAX = 20_000
"""More than any deal and what leads to it: who comes and goes that often must not delay the answers to others."""


class TooLong(Exception):
    """More happened round the deal than is replayed for whoever asks."""


def deal(redis: Redis, table: str, number: int, entries_max: int = ENTRIES_MAX) -> list[Happened]:
    """What happened in deal `number` of a table up to now, with what led to it; nothing when there is no such deal.

    Raises TooLong, BrokenStream, NewerEvent, PastMissing, StoreUnavailable.
    """
    if number > 1 and not projected.has_ended(redis, table, number - 1):
        return []
    start, first = _start(redis, table, number - 2) if number > 2 else (FIRST, 1)
    [ended] = projected.booked(redis, table, [number])
    last = last_version(redis, table) if ended is None else ended.version
    if last - first >= entries_max:
        raise TooLong(f"{table}: {last - first + 1} versions would have to be read for deal {number}")
    entries = entries_between(redis, table, first, last)
    return [each for each in happened(table, entries, start) if each.deal == number]


def _start(redis: Redis, table: str, number: int) -> tuple[Start, int]:
    """The table after deal `number`, as far as it matters two deals later, and the version that follows."""
    [ended] = projected.booked(redis, table, [number])
    company = projected.companies(redis, table, [ended.company]).get(ended.company) if ended else None
    if ended is None or company is None:
        return FIRST, 1
    opening, ending = (entries_between(redis, table, each, each) for each in (1, ended.version))
    state = _ended(fold(INITIAL, events_of(table, opening[0])), number, ended, company)
    events = events_of(table, ending[0])
    place = next(place for place, event in enumerate(events) if isinstance(event, DealEnded))
    return Start(fold(state, events[place + 1 :]), number, ended=True), ended.version + 1


def _ended(opened: Table, number: int, ended: Booked, company: Company) -> Table:
    """An opened table as it was when deal `number` was paid."""
    session = opened.session._replace(
        stage="lobby",
        seats=tuple(map(_occupant, company.seats)),
        deal=number,
        deals=company.deals,
        extended=company.deals != settings(opened.session).deals,
        bank=ended.balances,
    )
    return opened._replace(session=session)


def _occupant(holder: Holder) -> Occupant:
    return Occupant(
        player=holder.player, name=holder.name, bot=holder.bot, away=holder.away, ready=holder.bot != "", transfer="",
    )

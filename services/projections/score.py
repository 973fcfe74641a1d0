"""What each player has won and lost at free tables: postings keyed by the event they come from."""

import msgspec

from engine.table.events import DealEnded, Event
from services.projections.sheet import Sheet
from services.store import keys
from services.store.accounts import Posting, house_of
from services.store.outbox import Told
from services.store.outputs import Post
from services.store.projected import posting_place


def score(sheet: Sheet, table: str, told: Told, event: Event) -> list[Post]:
    """A posting for each seat of a finished deal; together they are zero, as bots play for the house.

    Under stake bankroll chips move by transfers instead, when somebody comes and goes.
    """
    if not isinstance(event, DealEnded) or sheet.options is None or sheet.options.stake != "free":
        return []
    return [_post(sheet, table, told, event, seat) for seat in range(len(event.payments))]


def _post(sheet: Sheet, table: str, told: Told, event: DealEnded, seat: int) -> Post:
    held = sheet.seats[seat]
    assert held is not None, f"nobody sat at {seat} of {table} in deal {event.deal}"
    posting = Posting(
        id=f"{table}:{told.version}:{seat}",
        chips=event.payments[seat],
        table=table,
        deal=event.deal,
        version=told.version,
        at=told.at,
    )
    return Post(
        held.player or house_of(keys.partition_of(table)),
        posting.id,
        posting_place(told.at, table, told.version, seat),
        posting.chips,
        msgspec.json.encode(posting._asdict()),
    )

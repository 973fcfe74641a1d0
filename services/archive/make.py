"""Deals go from the store to the archive: written, read back, noted as archived, and only then trimmed.

What projections made of them follows, to files beside theirs (`shelf.py`).
"""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from redis import Redis

from engine.table.events import DealEnded
from schemas.table import load_events
from services.archive import folder, shelf
from services.archive.format import Deal, linked
from services.store import cold
from services.store.cold import Mark, RawEntry
from services.store.wire import fields_of

PAGE = 500

_log = logging.getLogger(__name__)


class StreamDiffers(Exception):
    """The stream of a table does not go on where the archive ends."""


def archive(redis: Redis, archive_folder: Path, table: str, deals_max: int) -> int:
    """Archive at most `deals_max` of the finished deals of `table` that are not, then let go of what need not stay in
    the store, of as many deals; gives how many were archived.

    May be run twice, at once, or be killed anywhere: deals are noted only when their files are on the disk and were
    read back, and the same deal makes the same file. Raises BadArchive, OSError, StreamDiffers, StoreUnavailable.
    """
    [mark] = cold.marks(redis, [table])
    deals = list(_linked(islice(_ended(redis, table, mark), deals_max), archive_folder, table, mark))
    last = folder.write(archive_folder, deals)
    if last is not None:
        mark = Mark(last.last, last.deal)
        cold.set_mark(redis, table, mark)
    if shelf.shelve(redis, archive_folder, table, mark, deals_max):
        cold.trim(redis, table)  # This takes the table off the list, so it comes last.
    return len(deals)


def _linked(deals: Iterable[Deal], archive_folder: Path, table: str, mark: Mark) -> Iterator[Deal]:
    """The deals with their places in the chain; without, where the archive before them is kept elsewhere.

    Raises BadArchive: an entry of the stream has another hash than it should have.
    """
    head: str | None = None
    for deal in deals:
        if head is None:
            head = folder.head_at(archive_folder, table, mark.version)
        linked_deal = linked(deal, head) if head else deal
        head = linked_deal.head
        yield linked_deal


def _ended(redis: Redis, table: str, mark: Mark) -> Iterator[Deal]:
    """The finished deals after `mark`."""
    kept: list[RawEntry] = []
    expected = mark.version + 1
    while page := cold.entries(redis, table, expected, PAGE):
        for entry in page:
            if cold.version_of(entry) != expected:
                if cold.marks(redis, [table])[0].version >= expected:
                    return  # Another has archived it meanwhile, and it is trimmed.
                raise StreamDiffers(f"{table}: version {expected} is missing before {cold.version_of(entry)}")
            expected += 1
            kept.append(entry)
            number = ended_deal(entry)
            if number is not None:
                yield Deal(table, number, kept)
                kept = []
        if len(page) < PAGE:
            return


def ended_deal(entry: RawEntry) -> int | None:
    """The number of the deal that ended with this entry; most are not worth reading for that."""
    events = fields_of(entry[1])[b"e"]
    if b'"deal_ended"' not in events:
        return None
    return next((event.deal for event in load_events(events) if isinstance(event, DealEnded)), None)

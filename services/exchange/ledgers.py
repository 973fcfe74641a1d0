"""The ledgers as lines with running balances: of a player as the API tells them, of a table from its events."""

from collections.abc import Iterable, Iterator
from typing import Final

from redis import Redis

from engine.table import SEATS
from engine.table.events import ChipsBrought, ChipsReturned, DealEnded, Event, SatDown, SeatFreed, TableOpened
from schemas.ledger_csv import Line
from services.store.history import Recorded
from services.store.ledgers import Account, postings_of
from services.worker.held import events_of

_WORDS: Final = tuple(
    b'"%b"' % word
    for word in (b"table_opened", b"sat_down", b"seat_freed", b"chips_brought", b"chips_returned", b"deal_ended")
)
"""The types of events that move chips or say whose they are; most entries have none, and need not be read."""


def of_player(
    redis: Redis, player: str, name: str = "", which: Iterable[Account] = ("score", "chips")
) -> Iterator[Line]:
    """The postings of a player's accounts, `score` before `chips`, each in order."""
    for account in which:
        for posting, balance in postings_of(redis, player, account):
            yield Line(player, name, account, balance=balance, **posting._asdict())


def of_table(table: str, entries: Iterable[Recorded]) -> Iterator[Line]:
    """What moved at the seats of a table, bots too; `balance` is what then lay at the seat.

    The lines of a deal add up to zero. Raises BrokenStream, NewerEvent.
    """
    books = _Books(table)
    for entry in entries:
        if any(word in entry.events for word in _WORDS):
            for event in events_of(table, entry):
                yield from books.lines(entry, event)


def names_at(table: str, entries: Iterable[Recorded]) -> dict[str, str]:
    """By which name each player sat down at a table last."""
    return {
        event.player: event.name
        for entry in entries if b'"sat_down"' in entry.events
        for event in events_of(table, entry) if isinstance(event, SatDown)
    }


class _Books:
    """Who holds the seats of a table, and what lies there."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._account = "score"
        self._bot = ("", "bot")
        self._held = [self._bot] * SEATS
        self._chips = [0] * SEATS

    def lines(self, entry: Recorded, event: Event) -> Iterator[Line]:
        """What `event` moved."""
        match event:
            case TableOpened(stake=stake, bot_policy=policy):
                self._account = "score" if stake == "free" else "table"
                self._bot = ("", f"bot {policy}")
                self._held = [self._bot] * SEATS
            case SatDown(seat=seat, player=player, name=name):
                self._held[seat] = (player, name)
            case SeatFreed(seat=seat):
                self._held[seat] = self._bot
            case ChipsBrought(seat=seat, chips=chips):
                yield self._line(entry, seat, chips, None)
            case ChipsReturned(seat=seat, chips=chips):
                yield self._line(entry, seat, -chips, None)
            case DealEnded(deal=deal, payments=payments):
                for seat, chips in enumerate(payments):
                    yield self._line(entry, seat, chips, deal)

    def _line(self, entry: Recorded, seat: int, chips: int, deal: int | None) -> Line:
        self._chips[seat] += chips
        return Line(
            *self._held[seat], self._account, f"{self._table}:{entry.version}:{seat}", chips, self._chips[seat],
            self._table, deal, entry.version, entry.at,
        )

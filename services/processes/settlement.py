"""Whenever a table has taken or returned chips, the other side is posted to the account they belong to."""

import logging
import traceback
from collections.abc import Sequence

from redis import Redis

from engine.table.events import ChipsBrought, ChipsReturned, DealEnded, Event
from schemas.table import load_events
from services.store import accounts, history, keys, outbox
from services.store.accounts import BuyIn, Origin
from services.store.outbox import Pointer, Stretch, place
from services.store.wire import StoreUnavailable, ask_all

PROCESS = "settlement"
KIND = "chips"
PATIENCE_MS = 5_000
"""A sit is decided in milliseconds: a buy-in that is under way for longer may have been forgotten."""

_log = logging.getLogger(__name__)


def settlement(redis: Redis, pointers: Sequence[Pointer]) -> bool:
    """Post what the pointed versions moved, and give whether any did; done once, by the ids of the transfers.

    What cannot be posted is kept as stuck, loudly, and tried again; the others go on.
    """
    moved = [pointer for pointer in pointers if KIND in pointer.kinds]
    for pointer in moved:
        _settle(redis, pointer.table, pointer.version)
    return bool(moved)


def concerned(redis: Redis, partitions: Sequence[str]) -> list[str]:
    """The partitions where something is stuck or under way; all are asked in one round trip, and it is seldom any."""
    asked = [("HLEN", name) for each in partitions for name in (keys.stuck(each), keys.buy_ins(each))]
    replies = ask_all(redis, asked)
    counts = zip(partitions, replies[::2], replies[1::2], strict=True)
    return [each for each, stuck, under_way in counts if stuck or under_way]


def retry_stuck(redis: Redis, partition: str) -> None:
    """Try again what could not be posted."""
    for field in outbox.stuck(redis, partition):
        process, table, version = field.split("/")
        if process == PROCESS and _settle(redis, table, int(version)):
            outbox.set_stuck(redis, PROCESS, table, int(version), None)


def _settle(redis: Redis, table: str, version: int) -> bool:
    try:
        _post(redis, table, version)
    except StoreUnavailable:
        raise
    except Exception:
        error = traceback.format_exc()
        _log.critical("chips of %s at version %d are not posted: %s", table, version, error)
        outbox.set_stuck(redis, PROCESS, table, version, error)
        return False
    return True


def _post(redis: Redis, table: str, version: int) -> None:
    [entries] = outbox.read_events(redis, [Stretch(table, version, version)])
    [told] = entries
    events = load_events(told.events)
    deal = next((event.deal for event in events if isinstance(event, DealEnded)), None)
    for event in events:
        _post_event(redis, event, Origin(table, deal, version))


def _post_event(redis: Redis, event: Event, origin: Origin) -> None:
    """A bot (player "") plays from the account of the house."""
    match event:
        case ChipsBrought(player="", transfer=transfer, chips=chips):
            accounts.lend(redis, transfer, chips, origin)
        case ChipsBrought(player=player, transfer=transfer):
            accounts.arrived(redis, BuyIn(player, origin.table, transfer, 0))
        case ChipsReturned(player=player, transfer=transfer, chips=chips):
            accounts.deposit(redis, player or keys.HOUSE, transfer, chips, origin)
        case _:
            pass


def forgotten(redis: Redis, partition: str, now: int) -> None:
    """End the buy-ins of this partition's players whose sit was decided, but whose worker died before it said so.

    Whether the chips came is told by the table's history alone; its cursor tells that nothing more will come.

    One that cannot be settled, such as of a name that no worker has given, is told loudly and keeps none of the others.
    """
    for buy_in in accounts.under_way(redis, partition):
        if now - buy_in.at > PATIENCE_MS:
            try:
                _end(redis, buy_in)
            except StoreUnavailable:
                raise
            except Exception:
                _log.critical("buy-in %s of %s cannot be settled", buy_in.transfer, buy_in.player, exc_info=True)


def _end(redis: Redis, buy_in: BuyIn) -> None:
    if not keys.is_table_id(buy_in.table):
        raise ValueError(f"{buy_in.table!r} is no table")
    if not _is_decided(redis, buy_in):
        return
    if _came(redis, buy_in):
        accounts.arrived(redis, buy_in)
    else:
        _log.warning("buy-in %s of %s is given back", buy_in.transfer, buy_in.player)
        accounts.refund(redis, buy_in.player, buy_in.transfer)


def _is_decided(redis: Redis, buy_in: BuyIn) -> bool:
    """Has the table's partition passed the command that asked for the seat?"""
    partition = keys.partition_of(buy_in.table)
    cursor = history.cursors(redis, [partition])[partition]
    return place(cursor) >= _command(buy_in)


def _command(buy_in: BuyIn) -> tuple[int, int]:
    """The place of the command: a transfer is named `<table>.<id of the command>`."""
    return place(buy_in.transfer.removeprefix(f"{buy_in.table}."))


def _came(redis: Redis, buy_in: BuyIn) -> bool:
    entries = history.entries_since(redis, buy_in.table, _command(buy_in)[0])
    events = (event for entry in entries for event in load_events(entry.events))
    return any(isinstance(event, ChipsBrought) and event.transfer == buy_in.transfer for event in events)

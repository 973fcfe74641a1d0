"""Tables at which nobody starts a deal for hours, or goes on with one for days, are asked to be closed; whether they
are, and what that means, their rules decide."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from redis import Redis

from services.store import history, views
from services.store.keys import events
from services.store.wire import ask_all, store_ms

TABLES_MAX = 200
"""Looked at in one round trip."""

Idle = tuple[str, int]
"""A table, and the version at which it has stood for so long."""
Ask = Callable[[list[Idle]], object]
"""Ask that these tables be closed; asking again changes nothing."""


class Patience(NamedTuple):
    """For how long a table may stand, ms, in the lobby and in a deal without a clock; None: for ever."""

    lobby_ms: int | None
    deal_ms: int | None


class _Shown(msgspec.Struct):
    phase: str
    deadline: str | None = None

    def may_stand(self, patience: Patience) -> int | None:
        """For how long. Who is waited for by a clock needs no other end."""
        if self.phase == "lobby":
            return patience.lobby_ms
        return None if self.phase == "over" or self.deadline is not None else patience.deal_ms


_shown = msgspec.json.Decoder(_Shown).decode


def ask(redis: Redis, partitions: Sequence[str], patience: Patience, ask_to_close: Ask) -> None:
    """Look at all tables, and ask for those that have stood for longer than they may. Raises StoreUnavailable."""
    now = store_ms(redis)
    for partition in partitions:
        tables = history.tables_of(redis, partition)
        for start in range(0, len(tables), TABLES_MAX):
            if found := list(_idle(redis, tables[start : start + TABLES_MAX], now, patience)):
                ask_to_close(found)


def _idle(redis: Redis, tables: Sequence[str], now: int, patience: Patience) -> Iterator[Idle]:
    """Those of `tables` where nothing has happened for so long."""
    least = min((ms for ms in patience if ms is not None), default=None)
    if least is None:
        return
    last = ask_all(redis, [("XREVRANGE", events(table), "+", "-", "COUNT", 1) for table in tables])
    old = [
        (table, entry)
        for table, reply in zip(tables, last, strict=True) if reply
        if (entry := history.recorded(reply[0])).at < now - least
    ]
    for (table, entry), seen in zip(old, views.current_many(redis, [table for table, _ in old]), strict=True):
        if seen is not None and seen.version == entry.version:
            may_stand = _shown(b"{%b}" % seen.public).may_stand(patience)
            if may_stand is not None and entry.at < now - may_stand:
                yield table, entry.version

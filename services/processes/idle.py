"""Tables at which nobody starts a deal for hours are asked to be closed; whether they are, their rules decide."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from redis import Redis

from services.store import history, views
from services.store.keys import events
from services.store.wire import ask_many, first_error, store_ms

TABLES_MAX = 200
"""Looked at in one round trip."""

Idle = tuple[str, int]
"""A table, and the version at which it has stood for so long."""
Ask = Callable[[list[Idle]], object]
"""Ask that these tables be closed; asking again changes nothing."""


class _Shown(msgspec.Struct):
    phase: str


_shown = msgspec.json.Decoder(_Shown).decode


def ask(redis: Redis, partitions: Sequence[str], idle_ms: int, ask_to_close: Ask) -> None:
    """Look at all tables, and ask for those that lie in the lobby since `idle_ms`. Raises StoreUnavailable."""
    before = store_ms(redis) - idle_ms
    for partition in partitions:
        tables = history.tables_of(redis, partition)
        for start in range(0, len(tables), TABLES_MAX):
            if found := list(_idle(redis, tables[start : start + TABLES_MAX], before)):
                ask_to_close(found)


def _idle(redis: Redis, tables: Sequence[str], before: int) -> Iterator[Idle]:
    """Those of `tables` where nothing has happened since `before`, ms, and no deal runs."""
    last = ask_many(redis, [("XREVRANGE", events(table), "+", "-", "COUNT", 1) for table in tables])
    first_error(last)
    old = [
        (table, entry.version)
        for table, reply in zip(tables, last, strict=True) if reply
        if (entry := history.recorded(reply[0])).at < before
    ]
    for (table, version), now in zip(old, views.current_many(redis, [table for table, _ in old]), strict=True):
        if now is not None and now.version == version and _shown(b"{%b}" % now.public).phase == "lobby":
            yield table, version

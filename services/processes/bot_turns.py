"""Whenever a bot is to act, ask for its move; nothing is lost when that fails, as the clock plays for it."""

import logging
from collections.abc import Callable, Sequence

from redis import Redis
from redis.exceptions import RedisError

from services.store import views
from services.store.outbox import Pointer, due_soon

PROCESS = "bots"
KIND = "bot"
AHEAD_MS = 700
"""A bot that is still to act so short before its deadline was forgotten: jobs take a few milliseconds."""

_log = logging.getLogger(__name__)

Ask = Callable[[list[tuple[str, int]]], object]
"""Ask for the moves of bots at versions of tables."""


def bot_turns(pointers: Sequence[Pointer], ask_for: Ask) -> bool:
    """Ask for the move at the last version of each table that says that a bot is to act; gives whether any does."""
    last = {pointer.table: pointer.version for pointer in pointers if KIND in pointer.kinds}
    _ask_for(list(last.items()), ask_for)
    return bool(last)


def forgotten(redis: Redis, partitions: Sequence[str], ask_for: Ask) -> None:
    """Ask again for the moves of bots that still wait shortly before the clock plays for them."""
    tables = due_soon(redis, partitions, AHEAD_MS)
    waiting = zip(tables, views.current_many(redis, tables), strict=True) if tables else ()
    turns = [
        (table, now.version)
        for table, now in waiting
        if now is not None and any(player.startswith("bot:") for player in now.who)
    ]
    _ask_for(turns, ask_for)


def _ask_for(turns: list[tuple[str, int]], ask_for: Ask) -> None:
    if not turns:
        return
    try:
        ask_for(turns)
    except RedisError as error:
        _log.warning("the queue of jobs is away, the clock plays for the bots: %s", error)

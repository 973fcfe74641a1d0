"""A bot makes its move as any client does: it looks at its view, chooses, and sends a command."""

import logging
import random
from collections.abc import Sequence
from typing import Any

import msgspec
from redis import Redis

from engine.bots import POLICIES
from services.intake import Submitted, submit_many
from services.jobs.queue import Turn
from services.jobs.store import store
from services.store import views
from services.store.views import Current

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_log = logging.getLogger(__name__)


def bot_moves(turns: Sequence[Turn]) -> None:
    """The job. Run twice, it moves once."""
    play(store(), turns)


def play(redis: Redis, turns: Sequence[Turn]) -> int:
    """Send the moves that bots have at these versions of tables; gives how many.

    A table that has gone on, or waits for others, is left alone. A bot that fails is left to the clock.
    """
    current = views.current_many(redis, [table for table, _ in turns])
    moves = [
        move
        for (table, version), now in zip(turns, current, strict=True)
        if now is not None and now.version == version
        for move in _moves(table, now)
    ]
    if moves:
        submit_many(redis, moves)
    return len(moves)


def _moves(table: str, now: Current) -> list[Submitted]:
    """The moves of the bots that are to act at `table` now."""
    found = []
    for seat, player in enumerate(now.who):
        if player != f"bot:{seat}":
            continue
        try:
            body = _choice(now, seat, random.Random(f"{table}:{now.version}"))
        except Exception:
            _log.exception("the bot at seat %d of %s has failed at version %d", seat, table, now.version)
            continue
        if body is not None:
            found.append(Submitted(table, player, "", f"bot-{now.version}", body, now.version))
    return found


def _choice(now: Current, seat: int, rng: random.Random) -> dict[str, Any] | None:
    view = _decode(views.view_bytes(now, seat))
    if not view["legal"]:
        return None
    return POLICIES[_policy(view, seat)](view, view["legal"], rng)


def _policy(view: dict[str, Any], seat: int) -> str:
    """The policy of the bot that holds the seat; one that a player has left is played by that of the table."""
    policy: str = view["seats"][seat].get("bot") or view.get("bot_policy", "rule")
    return policy

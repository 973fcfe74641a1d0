"""A bot makes its move as any client does: it looks at its view, chooses, and sends a command."""

import random
from typing import Any

import msgspec
from redis import Redis

from engine.bots import POLICIES
from services.intake import Submitted, submit
from services.jobs.store import store
from services.store import views
from services.store.views import Current

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def bot_move(table: str, version: int) -> str:
    """The job: what became of it, for whoever looks at the queue. Run twice, it moves once."""
    return move(store(), table, version)


def move(redis: Redis, table: str, version: int) -> str:
    """Make the moves that bots have at `version`. A table that has gone on, or waits for others, is left alone."""
    current = views.current(redis, table)
    if current is None or current.version != version:
        return "stale"
    for seat, player in enumerate(current.who):
        if player == f"bot:{seat}" and (body := _choice(current, seat, random.Random(f"{table}:{version}"))):
            return submit(redis, Submitted(table, player, "", f"bot-{version}", body, version)).status
    return "not to act"


def _choice(current: Current, seat: int, rng: random.Random) -> dict[str, Any] | None:
    view = _decode(views.view_bytes(current, seat))
    if not view["legal"]:
        return None
    return POLICIES[_policy(view, seat)](view, view["legal"], rng)


def _policy(view: dict[str, Any], seat: int) -> str:
    """The policy of the bot that holds the seat; one that a player has left is played by that of the table."""
    policy: str = view["seats"][seat].get("bot") or view.get("bot_policy", "rule")
    return policy

"""Since when a seat is its present holder's: what it was told before that was told to somebody else."""

from collections.abc import Sequence

import msgspec
from redis import Redis

from services.store import views
from services.store.views import Feed, Item

PAGE = 500

_events = msgspec.json.Decoder(list[dict[str, object]]).decode


def last_freed(items: Sequence[Item], seat: int | None) -> int:
    """The last version of `items` at which `seat` became free; 0: none. A spectator's seat is None."""
    for item in reversed(items):
        if b'"seat_freed"' in item.events[None]:
            for event in _events(item.events[None]):
                if event["type"] == "seat_freed" and event["seat"] == seat:
                    return item.version
    return 0


def freed_since(redis: Redis, table: str, told: Feed, seat: int) -> int:
    """The last version from the beginning of `told` until now at which `seat` became free; 0: none."""
    freed = last_freed(told.items, seat)
    while told.more:
        later = views.feed(redis, table, told.items[-1].version, PAGE)
        if later is None:
            break
        told = later
        freed = last_freed(told.items, seat) or freed
    return freed

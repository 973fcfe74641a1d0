"""Once a night everything is audited: it is asked for from a certain hour on, until that night has its result."""

from collections.abc import Callable
from datetime import UTC, datetime

from redis import Redis

from services.store import audited
from services.store.wire import store_ms

HOURS = 6
"""For so long after its hour an audit may begin: a system that was off at night does not audit by day."""

Ask = Callable[[str], object]
"""Ask that a night be audited; asking again is no second job."""


def ask(redis: Redis, hour: int, ask_to_audit: Ask) -> None:
    """Ask if it is time, by the store's clock (UTC)."""
    now = datetime.fromtimestamp(store_ms(redis) / 1000, UTC)
    if (now.hour - hour) % 24 >= HOURS:
        return
    night = datetime.fromtimestamp(now.timestamp() - 3600 * ((now.hour - hour) % 24), UTC).date().isoformat()
    last = audited.last(redis)
    if last is None or last.night < night:
        ask_to_audit(night)

"""What the endpoints of one app work with: connections, keys, the feed and the metrics."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from flask import current_app
from redis import Redis

from services.api.guests import Guests
from services.api.metrics import Metrics
from services.config import Config
from services.intake import Submitted, Taken
from services.operations.fare import Fare
from services.pressure import Pressure
from services.signing import Signer
from services.store.asking import Question
from services.store.feed import Feed
from services.tokens import KeyRing

EXTENSION = "marias"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Made once by `create_app`. `intake` takes one command in, as `services.intake.submit` does.

    `confide` asks who may read what only auditors and operators may know: this process may not.
    """

    config: Config
    redis: Redis
    intake: Callable[[Submitted], Taken]
    confide: Callable[[Question], bytes]
    feed: Feed
    ring: KeyRing
    signer: Signer
    metrics: Metrics
    waiters: threading.Semaphore
    guests: Guests
    pressure: Pressure
    fare: Callable[[], Fare]


def backend() -> Backend:
    """The backend of the app that answers the current request."""
    found: Backend = current_app.extensions[EXTENSION]
    return found

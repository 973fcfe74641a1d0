"""Connections to the store: explicit timeouts, and no retry that the caller did not ask for."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from services.store.wire import StoreUnavailable

CONNECT_SECONDS_MAX = 3.0
ANSWER_SECONDS_MAX = 5.0
BLOCK_SECONDS_MAX = 10.0

T = TypeVar("T")


def connect(url: str, *, blocking: bool = False) -> Redis:
    """A client for the store at `url`; it connects at the first request.

    `blocking` is for readers that wait on the server, up to BLOCK_SECONDS_MAX at a time.
    The library would send a request again by itself after a timeout, and write twice: that is off.
    """
    return Redis.from_url(
        url,
        protocol=2,
        decode_responses=False,
        socket_connect_timeout=CONNECT_SECONDS_MAX,
        socket_timeout=ANSWER_SECONDS_MAX + (BLOCK_SECONDS_MAX if blocking else 0.0),
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


def patiently(request: Callable[[], T], seconds_max: float) -> T:
    """The answer to `request`, asked again while the store is away; it must be safe to repeat.

    Raises StoreUnavailable when `seconds_max` are over.
    """
    end = time.monotonic() + seconds_max
    pause = 0.01
    while True:
        try:
            return request()
        except StoreUnavailable:
            if time.monotonic() + pause > end:
                raise
        time.sleep(pause * random.uniform(0.5, 1.0))  # So that all who wait come back apart.
        pause = min(2 * pause, 0.5)

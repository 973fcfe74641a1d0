"""Connections to the store: explicit timeouts, and no retry that the caller did not ask for."""

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import SentinelConnectionPool

from services.store.address import Address, read
from services.store.topology import Cluster, Single
from services.store.watched import WatchedConnection, WatchedSSLConnection, Watchers
from services.store.wire import StoreUnavailable

CONNECT_SECONDS_MAX = 3.0
ANSWER_SECONDS_MAX = 5.0
BLOCK_SECONDS_MAX = 10.0
CONNECTIONS_MAX = 4_096
"""More than a process ever needs: how much is asked at once is bounded where it is asked. The library's own bound, 100,
would look like a store that is away."""
SENTINEL_SECONDS_MAX = 1.0
"""A sentinel that is silent for longer is passed over: the next one is asked."""

T = TypeVar("T")


def connect(url: str, *, blocking: bool = False, replicas: int = 0) -> Redis:
    """A client for the store at `url`, of whichever kind; it connects at the first request.

    `blocking` is for readers that wait on the server, up to BLOCK_SECONDS_MAX at a time. `replicas` must confirm
    what is written for good before anybody hears of it; where sentinels watch, any number but 0 means at least so
    many and all that they know.
    The library would send a request again by itself after a timeout, and write twice: that is off.
    Raises BadAddress.
    """
    address = read(url)
    options: dict[str, Any] = {
        "protocol": 2,
        "decode_responses": False,
        "socket_connect_timeout": CONNECT_SECONDS_MAX,
        "socket_timeout": ANSWER_SECONDS_MAX + (BLOCK_SECONDS_MAX if blocking else 0.0),
        "health_check_interval": 0,
        "max_connections": CONNECTIONS_MAX,
    }
    options["retry"] = Retry(NoBackoff(), 0)
    client: Redis
    if address.kind == "server":
        client = Single.from_url(url, **options)
    else:
        options |= {"username": address.user, "password": address.password, "ssl": address.is_encrypted}
        client = _watched(address, options) if address.kind == "sentinel" else Cluster(address.nodes, options)
    assert isinstance(client, Single | Cluster)
    client.replicas = replicas
    return client


def _watched(address: Address, options: dict[str, Any]) -> Single:
    """A client of whichever server the sentinels call the master when a connection is made."""
    told = dict(address.options)
    sentinel = {
        "socket_connect_timeout": SENTINEL_SECONDS_MAX,
        "socket_timeout": SENTINEL_SECONDS_MAX,
        "username": told.get("sentinel_username"),
        "password": told.get("sentinel_password"),
        "ssl": address.is_encrypted,
        "retry": Retry(NoBackoff(), 0),
    }
    watchers = Watchers(address.nodes, sentinel)
    del options["ssl"]
    options["connection_class"] = WatchedSSLConnection if address.is_encrypted else WatchedConnection
    pool = SentinelConnectionPool(address.service, watchers, db=address.database, **options)  # type: ignore[no-untyped-call]
    client = Single(connection_pool=pool)
    client.watchers = watchers
    return client


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

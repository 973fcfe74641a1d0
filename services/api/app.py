"""The application: endpoints and what stands round them, over connections that are given to it."""

import threading
from functools import partial

from flask import Flask
from redis import Redis

from services.api import (
    bank,
    commands,
    deal_log,
    deals,
    document,
    operations,
    pages,
    players,
    problems,
    pushed,
    tables,
)
from services.api.auth import authenticate
from services.api.backend import EXTENSION, Backend
from services.api.body import BODY_BYTES_MAX
from services.api.edge import Edge
from services.api.guests import Guests
from services.api.lean import Lean
from services.api.log import access_log
from services.api.metrics import Metrics
from services.api.store_metrics import StoreMetrics
from services.api.waiting import WAITERS_MAX
from services.config import Config
from services.intake import submit
from services.operations.fare import fare
from services.pressure import Pressure, Rates
from services.signing import Signer
from services.store import asking
from services.store.connect import connect
from services.store.feed import Feed
from services.store.keys import all_partitions
from services.tokens import KeyRing


def create_app(
    redis: Redis, config: Config, *, feed: Feed | None = None, ring: KeyRing | None = None,
    signer: Signer | None = None,
) -> Flask:
    """The application over connections that are given to it; it makes none until it is asked something.

    `feed`, `ring` and `signer` may be shared with push in one process.
    """
    metrics = Metrics()
    jobs = connect(config.jobs_redis_url) if config.jobs_redis_url else None
    look = partial(fare, redis, jobs, all_partitions(config.partitions))
    metrics.registry.register(StoreMetrics(look))
    app = Lean(__name__)
    app.config["MAX_CONTENT_LENGTH"] = BODY_BYTES_MAX
    app.extensions[EXTENSION] = Backend(
        config=config,
        redis=redis,
        intake=partial(submit, redis, rates=Rates(config.player_rate)),
        confide=partial(asking.ask_records, redis),
        feed=feed if feed is not None else Feed(redis),
        ring=ring if ring is not None else KeyRing(config.keys),
        signer=signer if signer is not None else Signer(config.receipt_keys),
        metrics=metrics,
        waiters=threading.BoundedSemaphore(WAITERS_MAX),
        guests=Guests(config.guest_rate, config.trusted_proxies),
        pressure=Pressure(redis),
        fare=look,
    )
    app.before_request(authenticate)
    document.describe_app(app, [
        players.blueprint, tables.blueprint, commands.blueprint, deals.blueprint, bank.blueprint, pushed.blueprint,
        operations.blueprint, deal_log.blueprint, document.blueprint,
    ], pages.blueprint)
    problems.register(app)  # After flask-smorest, whose own handlers say less.
    app.wsgi_app = Edge(  # type: ignore[method-assign]  # As Flask has it.
        app.wsgi_app, metrics=metrics, log=access_log(), origins=_origins(config)
    )
    return app


def _origins(config: Config) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, config.allowed_origins.split(","))))

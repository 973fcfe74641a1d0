"""The role `projector`: the projections and the processes, each following the log in a thread of its own."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from services.archive import folder
from services.config import Config
from services.jobs.queue import bots, deals, put_archive_deals, put_bot_moves, put_close_tables, put_nightly_audit
from services.processes import archiving, bot_turns, settlement
from services.processes.follow import UNHURRIED_SECONDS, Follower
from services.processes.idle import Patience
from services.processes.sweep import Asked, Close, Nightly, sweep
from services.projections.subscription import Subscription
from services.records import Clerk
from services.signing import Signer
from services.store.connect import connect
from services.store.keys import all_partitions
from services.store.outbox import Pointer
from services.tokens import KeyRing
from services.transparency import keeping
from services.transparency.keeping import Keeper
from services.transparency.outside import outside
from services.transparency.signing import Book, sign

STOP_SECONDS_MAX = 3.0
HOUR_MS = 3_600_000

_log = logging.getLogger(__name__)


class Part(NamedTuple):
    """One of the threads: its name, and what it does until told to stop."""

    name: str
    run: Callable[[Callable[[], bool]], None]


class PartDied(Exception):
    """One of the threads has ended by a fault; the process must be started again."""


def run(config: Config) -> None:
    """Run all parts until SIGTERM or Ctrl-C. Raises PartDied."""
    stopping = threading.Event()
    died: list[str] = []
    threads = [threading.Thread(target=_guard, args=(part, stopping, died)) for part in parts(config)]
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        stopping.wait()
    finally:
        stopping.set()
        end = time.monotonic() + STOP_SECONDS_MAX
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
    if died:
        raise PartDied(died[0])


def parts(config: Config) -> list[Part]:
    """The threads of this role, each with a connection of its own."""
    assert config.redis_url is not None, "a role is run with the address of its store"
    assert config.jobs_redis_url is not None, "a role is run with the address of the queue of jobs"
    partitions = all_partitions(config.partitions)
    stores = [connect(config.redis_url, blocking=True, replicas=config.replicas) for _ in range(6)]
    queue = bots(connect(config.jobs_redis_url))

    sealed = connect(config.audit_redis_url or config.redis_url), connect(config.audit_redis_url or config.redis_url)
    signer, kept = Signer(config.receipt_keys), outside(config.heads_outside)
    keeper = Keeper(Book(stores[4], signer, kept), partitions)
    clerk = Clerk(sealed, KeyRing(config.keys), partitions, partial(sign, Book(stores[5], signer, kept)))

    def ask_for(turns: list[tuple[str, int]]) -> None:
        put_bot_moves(queue, turns)

    follow_bots = Follower(
        stores[1], bot_turns.PROCESS, partitions, lambda pointers: bot_turns.bot_turns(pointers, ask_for)
    )
    archives = config.archive is not None
    for store in (*stores, *sealed):
        folder.attach(store, config.archive)

    def settle(pointers: Sequence[Pointer]) -> bool:
        keeping.note(stores[2], pointers)
        if archives:
            archiving.note(stores[2], pointers)
        return settlement.settlement(stores[2], pointers)

    follow_chips = Follower(stores[2], settlement.PROCESS, partitions, settle, UNHURRIED_SECONDS)
    finished = deals(queue.connection)
    ask_to_archive = partial(put_archive_deals, finished) if archives else None
    patience = Patience(config.lobby_hours * HOUR_MS or None, config.abandoned_days * 24 * HOUR_MS or None)
    close = Close(patience, partial(put_close_tables, queue)) if any(patience) else None
    hour = config.audit_hour
    audit = None if hour is None else Nightly(hour, partial(put_nightly_audit, queue))
    asked = Asked(ask_for, ask_to_archive, close, audit)
    return [
        Part("projections", Subscription(stores[0], partitions).run),
        Part("bots", follow_bots.run),
        Part("settlement", follow_chips.run),
        Part("records", clerk.run),
        Part("replays", clerk.run_slow),
        Part("deal log", keeper.run),
        Part("sweep", lambda should_stop: sweep(stores[3], partitions, asked, should_stop)),
    ]


def _guard(part: Part, stopping: threading.Event, died: list[str]) -> None:
    try:
        part.run(stopping.is_set)
    except Exception:
        _log.exception("%s has died", part.name)
        died.append(part.name)
        stopping.set()

"""Taking a command in and waiting for what becomes of it."""

import queue
from typing import Any, TypeAlias

from services.api.backend import Backend
from services.api.problems import Problem
from services.intake import Submitted
from services.store import views
from services.store.keys import receipt_field

Receipt: TypeAlias = dict[str, Any]

WAITERS_MAX = 256


def take_in(backend: Backend, submitted: Submitted) -> Receipt | None:
    """Submit; the receipt if the command was answered before. Raises Problem if intake does not take it."""
    taken = backend.intake(submitted)
    backend.metrics.took(taken.status)
    match taken.status:
        case "reused":
            raise Problem("idempotency_key_reused")
        case "unknown":
            raise Problem("not_found", "There is no such table.")
        case "busy":
            raise Problem("rate_limited", "Too many commands wait to be decided.")
        case "limited":
            raise Problem("rate_limited", "You send too many commands.", wait_seconds=taken.wait_ms / 1000)
        case _:
            return taken.receipt


def take_in_and_wait(backend: Backend, submitted: Submitted, seconds: float) -> Receipt | None:
    """Submit and wait at most `seconds` for the receipt; None if there is none by then."""
    if seconds <= 0 or not backend.waiters.acquire(blocking=False):
        return take_in(backend, submitted)
    try:
        with backend.metrics.waiting.track_inprogress():
            return _wait(backend, submitted, seconds)
    finally:
        backend.waiters.release()


def _wait(backend: Backend, submitted: Submitted, seconds: float) -> Receipt | None:
    """Listen before the command is sent: its receipt may come at once."""
    box: queue.SimpleQueue[Receipt] = queue.SimpleQueue()
    field = receipt_field(submitted.actor, submitted.key)
    stop = backend.feed.on_receipt(submitted.id, field, box.put)
    try:
        receipt = take_in(backend, submitted)
        return receipt if receipt is not None else box.get(timeout=seconds)
    except queue.Empty:
        # The feed may have missed it while it was reconnecting; the store has not.
        return decided(views.receipt(backend.redis, submitted.id, submitted.actor, submitted.key))
    finally:
        stop()


def decided(receipt: Receipt | None) -> Receipt | None:
    """A receipt that is final; None for one that is only queued."""
    return None if receipt is None or receipt["s"] == "queued" else receipt

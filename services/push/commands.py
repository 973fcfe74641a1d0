"""Commands that come over sockets: each is answered when its receipt is pushed."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import gevent

from services.intake import Submitted, Taken
from services.push.reads import Reads
from services.push.together import Together
from services.store.feed import Feed
from services.store.keys import receipt_field
from services.store.wire import StoreUnavailable

QUEUED_SECONDS = 1.0  # A command that is not decided by then is reported as queued.
LOOK_AGAIN_SECONDS = 5.0

Receipt = dict[str, Any]


class Sender(Protocol):
    """Who sends commands and hears what becomes of each; neither may wait."""

    def answered(self, key: str, receipt: Receipt) -> None:
        """The receipt of command `key`; it may come twice, first as `queued`."""

    def not_taken(self, key: str, code: str) -> None:
        """Command `key` was not taken in, for the reason `code`."""


class Waiting:
    """A command that has no answer yet. It is called with the receipt, and told by intake whether it was taken in."""

    __slots__ = ("_all", "_sender", "_stop", "is_queued", "look_at", "submitted")

    def __init__(self, submitted: Submitted, sender: Sender, waiting: "dict[Waiting, None]", feed: Feed) -> None:
        self.submitted = submitted
        self.is_queued = False
        self.look_at = time.monotonic() + QUEUED_SECONDS
        self._sender = sender
        self._all = waiting
        waiting[self] = None
        # Before it is sent, since the receipt may come at once.
        field = receipt_field(submitted.actor, submitted.key)
        self._stop: Callable[[], None] = feed.on_receipt(submitted.id, field, self)

    def __call__(self, receipt: Receipt) -> None:
        """The receipt has come."""
        if self.forget():
            self._sender.answered(self.submitted.key, receipt)

    def taken(self, taken: Taken) -> None:
        """Intake has answered."""
        match taken.status:
            case "new":
                pass
            case "dup":
                if taken.receipt is not None:
                    self(taken.receipt)
            case "reused":
                self._not_taken("idempotency_key_reused")
            case "unknown":
                self._not_taken("not_found")
            case "busy" | "limited":
                self._not_taken("rate_limited")

    def failed(self, error: Exception) -> None:
        """The store did not answer; the command may be in or not."""
        self._not_taken("unavailable")

    def queued(self) -> None:
        """It has waited for long: let the sender know that it is not lost."""
        if not self.is_queued:
            self.is_queued = True
            self._sender.answered(self.submitted.key, {"s": "queued"})

    def forget(self) -> bool:
        """Wait no longer, though the command stays what it is. Did it still wait?"""
        if self not in self._all:
            return False
        del self._all[self]
        self._stop()
        return True

    def _not_taken(self, code: str) -> None:
        if self.forget():
            self._sender.not_taken(self.submitted.key, code)


class Commands:
    """The commands of all sockets that have no answer yet."""

    def __init__(self, intake: Together, reads: Reads, feed: Feed) -> None:
        self._intake = intake
        self._reads = reads
        self._feed = feed
        self._waiting: dict[Waiting, None] = {}

    def put(self, submitted: Submitted, sender: Sender) -> Waiting:
        """Send a command. Does not wait."""
        waiting = Waiting(submitted, sender, self._waiting, self._feed)
        self._intake.put(submitted, waiting)
        return waiting

    def look_after(self) -> None:
        """For ever: report what is still queued, and look for receipts that were not pushed to us."""
        while True:
            gevent.sleep(QUEUED_SECONDS)
            now = time.monotonic()
            for waiting in [each for each in self._waiting if each.look_at < now]:
                self._look(waiting, now)

    def _look(self, waiting: Waiting, now: float) -> None:
        waiting.look_at = now + LOOK_AGAIN_SECONDS
        submitted = waiting.submitted
        try:
            receipt = self._reads.receipt(submitted.id, submitted.actor, submitted.key)
        except StoreUnavailable:
            return
        if waiting in self._waiting and receipt is not None:
            if receipt["s"] == "queued":
                waiting.queued()
            else:
                waiting(receipt)

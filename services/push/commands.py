"""Commands that come over sockets: each is answered when its receipt is pushed."""

import time
from collections.abc import Callable
from typing import Any

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


class Waiting:
    """A command of a socket and who waits for its answer.

    `answer` is called with the receipt, perhaps after one that says `queued`; `fail` instead, with a code, when the
    command was not taken in.
    """

    __slots__ = ("_stop", "answer", "fail", "is_queued", "look_at", "submitted")

    def __init__(
        self, submitted: Submitted, answer: Callable[[Receipt], None], fail: Callable[[str], None]
    ) -> None:
        self.submitted = submitted
        self.answer = answer
        self.fail = fail
        self.is_queued = False
        self.look_at = time.monotonic() + QUEUED_SECONDS
        self._stop: Callable[[], None] | None = None

    def listen(self, feed: Feed, heard: Callable[[Receipt], None]) -> None:
        """Hear of the receipt from now on; before the command is sent, since it may come at once."""
        self._stop = feed.on_receipt(self.submitted.id, self.field, heard)

    def stop(self) -> None:
        """Listen no longer."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    @property
    def field(self) -> str:
        """The name of its receipt at the table."""
        return receipt_field(self.submitted.actor, self.submitted.key)


class Commands:
    """The commands of all sockets that have no answer yet."""

    def __init__(self, intake: Together, reads: Reads, feed: Feed) -> None:
        self._intake = intake
        self._reads = reads
        self._feed = feed
        self._open: dict[Waiting, None] = {}

    def put(self, waiting: Waiting) -> None:
        """Send a command. Does not wait."""
        self._open[waiting] = None
        waiting.listen(self._feed, lambda receipt: self._answered(waiting, receipt))
        self._intake.put(
            waiting.submitted,
            lambda taken: self._taken(waiting, taken),
            lambda error: self._failed(waiting, "unavailable"),
        )

    def forget(self, waiting: Waiting) -> None:
        """Whoever waited is gone. The command stays what it is."""
        self._open.pop(waiting, None)
        waiting.stop()

    def look_after(self) -> None:
        """For ever: report what is still queued, and look for receipts that were not pushed to us."""
        while True:
            gevent.sleep(QUEUED_SECONDS)
            now = time.monotonic()
            for waiting in [each for each in self._open if each.look_at < now]:
                self._look(waiting, now)

    def _taken(self, waiting: Waiting, taken: Taken) -> None:
        match taken.status:
            case "new":
                pass
            case "dup":
                if taken.receipt is not None:
                    self._answered(waiting, taken.receipt)
            case "reused":
                self._failed(waiting, "idempotency_key_reused")
            case "unknown":
                self._failed(waiting, "not_found")
            case "busy":
                self._failed(waiting, "rate_limited")

    def _look(self, waiting: Waiting, now: float) -> None:
        waiting.look_at = now + LOOK_AGAIN_SECONDS
        submitted = waiting.submitted
        try:
            receipt = self._reads.receipt(submitted.id, submitted.actor, submitted.key)
        except StoreUnavailable:
            return
        if waiting not in self._open or receipt is None:
            return
        if receipt["s"] != "queued":
            self._answered(waiting, receipt)
        elif not waiting.is_queued:
            waiting.is_queued = True
            waiting.answer(receipt)

    def _answered(self, waiting: Waiting, receipt: Receipt) -> None:
        if waiting in self._open:
            self.forget(waiting)
            waiting.answer(receipt)

    def _failed(self, waiting: Waiting, code: str) -> None:
        if waiting in self._open:
            self.forget(waiting)
            waiting.fail(code)

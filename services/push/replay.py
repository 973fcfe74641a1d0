"""What a client has missed, read from the store while the live versions wait; then both are joined without a seam."""

import logging
from collections.abc import Callable, Sequence

from services.push.live import NOT_VIEWED, Subscriber
from services.push.messages import Seat, Shows, Transport, view_member
from services.push.reads import Reads
from services.store import views
from services.store.tenure import last_freed
from services.store.views import Current, Item
from services.store.wire import StoreUnavailable

PAGE = 500
ROUNDS_MAX = 20
RESUME_BYTES = 6_000
"""Who was away since before the running or last deal began, and has missed more than this, is shown the view alone."""

_BEGINS = (b'"deal_committed"', b'"deal_started"')  # Deals of early builds were not committed to.

_log = logging.getLogger(__name__)


def catcher(reads: Reads) -> Callable[[Subscriber, int], None]:
    """The function that brings a holding subscriber from its version up to now and releases it, in one turn of it."""

    def catch_up(subscriber: Subscriber, turn: int) -> None:
        try:
            _catch_up(reads, subscriber, turn)
        except StoreUnavailable:
            _log.warning("the store went away; a client of %s has to resume", subscriber.table, exc_info=True)
            subscriber.connection.finish(subscriber.transport.too_slow)

    return catch_up


def _catch_up(reads: Reads, subscriber: Subscriber, turn: int) -> None:
    for _ in range(ROUNDS_MAX):
        # First who sits where, then what was told until then: what came later may be for another holder of the seat.
        current = reads.current(subscriber.table)
        if current is None:  # Tables do not end; somebody emptied the store.
            break
        items, gone = _missed(reads, subscriber, current.version)
        if subscriber.turn != turn or subscriber.connection.closed:
            return
        _send_missed(subscriber, items, current, gone=gone)
        if subscriber.release() or not subscriber.connection.drain() or subscriber.turn != turn:
            return
    subscriber.connection.finish(subscriber.transport.too_slow)


def _send_missed(subscriber: Subscriber, items: Sequence[Item], current: Current, *, gone: bool) -> None:
    """Send every version after the subscriber's; or the view, if some are gone or they are more than is promised."""
    seat = views.seat_in(current, subscriber.actor)
    if not gone and subscriber.version <= current.version:
        if not items:
            return
        message, viewed = _messages(subscriber.transport, items, seat, current)
        if len(message) <= RESUME_BYTES or not _reach_before_the_deal(items):
            subscriber.version, subscriber.viewed = items[-1].version, viewed
            subscriber.connection.send(message)
            return
    subscriber.version, subscriber.viewed = current.version, seat
    subscriber.connection.send(subscriber.transport.reset(current.version, views.view_bytes(current, seat)))


def _reach_before_the_deal(items: Sequence[Item]) -> bool:
    """Did the running or last deal begin after the first of `items`? What came before it need not be kept for anybody.
    """
    for begins in _BEGINS:
        for item in reversed(items):
            if begins in item.events[None]:
                return item is not items[0]
    return False


def _missed(reads: Reads, subscriber: Subscriber, last: int) -> tuple[list[Item], bool]:
    """All from the subscriber's version to `last`; is the first of it gone? It is a few deals at the most."""
    found: list[Item] = []
    gone, more, after = False, True, subscriber.version
    while more and not gone:
        told = reads.feed(subscriber.table, after, PAGE)
        if told is None:
            return [], False
        found.extend(item for item in told.items if item.version <= last)
        after = told.items[-1].version if told.items else after
        gone, more = told.gone, told.more and after < last
    return found, gone


def _messages(transport: Transport, items: Sequence[Item], seat: Seat, current: Current) -> tuple[bytes, Seat]:
    """`items` as `seat` is told them, and whose view the last of them brings.

    Only the newest version has a view; if there are newer ones than `items`, they are pushed with theirs.
    """
    hidden = last_freed(items, seat)
    last = items[-1].version
    viewed = last == current.version and transport.shows is not Shows.NOTHING
    shown = view_member(views.view_bytes(current, seat)) if viewed else b""
    messages = [
        transport.version(
            item.version, item.at, item.events[None if item.version <= hidden else seat],
            shown if item.version == last else b"",
        )
        for item in items
    ]
    return b"".join(messages), seat if viewed else NOT_VIEWED

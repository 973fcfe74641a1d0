"""The bytes that go to clients: one rendering per transport and audience, shared by all who see the same."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from websockets.frames import Close, CloseCode, Frame, Opcode

from schemas.times import rfc3339
from services.store.feed import Change

Seat = int | None


class Transport(NamedTuple):
    """How the kinds of message look on a wire; the last three are last words to a client."""

    name: str
    change: Callable[[Change, Seat], bytes]
    missed: Callable[[int, int, bytes, bytes | None], bytes]  # version, at, events, view
    reset: Callable[[int, bytes], bytes]  # version, view
    beat: Callable[[float], bytes]  # seconds since the epoch
    too_slow: bytes
    not_allowed: bytes
    goodbye: bytes


def stream(*, views: bool) -> Transport:
    """Server-Sent Events (contract §3); with `views` each message also carries the view after it."""

    def change(change: Change, seat: Seat) -> bytes:
        return missed(change.version, change.at, change.events[seat], change.view(seat) if views else None)

    def missed(version: int, at: int, events: bytes, view: bytes | None) -> bytes:
        tail = b',"view":%b' % view if views and view is not None else b""
        item = b'{"version":%d,"at":"%b","events":%b%b}' % (version, rfc3339(at).encode(), events, tail)
        return b"id: %d\ndata: %b\n\n" % (version, item)

    def reset(version: int, view: bytes) -> bytes:
        return b"id: %d\nevent: reset\ndata: %b\n\n" % (version, view)

    def beat(now: float) -> bytes:
        return b":\n\n"

    name = "stream with views" if views else "stream"
    # A stream that ends is resumed by its client from the last id; there is no word for why.
    return Transport(name, change, missed, reset, beat, b"", b"", b"")


def _socket_change(change: Change, seat: Seat) -> bytes:
    return frame(b'{"version":%d,"events":%b,"view":%b}' % (change.version, change.events[seat], change.view(seat)))


def _socket_missed(version: int, at: int, events: bytes, view: bytes | None) -> bytes:
    tail = b"" if view is None else b',"view":%b' % view
    return frame(b'{"version":%d,"events":%b%b}' % (version, events, tail))


def _socket_reset(version: int, view: bytes) -> bytes:
    return frame(b'{"version":%d,"events":[],"view":%b,"reset":true}' % (version, view))


def _socket_beat(now: float) -> bytes:
    return frame(b'{"ping":%d}' % int(now * 1000))


def closing(code: CloseCode, reason: str) -> bytes:
    """The last frame of a WebSocket."""
    return Frame(Opcode.CLOSE, Close(code, reason).serialize()).serialize(mask=False)


def frame(payload: bytes) -> bytes:
    """A whole text message of a WebSocket server: neither masked nor compressed, so that it may be shared."""
    return Frame(Opcode.TEXT, payload).serialize(mask=False)


def document(value: object) -> bytes:
    """`value` as JSON in one text message."""
    return frame(msgspec.json.encode(value))


STREAM = stream(views=False)
STREAM_WITH_VIEWS = stream(views=True)
SOCKET = Transport(
    "socket", _socket_change, _socket_missed, _socket_reset, _socket_beat,
    closing(CloseCode.TRY_AGAIN_LATER, "too slow: come back and resume"),
    closing(CloseCode.POLICY_VIOLATION, "the table is private"),
    closing(CloseCode.GOING_AWAY, "the server restarts: come back and resume"),
)

"""How messages look on the two wires; each is made once and shared by all who see the same."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import msgspec
from websockets.frames import Close, CloseCode, Frame, Opcode

from schemas.times import rfc3339

Seat = int | None


class Shows(Enum):
    """What a message tells of the table beside what happened."""

    NOTHING = "none"
    VIEWS = "whole"  # The view after it.
    PATCHES = "patch"  # The members of the view that it changed, to a client who has the view before it.


class Transport(NamedTuple):
    """The kinds of message. `shown` is one more member of a version's message, or empty."""

    name: str
    shows: Shows
    version: Callable[[int, int, bytes, bytes], bytes]  # version, at, events, shown
    reset: Callable[[int, bytes], bytes]  # version, view
    beat: Callable[[float], bytes]  # seconds since the epoch
    too_slow: bytes  # This and the next two are last words.
    not_allowed: bytes
    goodbye: bytes


def view_member(view: bytes) -> bytes:
    """`view` as a member of a message."""
    return b',"view":' + view


def patch_member(patch: bytes) -> bytes:
    """The changed members of the view as a member of a message."""
    return b',"patch":' + patch


def _stream_version(version: int, at: int, events: bytes, shown: bytes) -> bytes:
    item = b'{"version":%d,"at":"%b","events":%b%b}' % (version, rfc3339(at).encode(), events, shown)
    return b"id: %d\ndata: %b\n\n" % (version, item)


def _stream_reset(version: int, view: bytes) -> bytes:
    return b"id: %d\nevent: reset\ndata: %b\n\n" % (version, view)


def _stream_beat(now: float) -> bytes:
    return b":\n\n"


def _socket_version(version: int, at: int, events: bytes, shown: bytes) -> bytes:
    return frame(b'{"version":%d,"events":%b%b}' % (version, events, shown))


def _socket_reset(version: int, view: bytes) -> bytes:
    return frame(b'{"version":%d,"events":[],"view":%b,"reset":true}' % (version, view))


def _socket_beat(now: float) -> bytes:
    return frame(b'{"ping":%d}' % int(now * 1000))


def frame(payload: bytes) -> bytes:
    """A whole text message of a WebSocket server (RFC 6455 §5.2): neither masked nor compressed, to be shared."""
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 65_536:
        return b"\x81\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (size.to_bytes(8, "big"), payload)


def document(value: object) -> bytes:
    """`value` as JSON in one text message."""
    return frame(msgspec.json.encode(value))


def closing(code: CloseCode, reason: str) -> bytes:
    """The last frame of a WebSocket."""
    return Frame(Opcode.CLOSE, Close(code, reason).serialize()).serialize(mask=False)


def _stream(shows: Shows) -> Transport:
    # A stream that ends is resumed by its client from the last id; there is no word for why.
    return Transport(f"stream {shows.value}", shows, _stream_version, _stream_reset, _stream_beat, b"", b"", b"")


def _socket(shows: Shows) -> Transport:
    return Transport(
        f"socket {shows.value}", shows, _socket_version, _socket_reset, _socket_beat,
        closing(CloseCode.TRY_AGAIN_LATER, "too slow: come back and resume"),
        closing(CloseCode.POLICY_VIOLATION, "the table is private"),
        closing(CloseCode.GOING_AWAY, "the server restarts: come back and resume"),
    )


STREAMS = {shows.value: _stream(shows) for shows in Shows}
SOCKETS = {shows.value: _socket(shows) for shows in (Shows.VIEWS, Shows.PATCHES)}

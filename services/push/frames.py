"""What a WebSocket client says, taken out of its bytes (RFC 6455 §5): strict, and with next to nothing per client.

The library's protocol object takes as long for a frame as all the rest of a command, and kilobytes for a client who
only listens.
"""

from collections.abc import Iterator

from websockets.exceptions import ProtocolError
from websockets.frames import Close, CloseCode, Opcode, apply_mask  # type: ignore[attr-defined]  # The quick one.

CONTROL_BYTES_MAX = 125
_MASK_BYTES = 4
_SIZES = {126: 2, 127: 8}  # So many bytes tell the size of a payload that is too long for seven bits.

Said = tuple[Opcode, bytes]
"""A whole message (TEXT, BINARY) or a control frame (CLOSE, PING, PONG) with its payload."""


class Broken(Exception):
    """The client breaks the protocol; the connection is to be closed with `code`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Frames:
    """The reader of one client; a message may have `bytes_max`."""

    __slots__ = ("_bytes_max", "_kind", "_parts", "_rest")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._rest = b""
        self._kind: Opcode | None = None  # Of the message of which `_parts` have come.
        self._parts = b""

    def read(self, data: bytes) -> Iterator[Said]:
        """What is complete with `data`. Raises Broken, after what came before it."""
        self._rest = self._rest + data if self._rest else data
        while (frame := self._next()) is not None:
            said = self._joined(*frame)
            if said is not None:
                yield said

    def _next(self) -> tuple[int, bytes] | None:
        """The first byte and the payload of the next frame; None: it has not come whole."""
        buffer = self._rest
        if len(buffer) < 2:
            return None
        first, size = buffer[0], buffer[1] - 0x80
        if size < 0:
            raise Broken(CloseCode.PROTOCOL_ERROR, "a frame without a mask")
        mask = 2
        if size in _SIZES:
            mask += _SIZES[size]
            if len(buffer) < mask:
                return None
            size = int.from_bytes(buffer[2:mask], "big")
        self._check(first, size)
        begin = mask + _MASK_BYTES
        end = begin + size
        if len(buffer) < end:
            return None
        self._rest = buffer[end:]
        return first, apply_mask(buffer[begin:end], buffer[mask:begin])

    def _check(self, first: int, size: int) -> None:
        """Before a payload is waited for: may there be such a frame?"""
        if first & 0x70:
            raise Broken(CloseCode.PROTOCOL_ERROR, "an extension that was not agreed on")
        if first & 0x08:
            if size > CONTROL_BYTES_MAX or not first & 0x80:
                raise Broken(CloseCode.PROTOCOL_ERROR, "a control frame that is too long or in parts")
        elif size + len(self._parts) > self._bytes_max:
            raise Broken(CloseCode.MESSAGE_TOO_BIG, f"a message of more than {self._bytes_max} bytes")

    def _joined(self, first: int, payload: bytes) -> Said | None:
        """The message or control frame that is whole with this frame."""
        if first == 0x81 and self._kind is None:
            return Opcode.TEXT, payload
        try:
            kind = Opcode(first & 0x0F)
        except ValueError:
            raise Broken(CloseCode.PROTOCOL_ERROR, "a frame of no known kind") from None
        if kind is Opcode.CLOSE:
            _check_goodbye(payload)
        if kind in _CONTROLS:
            return kind, payload
        if (kind is Opcode.CONT) is (self._kind is None):
            raise Broken(CloseCode.PROTOCOL_ERROR, "parts of two messages, or of none")
        whole, self._parts = self._parts + payload, b""
        kind, self._kind = self._kind or kind, None
        if first & 0x80:
            return kind, whole
        self._kind, self._parts = kind, whole
        return None


_CONTROLS = frozenset({Opcode.CLOSE, Opcode.PING, Opcode.PONG})


def _check_goodbye(payload: bytes) -> None:
    try:
        Close.parse(payload)
    except (ProtocolError, UnicodeDecodeError):
        raise Broken(CloseCode.PROTOCOL_ERROR, "a goodbye that is none") from None

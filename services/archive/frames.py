"""Packed files read a little at a time: whatever somebody put there, no more of it is held than one line.

A few bytes of zstd can say that a gigabyte of zeros follows, with or without telling its size first. So frames are
unpacked in small pieces, and what is longer, larger or tighter packed than anything of ours is refused on the way.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import zstandard

BYTES_MAX: Final = 256 * 1024 * 1024
"""More than any deal is: a frame that unpacks to more is not one of ours."""
LINE_MAX: Final = 4 * 1024 * 1024
WINDOW_MAX: Final = 8 * 1024 * 1024
"""What a packer may ask its unpacker to remember; ours asks for 2 MiB at most."""
RATIO_MAX: Final = 100
RATIO_FROM: Final = 1024 * 1024
"""From so many bytes on the ratio counts: every entry bears a key and a digest, which cannot be packed."""
_PIECE: Final = 256
"""At most 8 MiB come out of it, as a block of 128 KiB takes four bytes at least."""


class BadArchive(Exception):
    """A file of the archive is not what it says; the message tells what is wrong first."""


class Frames:
    """The frames of zstd in a file, one after the other: `begin`, then all of its `lines`, and again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead = b""

    def begin(self) -> bool:
        """Is there another frame? Raises BadArchive when something else follows."""
        self._ahead += self._file.read(_PIECE)
        if not self._ahead:
            return False
        if not self._ahead.startswith(zstandard.FRAME_HEADER):
            raise BadArchive("it cannot be read: what is there is not packed with zstd")
        return True

    def lines(self) -> Iterator[bytes]:
        """Each line of the frame that was begun, without its end. Raises BadArchive, also for a frame without end."""
        held: list[bytes] = []
        length = 0
        for piece in self._unpacked():
            first, *rest = piece.split(b"\n")
            held.append(first)
            length += len(first)
            if length > LINE_MAX:
                raise BadArchive(f"it cannot be read: a line is longer than {LINE_MAX} bytes")
            if rest:
                yield b"".join(held)
                *whole, last = rest
                yield from whole
                held, length = [last], len(last)
        if length:
            raise BadArchive("it cannot be read: its last line has no end")

    def _unpacked(self) -> Iterator[bytes]:
        try:
            size = zstandard.frame_content_size(self._ahead)
            if size > BYTES_MAX:
                raise BadArchive(f"it cannot be read: it unpacks to {size} bytes, and {BYTES_MAX} are the most")
            unpack = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
            taken = total = 0
            while not unpack.eof:
                if not self._ahead:
                    raise BadArchive("it cannot be read: it is cut off")
                taken += len(self._ahead)
                piece = unpack.decompress(self._ahead)
                total += len(piece)
                _expect_plain(total, taken)
                yield piece
                self._ahead = self._file.read(_PIECE) if not unpack.eof else unpack.unused_data
        except zstandard.ZstdError as error:
            raise BadArchive(f"it cannot be read: {error}") from error


def _expect_plain(unpacked: int, packed: int) -> None:
    if max(unpacked, packed) > BYTES_MAX:
        raise BadArchive(f"it cannot be read: it unpacks to more than {BYTES_MAX} bytes")
    if unpacked > max(RATIO_FROM, RATIO_MAX * packed):
        raise BadArchive(f"it cannot be read: it is packed tighter than 1 : {RATIO_MAX}, as no archive is")

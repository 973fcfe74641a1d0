"""The head of a request, read strictly and quickly: the library's own way is a parser for e-mail."""

import re
from collections.abc import Iterator
from typing import BinaryIO

LINE_BYTES_MAX = 16_384
LINES_MAX = 100

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class BadHead(ValueError):
    """The head is not what RFC 9112 asks for; a server that guessed might read it otherwise than a proxy does."""


class Head:
    """The headers of a request, as gevent's handler wants them."""

    status = ""

    def __init__(self, lines: BinaryIO) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in _read(lines):
            self._values.setdefault(name.lower(), []).append(value)
        if len(self._values.get("content-length", ())) > 1:
            raise BadHead("more than one Content-Length")
        length = self.get("content-length", "0")
        if length is None or not length.isascii() or not length.isdigit():
            raise BadHead("a Content-Length that is no number")

    @property
    def headers(self) -> Iterator[str]:
        """`Name: value` of each."""
        return (f"{name}: {value}" for name, values in self._values.items() for value in values)

    @property
    def typeheader(self) -> str | None:
        """The Content-Type."""
        return self.get("content-type")

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value of a header."""
        values = self._values.get(name.lower())
        return values[0] if values else default

    getheader = get

    def __delitem__(self, name: str) -> None:
        del self._values[name.lower()]


def _read(lines: BinaryIO) -> Iterator[tuple[str, str]]:
    for _ in range(LINES_MAX + 1):
        line = lines.readline(LINE_BYTES_MAX)
        if line in (b"\r\n", b"\n"):
            return
        name, colon, value = line.partition(b":")
        if not line.endswith(b"\n") or not colon or _NAME.fullmatch(name) is None:
            raise BadHead("a header that is too long, cut off, folded or without a name")
        yield name.decode("ascii"), value.strip().decode("latin-1")
    raise BadHead("too many headers")

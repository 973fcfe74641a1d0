"""What a client sends on a connection, as requests: parsed by llhttp, which is strict (RFC 9112), and bounded here."""

from collections import deque
from functools import lru_cache
from time import monotonic
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

Environ = dict[str, Any]

LINE_BYTES_MAX = 16_384
LINES_MAX = 100
NAME_BYTES_MAX = 128
HEAD_BYTES_MAX = 32_768
BODY_BYTES_MAX = 65_536
TOO_LARGE = bytes(BODY_BYTES_MAX + 1)
"""Stands for a body that is larger than anybody takes: it is refused for its size, and none of it was kept."""

RECEIVE_BYTES_MAX = 16_384
REQUEST_SECONDS_MAX = 30.0
"""A request that has not come whole by then comes byte by byte from somebody who only wants to hold a connection."""


class BadHead(ValueError):
    """The request is not what RFC 9112 asks for; a server that guessed might read it otherwise than a proxy does."""


class TooLong(ValueError):
    """The address is longer than anybody needs."""


class HungUp(Exception):
    """The client has closed its side in the middle of a request, or sends it too slowly to be waited for."""


class Socket(Protocol):
    """What is needed of a socket."""

    def recv(self, size: int, /) -> bytes: ...  # noqa: D102

    def sendall(self, data: bytes, /) -> None: ...  # noqa: D102


class Incoming:
    """The requests of one connection. `unread`: some of a body was left behind, so no other request can follow."""

    _environ: Environ
    _told: bool
    _has_head: bool
    _refused: bool

    def __init__(self, sock: Socket) -> None:
        self.unread = False
        self._sock = sock
        self._parser = HttpRequestParser(self)
        self._whole: deque[tuple[Environ, bytes]] = deque()
        self._end: float | None = None
        self._begin()

    def request(self) -> tuple[Environ, bytes] | None:
        """The next request: what its head says as a WSGI environment (PEP 3333), and its body, or TOO_LARGE.

        None: the client has gone. Raises BadHead, TooLong, HungUp.
        """
        self._end = None
        while not self._whole:
            if self._begun:
                self._hurry()
            data = self._sock.recv(RECEIVE_BYTES_MAX)
            if not data:
                if self._begun:
                    raise HungUp
                return None
            self._feed(data)
        return self._whole.popleft()

    def _feed(self, data: bytes) -> None:
        self._begun += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self.unread = True  # Whatever follows is in the language that was asked for.
        except HttpParserError as error:
            fault = error.__context__
            raise fault if isinstance(fault, BadHead | TooLong) else BadHead(str(error)) from error
        if not self._has_head and self._begun > HEAD_BYTES_MAX:
            raise BadHead("a head without end")
        if self._has_head and "HTTP_EXPECT" in self._environ and not self._told and not self._body:
            self._told = True
            self._sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _hurry(self) -> None:
        """Called before each further read of a request. Raises HungUp when it takes too long."""
        now = monotonic()
        if self._end is None:
            self._end = now + REQUEST_SECONDS_MAX
        elif now > self._end:
            raise HungUp

    # What the parser calls as it goes.

    def _begin(self) -> None:
        self._environ = {}
        self._url = b""
        self._body = bytearray()
        self._lines = 0
        self._begun = 0
        self._has_head = self._told = self._refused = False

    def on_url(self, part: bytes) -> None:
        """A part of the address."""
        self._url += part
        if len(self._url) > LINE_BYTES_MAX:
            raise TooLong

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, whole; the trailers of chunks come here too, and mean nothing."""
        if self._has_head:
            return
        self._lines += 1
        if self._lines > LINES_MAX or len(value) > LINE_BYTES_MAX:
            raise BadHead("too many headers, or one too long")
        key = _key(name)
        text = value.decode("latin-1").strip(" \t")
        if key in self._environ:
            self._environ[key] += f"{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        elif key:
            self._environ[key] = text

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._has_head = True
        environ = self._environ
        version = self._parser.get_http_version()
        if version not in ("1.1", "1.0"):
            raise BadHead("neither HTTP/1.0 nor 1.1")
        path, _, query = _target(self._url).partition(b"?")
        environ["REQUEST_METHOD"] = self._parser.get_method().decode("latin-1")
        environ["PATH_INFO"] = (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1")
        environ["QUERY_STRING"] = query.decode("latin-1")
        environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        coding = environ.get("HTTP_TRANSFER_ENCODING")
        if coding is not None and (coding.lower() != "chunked" or version == "1.0"):
            raise BadHead("a Transfer-Encoding that is not understood")
        if int(environ.get("CONTENT_LENGTH", "0")) > BODY_BYTES_MAX:
            self._refuse()

    def on_body(self, part: bytes) -> None:
        """A part of the body."""
        if self._refused:
            return
        self._body += part
        if len(self._body) > BODY_BYTES_MAX:
            self._refuse()

    def on_message_complete(self) -> None:
        """The request is whole; another may follow in the same bytes."""
        if not self._refused:
            self._whole.append((self._environ, bytes(self._body)))
        self._begin()

    def _refuse(self) -> None:
        """A body that is too large is not waited for."""
        self.unread = self._refused = True
        self._whole.append((self._environ, TOO_LARGE))


_WITHOUT_PREFIX = {"CONTENT_TYPE", "CONTENT_LENGTH"}


@lru_cache(maxsize=1024)
def _key(name: bytes) -> str:
    """What a header is called in the environment; "": it is left out, as its name could pass for another's."""
    if len(name) > NAME_BYTES_MAX:
        raise BadHead("a header whose name has no end")
    if b"_" in name:
        return ""
    key = name.decode("latin-1").replace("-", "_").upper()
    return key if key in _WITHOUT_PREFIX else f"HTTP_{key}"


def _target(url: bytes) -> bytes:
    """The address without scheme and host, which proxies are told. Raises BadHead."""
    if url.lower().startswith((b"http://", b"https://")):
        _, slash, rest = url.partition(b"//")[2].partition(b"/")
        return slash + rest or b"/"
    if not url.startswith(b"/") and url != b"*":
        raise BadHead("an address that does not begin with a slash")
    return url

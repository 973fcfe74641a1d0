"""A gevent server for a WSGI application: a greenlet per connection, a read and a write per request.

Requests are parsed by llhttp. gevent's own handler reads line by line, looks through each header four times on its
way in and out, and cannot tell its own refusals as problem documents; it took half as long again for a request as the
application behind it.
"""

import logging
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from email.utils import formatdate
from functools import lru_cache
from io import BytesIO
from time import time
from typing import Any

import msgspec
from gevent.pool import Pool
from gevent.server import StreamServer

from schemas.problems import MEDIA_TYPE, kind, problem
from services.http.incoming import BadHead, Environ, HungUp, Incoming, TooLong

BACKLOG = 1024
LINGER_SECONDS = 1.0

TAKE_OVER = "marias.take_over"
"""In the environment: a function that is given a `Take`. The answer is then not sent; the connection is Take's."""

Headers = list[tuple[str, str]]
StartResponse = Callable[..., object]
Application = Callable[[Environ, Any], Iterable[bytes]]
Take = Callable[[int], None]
"""Is given the descriptor of a socket that is its own from then on."""

_log = logging.getLogger(__name__)


class Server(StreamServer):  # type: ignore[misc]  # gevent has no types.
    """Serves `application`; who stays silent for `silent_seconds_max`, in a request or between two, is hung up on."""

    def __init__(self, listener: socket.socket, application: Application, *, silent_seconds_max: float = 60.0) -> None:
        # A pool, so that a stop can wait for the requests that are being answered.
        super().__init__(listener, spawn=Pool())
        self._application = application
        self._silent_seconds_max = silent_seconds_max

    def handle(self, sock: socket.socket, address: object) -> None:
        """Answer the requests of a connection one after the other. `StreamServer` calls this and closes the socket."""
        sock.settimeout(self._silent_seconds_max)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        incoming = Incoming(sock)
        with suppress(OSError, HungUp):  # It has gone, or was silent for too long: there is nobody to tell.
            try:
                while (asked := incoming.request()) is not None and self._answer(sock, address, incoming, *asked):
                    pass
            except (BadHead, TooLong) as error:
                _log.info("not HTTP, from %s: %s", address, error)
                incoming.unread = True
                sock.sendall(_refusal("uri_too_long" if isinstance(error, TooLong) else "bad_request"))
            if incoming.unread:
                _linger(sock)

    def _answer(
        self, sock: socket.socket, address: object, incoming: Incoming, head: Environ, body: bytes
    ) -> bool:
        """Answer one request. May another follow on the connection?"""
        environ = {**head, **_environ(address), "wsgi.input": BytesIO(body)}
        answer = _call(self._application, environ)
        if not isinstance(answer, tuple):
            answer(sock.detach())
            return False
        keeps = not incoming.unread and _is_kept(environ)
        sock.sendall(_whole(*answer, environ, keeps=keeps))
        return keeps


def listen(host: str, port: int, fd: int | None) -> socket.socket:
    """The socket to listen on: one that the parent has opened, or a new one."""
    if fd is not None:
        return socket.socket(fileno=fd)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def _environ(address: object) -> Environ:
    host, port = address[:2] if isinstance(address, tuple) else ("", "")
    return {**_BASE, "REMOTE_ADDR": host, "REMOTE_PORT": str(port)}


_BASE: Environ = {
    "SCRIPT_NAME": "", "SERVER_NAME": "marias", "SERVER_PORT": "", "wsgi.version": (1, 0), "wsgi.url_scheme": "http",
    "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False, "wsgi.input_terminated": True,
    "wsgi.errors": sys.stderr,
}


def _call(application: Application, environ: Environ) -> tuple[str, Headers, bytes] | Take:
    """Status, headers and body that `application` answers with, or who takes the connection over."""
    said: list[tuple[str, Headers]] = []
    taken: list[Take] = []
    environ[TAKE_OVER] = taken.append

    def start_response(status: str, headers: Headers, *_: object) -> None:
        said.append((status, headers))

    try:
        chunks = application(environ, start_response)
        try:
            body = b"".join(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        if taken:
            return taken[0]
        status, headers = said[-1]
        spoken = "".join([name + value for name, value in headers])
        if "\r" in spoken or "\n" in spoken:
            raise ValueError("a header of more than one line")
    except Exception:
        _log.exception("the application failed at %s %s", environ["REQUEST_METHOD"], environ["PATH_INFO"])
        document = msgspec.json.encode(problem("internal"))
        return "500 Internal Server Error", [("Content-Type", MEDIA_TYPE)], document
    return status, headers, body


def _is_kept(environ: Environ) -> bool:
    wish = environ.get("HTTP_CONNECTION", "").lower()
    return wish == "keep-alive" if environ["SERVER_PROTOCOL"] == "HTTP/1.0" else "close" not in wish


def _whole(status: str, headers: Headers, body: bytes, environ: Environ, *, keeps: bool) -> bytes:
    """Head and body together: two sends are two packets, and two system calls."""
    lines = [f"HTTP/1.1 {status}", *[f"{name}: {value}" for name, value in headers], _date(int(time()))]
    said = {name.lower() for name, _ in headers}
    if "content-length" not in said and status[:3] not in ("204", "304"):
        lines.append(f"Content-Length: {len(body)}")
    if not keeps:
        lines.append("Connection: close")
    elif environ["SERVER_PROTOCOL"] == "HTTP/1.0":
        lines.append("Connection: keep-alive")
    return b"%b\r\n\r\n%b" % ("\r\n".join(lines).encode("latin-1"), body)


@lru_cache(maxsize=1)
def _date(now: int) -> str:
    return f"Date: {formatdate(now, usegmt=True)}"


def _refusal(code: str) -> bytes:
    """The whole answer to what is not HTTP, after which the connection is closed."""
    status, title, _ = kind(code)
    headers = [("Content-Type", MEDIA_TYPE)]
    body = msgspec.json.encode(problem(code))
    return _whole(f"{status} {title}", headers, body, {"SERVER_PROTOCOL": "HTTP/1.1"}, keeps=False)


def _linger(sock: socket.socket) -> None:
    """Let the client read its answer: a close with bytes unread would take it away from it."""
    sock.shutdown(socket.SHUT_WR)
    sock.settimeout(LINGER_SECONDS)
    end = time() + LINGER_SECONDS
    while time() < end and sock.recv(65_536):
        pass

"""The gevent server: streams and sockets are taken out of HTTP, everything else is a WSGI application's."""

import logging
import re
import socket
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import msgspec
from gevent.pool import Pool
from gevent.pywsgi import WSGIHandler, WSGIServer

from schemas.problems import MEDIA_TYPE, kind, problem
from services.push import sse, upgrade
from services.push.access import Asked, Environ, Refused
from services.push.cors import allowing, preflight
from services.push.heads import Head
from services.push.service import Service
from services.push.sse import Take
from services.store.wire import StoreUnavailable

BACKLOG = 1024
PREFLIGHT = "preflight"
SILENT_BEATS_MAX = 5
"""A client that owes us the rest of a request, or keeps a connection for the next, may be silent for so long."""

StartResponse = Callable[[str, list[tuple[str, str]]], object]
Application = Callable[..., Iterable[bytes]]

_log = logging.getLogger(__name__)

_BAD_REQUEST = msgspec.json.encode(problem("bad_request"))
_NOT_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
    % (MEDIA_TYPE.encode(), len(_BAD_REQUEST), _BAD_REQUEST)
)
_ROUTE = re.compile(r"/v1/tables/([^/]*)/(stream|socket)")
_PREPARE = {"stream": sse.prepare, "socket": upgrade.prepare}


class Server(WSGIServer):  # type: ignore[misc]  # gevent has no types.
    """Listens, and knows the service that streams and sockets belong to."""

    def __init__(self, listener: socket.socket, application: Application, service: Service) -> None:
        self.service = service
        # A pool, so that a stop can wait for the requests that are being answered.
        super().__init__(listener, application, spawn=Pool(), log=None, handler_class=Handler)


class Handler(WSGIHandler):  # type: ignore[misc]  # gevent has no types.
    """Serves one HTTP connection; a request for a stream or a socket takes the connection over."""

    socket: Any

    def handle(self) -> None:
        """Answer the requests of a connection one after the other, until the client is silent for too long."""
        self.socket.settimeout(SILENT_BEATS_MAX * self.server.service.pulse.seconds)
        super().handle()

    def MessageClass(self, lines: BinaryIO, *_: object) -> Head:
        """Read the head of a request. Raises BadHead, which becomes a 400."""
        return Head(lines)

    def log_request(self) -> None:
        """The application logs what is to be logged."""

    def log_error(self, msg: str, *args: object) -> None:
        """What clients do wrong is no fault of ours: it is told to who asks for it."""
        _log.info(msg, *args)

    def _handle_client_error(self, error: Exception) -> tuple[str, bytes]:
        """The whole answer to what is not HTTP; the connection is closed after it."""
        self.log_error("not HTTP, from %s: %s", self.client_address, error)
        return "400", _NOT_HTTP

    def _write_with_headers(self, data: bytes) -> None:
        """Send head and body together: two sends are two packets, and two system calls."""
        self.headers_sent = True
        self.finalize_headers()
        headers = b"".join([b"%b: %b\r\n" % header for header in self.response_headers])
        head = b"HTTP/1.1 %b\r\n%b\r\n" % (self.status, headers)
        if self.response_use_chunked:
            self._sendall(head)
            self._write(data)
        else:
            self._sendall(head + data)

    def handle_one_response(self) -> None:
        """Answer the request that was just read."""
        found = _ROUTE.fullmatch(self.environ["PATH_INFO"])
        if found is None:
            super().handle_one_response()
            return
        service = self.server.service
        try:
            take = _prepare(service, found[2], found[1], self.environ)
        except Refused as refusal:
            self.application = _answer(refusal, service.origins)
            super().handle_one_response()
        else:
            self._hand_over(take)

    def _hand_over(self, take: Take) -> None:
        """Give the bare socket away. This greenlet ends as soon as the newcomer is settled."""
        self.close_connection = True
        fd, self.socket = self.socket.detach(), None
        del self.rfile, self.environ
        take(fd)


def _prepare(service: Service, route: str, table: str, environ: Environ) -> Take:
    """Raises Refused; PREFLIGHT is the answer to a browser that asks beforehand."""
    if environ["REQUEST_METHOD"] == "OPTIONS":
        raise Refused(PREFLIGHT)
    if environ["REQUEST_METHOD"] != "GET":
        raise Refused("method_not_allowed")
    try:
        return _PREPARE[route](service, Asked.of(table, environ))
    except StoreUnavailable:
        raise Refused("unavailable") from None


def _answer(refusal: Refused, origins: frozenset[str]) -> Application:
    """The application that answers with a problem document, or a preflight with nothing."""

    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if refusal.code == PREFLIGHT:
            start_response("204 No Content", preflight(environ, origins))
            return []
        status, title, _ = kind(refusal.code)
        body = msgspec.json.encode(refusal.document)
        headers = [("Content-Type", MEDIA_TYPE), ("Content-Length", str(len(body))), *allowing(environ, origins)]
        if refusal.code in _HEADERS:
            headers.append(_HEADERS[refusal.code])
        start_response(f"{status} {title}", headers)
        # What follows the head of an answer to HEAD would be read as the next answer.
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    return application


_HEADERS = {
    "method_not_allowed": ("Allow", "GET, OPTIONS"),
    "unauthenticated": ("WWW-Authenticate", 'Bearer realm="marias"'),
    "rate_limited": ("Retry-After", "1"),
    "unavailable": ("Retry-After", "1"),
}


def listener(host: str, port: int, fd: int | None) -> socket.socket:
    """The socket to listen on: one that the parent has opened, or a new one."""
    if fd is not None:
        return socket.socket(fileno=fd)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)

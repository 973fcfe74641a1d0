"""Streams and sockets are taken out of HTTP, everything else is a WSGI application's."""

import re
from collections.abc import Iterable

import msgspec

from schemas.problems import MEDIA_TYPE, kind
from services.http.incoming import Environ
from services.http.server import TAKE_OVER, Application, StartResponse, Take
from services.push import sse, upgrade
from services.push.access import Asked, Refused
from services.push.cors import allowing, preflight
from services.push.service import Service
from services.store.wire import StoreUnavailable

PREFLIGHT = "preflight"

_ROUTE = re.compile(r"/v1/tables/([^/]*)/(stream|socket)")
_PREPARE = {"stream": (sse.prepare, sse.QUERY), "socket": (upgrade.prepare, upgrade.QUERY)}


class Front:
    """The WSGI application that takes streams and sockets out of HTTP; everything else goes to `application`."""

    def __init__(self, application: Application, service: Service) -> None:
        self._application = application
        self._service = service

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, or take its connection over."""
        found = _ROUTE.fullmatch(environ["PATH_INFO"])
        if found is None:
            return self._application(environ, start_response)
        try:
            take = _prepare(self._service, found[2], found[1], environ)
        except Refused as refusal:
            return _answer(refusal, environ, start_response, self._service.origins)
        environ[TAKE_OVER](take)
        return []


def _prepare(service: Service, route: str, table: str, environ: Environ) -> Take:
    """Raises Refused; PREFLIGHT is the answer to a browser that asks beforehand."""
    if environ["REQUEST_METHOD"] == "OPTIONS":
        raise Refused(PREFLIGHT)
    if environ["REQUEST_METHOD"] != "GET":
        raise Refused("method_not_allowed")
    try:
        prepare, names = _PREPARE[route]
        return prepare(service, Asked.of(table, environ, names))
    except StoreUnavailable:
        raise Refused("unavailable") from None


def _answer(
    refusal: Refused, environ: Environ, start_response: StartResponse, origins: frozenset[str]
) -> Iterable[bytes]:
    """A problem document, or nothing for a preflight."""
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


_HEADERS = {
    "method_not_allowed": ("Allow", "GET, OPTIONS"),
    "unauthenticated": ("WWW-Authenticate", 'Bearer realm="marias"'),
    "rate_limited": ("Retry-After", "1"),
    "unavailable": ("Retry-After", "1"),
}

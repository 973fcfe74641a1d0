"""Around every request: an id, headers that browsers obey, one count and one line of log.

It stands outside of Flask, whose header objects would cost more than the rest of it.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from structlog.stdlib import BoundLogger

from schemas.problems import MEDIA_TYPE, kind, problem
from services.api.log import is_logged
from services.api.metrics import Metrics

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

ROUTE, WHO, CODE = "marias.route", "marias.who", "marias.code"
"""What the endpoints note in the environment for the log: the rule of the address, the caller, a refusal's code."""

CAREFUL = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
)
UNLESS_SAID = (
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cache-Control", "no-store"),
)
REQUESTS_MAX = 1_024
"""Requests that are answered at once in one process; more would only wait, each with what it holds."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CORS_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, Last-Event-ID"
CORS_EXPOSED = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id"
CORS_SECONDS = "600"

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Edge:
    """The WSGI application around `application`; `origins` are the web pages of others that may call it."""

    def __init__(
        self, application: Application, *, metrics: Metrics, log: BoundLogger, origins: frozenset[str]
    ) -> None:
        self._application = application
        self._metrics = metrics
        self._log = log
        self._origins = origins
        self._inside = 0

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        began = time.perf_counter()
        given = environ.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)

        def start(status: str, headers: Headers, *failure: object) -> Any:
            self._complete(environ, headers, request_id)
            self._note(environ, int(status[:3]), time.perf_counter() - began, request_id)
            return start_response(status, headers, *failure)

        if self._inside >= REQUESTS_MAX:
            return _too_many(environ, start)
        self._inside += 1
        try:
            return self._application(environ, start)
        finally:
            self._inside -= 1

    def _complete(self, environ: Environ, headers: Headers, request_id: str) -> None:
        said = {name for name, _ in headers}
        headers.extend(CAREFUL)
        headers.extend(header for header in UNLESS_SAID if header[0] not in said)
        headers.append(("X-Request-Id", request_id))
        if self._origins:
            self._allow_origin(environ, headers)

    def _allow_origin(self, environ: Environ, headers: Headers) -> None:
        """CORS, for the pages that the operator has named (`*` names all; no cookie ever counts)."""
        headers.append(("Vary", "Origin"))
        origin = environ.get("HTTP_ORIGIN")
        if origin is None or not self._origins & {origin, "*"}:
            return
        headers.append(("Access-Control-Allow-Origin", origin))
        headers.append(("Access-Control-Expose-Headers", CORS_EXPOSED))
        if environ["REQUEST_METHOD"] == "OPTIONS":
            headers.append(("Access-Control-Allow-Methods", dict(headers).get("Allow", "")))
            headers.append(("Access-Control-Allow-Headers", CORS_HEADERS))
            headers.append(("Access-Control-Max-Age", CORS_SECONDS))

    def _note(self, environ: Environ, status: int, seconds: float, request_id: str) -> None:
        """Count the answer and log it: never the query (it may hold a join code), a body or a token."""
        method = environ["REQUEST_METHOD"]
        # A client may make methods up; each would be counted for ever.
        self._metrics.answered(method if method in METHODS else "OTHER", environ.get(ROUTE, "none"), status, seconds)
        if is_logged():
            self._log.info(
                "answered", method=method, path=environ["PATH_INFO"], status=status, ms=round(seconds * 1000, 2),
                request=request_id, who=environ.get(WHO), code=environ.get(CODE),
            )


def _too_many(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer without the application, which has enough to do."""
    environ[CODE] = "unavailable"
    status, title, _ = kind("unavailable")
    body = msgspec.json.encode(problem("unavailable", "Too many requests are being answered."))
    headers = [("Content-Type", MEDIA_TYPE), ("Content-Length", str(len(body))), ("Retry-After", "1")]
    start_response(f"{status} {title}", headers)
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

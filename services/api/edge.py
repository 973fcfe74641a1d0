"""Around every request: an id, headers that browsers obey, one count and one line of log."""

import re
import secrets
import time

from flask import Flask, Response, g, request
from structlog.stdlib import BoundLogger

from services.api.auth import authenticate
from services.api.backend import backend

SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
)
NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'"
CORS_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, Last-Event-ID"
CORS_EXPOSED = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id"
CORS_SECONDS = "600"

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def register(app: Flask, *, log: BoundLogger, origins: frozenset[str]) -> None:
    """Put the hooks round the endpoints of `app`; `origins` are the web pages of others that may call it."""

    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()
        given = request.environ.get("HTTP_X_REQUEST_ID", "")
        g.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        authenticate()

    @app.after_request
    def end(response: Response) -> Response:
        headers = response.headers
        headers.extend(SECURITY)
        headers["X-Request-Id"] = g.request_id
        headers.setdefault("Content-Security-Policy", NOTHING_LOADS)
        headers.setdefault("Cache-Control", "no-store")
        if origins:
            _allow_origin(response, origins)
        _note(response, log)
        return response


def _allow_origin(response: Response, origins: frozenset[str]) -> None:
    """CORS, for the pages that the operator has named (`*` names all; no cookie ever counts)."""
    response.vary.add("Origin")
    origin = request.environ.get("HTTP_ORIGIN")
    if origin is None or not origins & {origin, "*"}:
        return
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Access-Control-Expose-Headers"] = CORS_EXPOSED
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = response.headers.get("Allow", "")
        response.headers["Access-Control-Allow-Headers"] = CORS_HEADERS
        response.headers["Access-Control-Max-Age"] = CORS_SECONDS


def _note(response: Response, log: BoundLogger) -> None:
    """Count the answer and log it: never the query (it may hold a join code), a body or a token."""
    seconds = time.perf_counter() - g.began
    route = request.url_rule.rule if request.url_rule is not None else "none"
    backend().metrics.answered(request.method, route, response.status_code, seconds)
    log.info(
        "answered", method=request.method, path=request.path, status=response.status_code,
        ms=round(seconds * 1000, 2), request=g.request_id,
        who=g.principal.id if "principal" in g else None, code=g.get("code"),
    )

"""Refusing a request: the exception that carries a problem document, and the answers made of it."""

import math
from collections.abc import Mapping

import msgspec
from flask import Flask, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from schemas.errors import Malformed
from schemas.problems import MEDIA_TYPE, kind, problem
from services.api.edge import CODE
from services.api.lean import Response
from services.store.wire import StoreUnavailable

RETRY_SECONDS = 1

# What werkzeug refuses by itself, as one of our codes.
_CODES = {
    400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type",
}


class Problem(Exception):
    """A refusal with its permanent code; becomes a problem document. `wait_seconds` is told by those that pass."""

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        errors: Mapping[str, list[str]] | None = None,
        facts: Mapping[str, object] | None = None,
        wait_seconds: float = RETRY_SECONDS,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.wait_seconds = wait_seconds
        self.document = problem(code, detail, errors=errors, facts=facts)


def answer(document: Mapping[str, object], wait_seconds: float = RETRY_SECONDS) -> Response:
    """The response of a problem document, with the headers that its code calls for."""
    request.environ[CODE] = document["code"]
    response = Response(msgspec.json.encode(document), int(str(document["status"])), mimetype=MEDIA_TYPE)
    match document["code"]:
        case "unauthenticated":
            response.headers["WWW-Authenticate"] = 'Bearer realm="marias"'
        case "rate_limited" | "unavailable":
            response.headers["Retry-After"] = str(max(1, math.ceil(wait_seconds)))
    return response


def register(app: Flask) -> None:
    """Let every failure of `app` leave as a problem document."""

    @app.errorhandler(Problem)
    def refused(error: Problem) -> Response:
        return answer(error.document, error.wait_seconds)

    @app.errorhandler(Malformed)
    def malformed(error: Malformed) -> Response:
        return answer(problem("malformed", errors={error.field or "body": [error.message]}))

    @app.errorhandler(StoreUnavailable)
    def unavailable(error: StoreUnavailable) -> Response:
        return answer(problem("unavailable", "The store does not answer; whether the request had an effect is open."))

    @app.errorhandler(HTTPException)
    def refused_by_framework(error: HTTPException) -> Response:
        return _of_framework(error)


def _of_framework(error: HTTPException) -> Response:
    status = error.code or 500
    if status < 400:
        return Response(status=status, headers=list(error.get_headers()))
    code = _CODES.get(status, "bad_request" if status < 500 else "internal")
    response = answer(problem(code) | {"status": status})
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return response


def status_of(code: str) -> int:
    """The HTTP status that `code` is answered with."""
    return kind(code).status

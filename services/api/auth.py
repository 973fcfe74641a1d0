"""Who is calling: bearer tokens on every call but a few, and what each role may do."""

from typing import cast

from flask import request
from flask.globals import request_ctx

from services.api.backend import backend
from services.api.edge import ROUTE, WHO
from services.api.problems import Problem
from services.tokens import Principal, TokenRefused

SCHEME = "bearer "
PRINCIPAL = "marias.principal"


def authenticate() -> None:
    """Before each request: know the caller, unless the endpoint is open to all or there is no such endpoint."""
    asked = request_ctx.request
    environ, rule = asked.environ, asked.url_rule
    if rule is None:
        return
    environ[ROUTE] = rule.rule
    if rule.endpoint not in OPEN and environ["REQUEST_METHOD"] != "OPTIONS":
        environ[PRINCIPAL] = principal = _principal(environ.get("HTTP_AUTHORIZATION", ""))
        environ[WHO] = principal.id


def caller() -> Principal:
    """Who sent the current request."""
    return cast(Principal, request.environ[PRINCIPAL])


def player() -> Principal:
    """The caller, if it is a player: only players command. Raises Problem `forbidden`."""
    principal = caller()
    if principal.role != "player":
        raise Problem("forbidden", f"The role {principal.role} commands nothing.")
    return principal


def reader_of_cards() -> Principal:
    """The caller, unless it is an operator, who never sees a card. Raises Problem `forbidden`."""
    principal = caller()
    if principal.role == "operator":
        raise Problem("forbidden", "The role operator reads operations, never cards.")
    return principal


def operator() -> Principal:
    """The caller, if it may read operations. Raises Problem `forbidden`."""
    principal = caller()
    if principal.role == "player":
        raise Problem("forbidden", "Operations are read by operators and auditors.")
    return principal


def _principal(header: str) -> Principal:
    if header[: len(SCHEME)].lower() != SCHEME:
        raise Problem("unauthenticated")
    try:
        return backend().ring.verify(header[len(SCHEME) :].strip())
    except TokenRefused as error:
        raise Problem("unauthenticated", str(error)) from None


OPEN = frozenset({
    "players.post_player",
    "operations.get_live",
    "operations.get_ready",
    "operations.get_metrics",
    "document.get_openapi",
    "document.get_docs",
    "document.get_docs_asset",
    "document.get_keys",
    "document.get_problems",
    "document.get_problem",
    # Pages know their reader by a cookie that the API does not look at.
    "pages.get_entrance",
    "pages.get_home",
    "pages.get_table",
    "pages.get_replay",
    "pages.get_proof",
    "pages.get_bank",
    "pages.get_login",
    "pages.post_login",
    "pages.post_logout",
    "pages.get_asset",
})

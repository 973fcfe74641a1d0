"""Who reads a page: the token of a cookie, or a visitor without one; and how they sign in and out.

The cookie is kept from scripts and from other sites' requests, and goes to the pages alone: the API never looks at it.
A visitor asks with a token of a minute that leaves this process only in a question; what he may see, the Clerk decides
as for anybody who has no seat.
"""

from hashlib import sha256
from urllib.parse import urlsplit

from flask import Request, Response, request

from services.api.auth import PRINCIPAL
from services.api.backend import backend
from services.api.edge import WHO
from services.api.problems import Problem
from services.pages.rendering import VISITOR, Reader
from services.tokens import Principal, TokenRefused

COOKIE = "marias_token"
PATHS = ("/replay", "/bank")
"""Where cookies go."""
CHOICE_SECONDS = 365 * 24 * 3600
VISITOR_SECONDS = 60


def reader() -> Reader:
    """Who reads the page of the current request, known from then on as the caller is to the API.

    Raises Problem `unauthenticated` for a token that is not good any more, `rate_limited` for too many visits from
    one address.
    """
    token = request.cookies.get(COOKIE, "")
    if token:
        principal = verified(token)
        _be(principal, token)
        return Reader(*principal)
    if wait_seconds := backend().guests.admit(request.environ):
        raise Problem("rate_limited", "Too many pages were asked for from your address.", wait_seconds=wait_seconds)
    home = sha256(backend().guests.home(request.environ).encode()).hexdigest()
    visitor = Principal(f"visitor-{home[:16]}", "", "player")  # The Clerk lets nobody ask too much at once.
    _be(visitor, backend().ring.issue(role=visitor.role, sub=visitor.id, name="", seconds=VISITOR_SECONDS))
    return VISITOR


def verified(token: str) -> Principal:
    """Whose token it is. Raises Problem `unauthenticated`."""
    try:
        return backend().ring.verify(token)
    except TokenRefused as error:
        raise Problem("unauthenticated", str(error)) from None


def keep(response: Response, token: str) -> None:
    """Let the browser send `token` with requests for pages until it is closed; "": forget it."""
    seconds = None if token else 0
    for path in PATHS:
        response.set_cookie(
            COOKIE, token, path=path, httponly=True, samesite="Strict", secure=_is_encrypted(request), max_age=seconds
        )


def keep_choice(response: Response, name: str, value: str) -> None:
    """Remember how a reader wants his pages; the script of a page does the same."""
    for path in PATHS:
        response.set_cookie(f"marias_{name}", value, path=path, samesite="Strict", max_age=CHOICE_SECONDS)


def from_our_page() -> bool:
    """Whether the form of the current request was sent by a page of ours, as the browser says; others send no form."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == request.host


def _be(principal: Principal, token: str) -> None:
    request.environ[PRINCIPAL] = principal
    request.environ[WHO] = principal.id
    request.environ["HTTP_AUTHORIZATION"] = f"Bearer {token}"  # What the Clerk is asked with.


def _is_encrypted(asked: Request) -> bool:
    """Also behind a proxy; who lies about it only makes his own cookie stricter."""
    return "https" in (asked.scheme, asked.headers.get("X-Forwarded-Proto", ""))

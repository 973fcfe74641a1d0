"""The pages for people, over the same questions as the API: replays, chips, signing in. Refusals are pages, too."""

import gzip
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from urllib.parse import quote

import flask
import msgspec
from flask import Blueprint, request

from schemas.http import EVENTS_MAX
from schemas.problems import problem
from schemas.times import rfc3339
from services.api import visits
from services.api.access import Sight, look_at
from services.api.bank import page_of
from services.api.confidential import asked
from services.api.deals import proof_of
from services.api.edge import CODE
from services.api.lean import Response
from services.api.packed import takes_gzip
from services.api.problems import Problem
from services.api.projections import wait_for_deal
from services.pages import cards
from services.pages.assets import PREFIX, assets
from services.pages.bank import Paid, bank_page
from services.pages.messages import home_page, refusal_page
from services.pages.rendering import VISITOR, Page, Reader
from services.pages.replay import replay_page
from services.pages.words import LABELS, language_of
from services.pressure import Wish
from services.store.projected import Company, DealPaid
from services.store.views import view_bytes
from services.store.wire import StoreUnavailable

LOADS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'"
)
FOR_A_YEAR = "public, max-age=31536000, immutable"
PACKED_FROM_BYTES = 1_024
CHOICES = {"suits": tuple(cards.STYLES), "lang": tuple(LABELS)}
"""What a reader may choose and is remembered, with the values it may have."""
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_OURS = re.compile(r"/(replay|bank)(/[A-Za-z0-9_-]+)*(\?[A-Za-z0-9_=&%.+-]*)?")

blueprint = Blueprint("pages", __name__)


def _page(make: Callable[..., flask.Response]) -> Callable[..., flask.Response]:
    """A view that is given a Page and may refuse; the refusal becomes a page as well."""

    @wraps(make)
    def answer(**parts: str) -> flask.Response:
        reader = VISITOR
        try:
            reader = visits.reader()
            response = make(_around(reader), **parts)
        except Problem as refusal:
            response = _refused(_around(reader), refusal.document, refusal.wait_seconds)
        except StoreUnavailable:
            response = _refused(_around(reader), problem("unavailable", "The store does not answer."))
        for name, known in CHOICES.items():
            if (value := request.args.get(name, "")) in known:
                visits.keep_choice(response, name, value)
        return response

    return answer


@blueprint.get("/replay")
@_page
def get_home(page: Page) -> flask.Response:
    """Where to begin; a form leads on from here."""
    table, deal = request.args.get("table", ""), request.args.get("deal", "1")
    if table:
        return _lead(page.to(f"/replay/{quote(table, safe='')}/{quote(deal, safe='')}"))
    return _html(home_page(page))


@blueprint.get("/")
@blueprint.get("/bank")
@_page
def get_entrance(page: Page) -> flask.Response:
    """Whoever opens the bare address in a browser comes to where pages begin."""
    return _lead(page.to("/replay"))


@blueprint.get("/replay/<table>")
@_page
def get_table(page: Page, table: str) -> flask.Response:
    """All deals of a table are listed with its chips."""
    return _lead(page.to(f"/bank/{quote(table, safe='')}"))


@blueprint.get("/replay/<table>/<deal>")
@_page
def get_replay(page: Page, table: str, deal: str) -> flask.Response:
    """A deal as its reader saw it, or as somebody whose seat he may look from."""
    seat, code = request.args.get("seat", ""), request.args.get("code", "")
    sight = look_at(table, code, Wish.READ)
    found = None
    if _NUMBER.fullmatch(deal) and seat in ("", "0", "1", "2", "spectator"):
        wait_for_deal(table, sight.table)
        found = asked("replay", table, int(deal), seat=seat, language="", code=code)
    if found is None:
        raise Problem("not_found", "There is no such deal yet.")
    has_next = int(deal) < _view(sight)["deal"]
    return _html(replay_page(page, msgspec.json.decode(gzip.decompress(found)), asked=seat, has_next=has_next))


@blueprint.get("/replay/<table>/<deal>/proof")
@_page
def get_proof(page: Page, table: str, deal: str) -> flask.Response:
    """The proof that a deal was fair, as a file, as `GET /v1/tables/{table}/deals/{deal}/proof` answers it."""
    response = Response(proof_of(table, deal, request.args.get("code", "")), mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{table}-{deal}.proof.json"'
    return response


@blueprint.get("/bank/<table>")
@_page
def get_bank(page: Page, table: str) -> flask.Response:
    """What lies at the seats, and from which deals."""
    sight = look_at(table, request.args.get("code", ""), Wish.READ)
    wait_for_deal(table, sight.table)
    view = _view(sight)
    balances, deals = _all_paid(table, request.args.get("code", ""))
    return _html(bank_page(page, table, view, balances if deals else view["bank"], deals))


@blueprint.get("/replay/login")
@_page
def get_login(page: Page) -> flask.Response:
    """The form to sign in."""
    return _html(home_page(page, _following(request.args.get("next", ""))))


@blueprint.post("/replay/login")
def post_login() -> flask.Response:
    """Take a token from the form into the cookie, if it is good, and go back to where the reader was."""
    following, token = _following(request.form.get("next", "")), request.form.get("token", "").strip()
    page = _around(VISITOR)
    if not visits.from_our_page():
        return _refused(page, problem("forbidden") | {"code": "cross_site"})
    try:
        visits.verified(token)
    except Problem as refusal:
        request.environ[CODE] = refusal.code
        text = page.labels.text["sign_in_failed"]
        return _html(home_page(page, following, f"{text}. {_why(page, refusal)}".strip()), 401)
    response = _lead(following)
    visits.keep(response, token)
    return response


@blueprint.post("/replay/logout")
def post_logout() -> flask.Response:
    """Forget the token."""
    if not visits.from_our_page():
        return _refused(_around(VISITOR), problem("forbidden") | {"code": "cross_site"})
    response = _lead(_following(request.form.get("next", "")))
    visits.keep(response, "")
    return response


@blueprint.get(f"{PREFIX}<stamp>/<name>")
def get_asset(stamp: str, name: str) -> flask.Response:
    """A part of the pages; under the stamp of this build it never changes."""
    found = assets().by_name.get(name)
    if found is None:
        return _refused(_around(VISITOR), problem("not_found"))
    is_current = stamp == assets().stamp
    headers = {"ETag": f'"{assets().stamp}"', "Cache-Control": FOR_A_YEAR if is_current else "no-cache"}
    if request.if_none_match.contains(assets().stamp):
        return Response(status=304, headers=headers)
    response = Response(found.packed if takes_gzip() else found.body, mimetype=found.mimetype, headers=headers)
    if takes_gzip():
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    return response


def _around(reader: Reader) -> Page:
    """What stands around every page, as the query, cookies and headers of the request have it."""
    query = request.args.to_dict()
    return Page(
        labels=LABELS[language_of(_chosen("lang"), request.headers.get("Accept-Language", ""))],
        style=_chosen("suits") or CHOICES["suits"][0], reader=reader, path=request.path, query=query,
        kept={name: query[name] for name in ("lang", "suits", "code") if name in query}, assets=assets().address,
    )


def _chosen(name: str) -> str:
    """What the reader wishes now, else what he chose before, else ""."""
    said = (request.args.get(name, ""), request.cookies.get(f"marias_{name}", ""))
    return next((value for value in said if value in CHOICES[name]), "")


def _view(sight: Sight) -> dict[str, Any]:
    """The table now, as anybody may see it who may watch it."""
    return msgspec.json.decode(view_bytes(sight.table, None), type=dict[str, Any])


def _all_paid(table: str, code: str) -> tuple[tuple[int, ...], list[Paid]]:
    """The balances of a table, and every deal that made them."""
    balances: tuple[int, ...] = ()
    found: list[Paid] = []
    after: int | None = 0
    while after is not None:
        bank, companies = page_of(table, code, after, EVENTS_MAX)
        found += [_paid(paid, companies) for paid in bank.deals]
        balances, after = bank.balances, bank.next
    return balances, found


def _paid(paid: DealPaid, companies: Mapping[int, Company]) -> Paid:
    booked = paid.booked
    if booked is None:
        return Paid(paid.deal, paid.payments)
    company = companies.get(booked.company)
    seats = None if company is None else tuple({"name": seat.name, "bot": seat.bot} for seat in company.seats)
    return Paid(paid.deal, paid.payments, booked.version, rfc3339(booked.at), booked.balances, seats)


def _following(wished: str) -> str:
    """Where to go from a form: to a page of ours, wherever its sender wishes to."""
    return wished if _OURS.fullmatch(wished) else "/replay"


def _why(page: Page, refusal: Problem) -> str:
    return str(refusal.document["detail"]) if page.labels.language == "en" else ""


def _lead(address: str) -> flask.Response:
    response = Response(status=303)
    response.headers["Location"] = address
    return response


def _refused(page: Page, document: dict[str, Any], wait_seconds: float = 1) -> flask.Response:
    request.environ[CODE] = document["code"]
    response = _html(refusal_page(page, document), int(document["status"]))
    if document["status"] in (429, 503):
        response.headers["Retry-After"] = str(max(1, round(wait_seconds)))
    if document["code"] == "unauthenticated":
        visits.keep(response, "")  # The next page is a visitor's, rather than refused again.
    return response


def _html(text: str, status: int = 200) -> flask.Response:
    body = text.encode()
    packs = takes_gzip() and len(body) >= PACKED_FROM_BYTES
    response = Response(gzip.compress(body, 5) if packs else body, status, mimetype="text/html")
    if packs:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Security-Policy"] = LOADS
    response.headers["Vary"] = "Accept-Encoding, Accept-Language, Cookie"
    return response

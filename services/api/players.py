"""Players: guest accounts, and the ledger of what they won and lost."""

from itertools import islice
from typing import Any
from urllib.parse import urlencode

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.answers import PlayerAnswer
from schemas.deal_answers import LedgerAnswer
from schemas.http import LedgerQuery, PlayerBody
from schemas.ledger_csv import MEDIA_TYPE, Line, csv_lines, header
from schemas.times import rfc3339
from services.api import describe
from services.api.access import shed
from services.api.auth import caller
from services.api.backend import backend
from services.api.body import load_body, load_query, no_query
from services.api.commands import JSON
from services.api.lean import Response
from services.api.links import links
from services.api.problems import Problem
from services.api.projections import wait_for_deals
from services.api.waiting import take_in_and_wait
from services.intake import Submitted
from services.pressure import Wish
from services.store import accounts, projected
from services.store.keys import is_player_id, new_player_id
from services.store.ledgers import postings_of

ACCOUNT_SECONDS_MAX = 2
CSV_LINES_MAX = 10_000

_PLAYER_BODY = PlayerBody()
_LEDGER_QUERY = LedgerQuery()

blueprint = Blueprint("players", __name__, url_prefix="/v1", description="Guests and their ledgers.")


@blueprint.post("/players")
@blueprint.doc(
    security=[],
    requestBody=describe.body(PlayerBody),
    responses=describe.answers(
        {201: PlayerAnswer}, "malformed", "too_large", "unsupported_media_type", "rate_limited", is_open=True
    ),
)
def post_player() -> Response:
    """Become a guest: a name, an account and a token that speaks for it."""
    no_query(request)
    wait = backend().guests.admit(request.environ)
    if wait:
        raise Problem("rate_limited", "Too many guests come from this address.", wait_seconds=wait)
    name = load_body(request, _PLAYER_BODY)["name"]
    player = new_player_id(backend().config.partitions)
    # The account may come a moment after the answer: only a buy-in needs it.
    opening = Submitted(player, "system", name, "open", {"type": "open_account"})
    take_in_and_wait(backend(), opening, ACCOUNT_SECONDS_MAX)
    token = backend().ring.issue(role="player", sub=player, name=name)
    return Response(msgspec.json.encode({"player": player, "token": token}), 201, content_type=JSON)


def _described(*codes: str) -> dict[int, Any]:
    described = describe.answers({200: LedgerAnswer}, *codes)
    described[200]["content"]["text/csv"] = {"schema": {"type": "string"}}
    return described


@blueprint.get("/players/me/ledger")
@blueprint.doc(parameters=[describe.query(LedgerQuery)], responses=_described("forbidden", "malformed", "rate_limited"))
def get_ledger() -> Response:
    """What the caller won and lost: `score` at free tables, `chips` on the account, each posting with its event.

    With `Accept: text/csv` as a table for spreadsheets, the whole account at once unless `limit` says otherwise, each
    line with the balance after it.
    """
    principal = caller()
    if principal.role != "player":
        raise Problem("forbidden", "Only players have a ledger.")
    return _ledger(principal.id, principal.name)


@blueprint.get("/players/<player>/ledger")
@blueprint.doc(
    parameters=[describe.query(LedgerQuery)],
    responses=_described("forbidden", "not_found", "malformed", "rate_limited"),
)
def get_ledger_of(player: str) -> Response:
    """The same of any player, for auditors and for the player itself."""
    principal = caller()
    if principal.role != "auditor" and principal.id != player:
        raise Problem("forbidden", "A ledger is read by its player and by auditors.")
    if not is_player_id(player):
        raise Problem("not_found", "There is no such player.")
    return _ledger(player, principal.name if principal.id == player else "")


def _ledger(player: str, name: str) -> Response:
    query = load_query(request, _LEDGER_QUERY)
    shed(player, Wish.READ)
    if _wants_csv():
        return _csv(player, name, query)
    limit = query["limit"]
    try:
        if query["account"] == "chips":
            ledger = accounts.postings(backend().redis, player, query.get("after"), limit + 1)
        else:
            wait_for_deals()
            ledger = projected.score(backend().redis, player, query.get("after"), limit + 1)
    except accounts.UnknownPosting:
        raise Problem("malformed", errors={"after": ["Must be the id of a posting of this account."]}) from None
    shown = ledger.postings[:limit]
    return Response(
        msgspec.json.encode({
            "balance": ledger.balance,
            "postings": [_posting(posting) for posting in shown],
            "next": shown[-1].id if len(ledger.postings) > limit else None,
        }),
        content_type=JSON,
    )


def _posting(posting: accounts.Posting) -> dict[str, Any]:
    found = links(posting.table, posting.deal, posting.version)
    return posting._asdict() | {"at": rfc3339(posting.at), "links": found}


def _wants_csv() -> bool:
    """Most do not, and their header need not be weighed."""
    accept = request.environ.get("HTTP_ACCEPT", "")
    return "text/csv" in accept and request.accept_mimetypes.best_match([JSON, "text/csv"]) == "text/csv"


def _csv(player: str, name: str, query: dict[str, Any]) -> Response:
    """The account from its first posting on, for only so can a line tell the balance."""
    account, after = query["account"], query.get("after")
    limit = query["limit"] if "limit" in request.args else CSV_LINES_MAX
    if account == "score":
        wait_for_deals()
    rows = postings_of(backend().redis, player, account)
    if after is not None and all(posting.id != after for posting, _ in rows):
        raise Problem("malformed", errors={"after": ["Must be the id of a posting of this account."]})
    lines = [
        Line(player, name, account, balance=balance, **posting._asdict())
        for posting, balance in islice(rows, limit + 1)
    ]
    response = Response([header(), *csv_lines(lines[:limit])], content_type=MEDIA_TYPE)
    response.headers["Content-Disposition"] = f'attachment; filename="{account}.csv"'
    if len(lines) > limit:
        following = urlencode({"account": account, "after": lines[limit - 1].id})
        response.headers["Link"] = f'<{request.path}?{following}>; rel="next"'
    return response

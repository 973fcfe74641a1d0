"""Players: guest accounts, and the ledger of what they won and lost."""

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.answers import LedgerAnswer, PlayerAnswer
from schemas.http import LedgerQuery, PlayerBody
from schemas.times import rfc3339
from services.api import describe
from services.api.access import shed
from services.api.auth import caller
from services.api.backend import backend
from services.api.body import load_body, load_query, no_query
from services.api.commands import JSON
from services.api.lean import Response
from services.api.problems import Problem
from services.api.projections import wait_for_deals
from services.api.waiting import take_in_and_wait
from services.intake import Submitted
from services.pressure import Wish
from services.store import accounts, projected
from services.store.keys import is_player_id, new_player_id

ACCOUNT_SECONDS_MAX = 2

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


@blueprint.get("/players/me/ledger")
@blueprint.doc(
    parameters=[describe.query(LedgerQuery)],
    responses=describe.answers({200: LedgerAnswer}, "forbidden", "malformed", "rate_limited"),
)
def get_ledger() -> Response:
    """What the caller won and lost: `score` at free tables, `chips` on the account, each posting with its event."""
    principal = caller()
    if principal.role != "player":
        raise Problem("forbidden", "Only players have a ledger.")
    return _ledger(principal.id)


@blueprint.get("/players/<player>/ledger")
@blueprint.doc(
    parameters=[describe.query(LedgerQuery)],
    responses=describe.answers({200: LedgerAnswer}, "forbidden", "not_found", "malformed", "rate_limited"),
)
def get_ledger_of(player: str) -> Response:
    """The same of any player, for auditors and for the player itself."""
    principal = caller()
    if principal.role != "auditor" and principal.id != player:
        raise Problem("forbidden", "A ledger is read by its player and by auditors.")
    if not is_player_id(player):
        raise Problem("not_found", "There is no such player.")
    return _ledger(player)


def _ledger(player: str) -> Response:
    query = load_query(request, _LEDGER_QUERY)
    shed(player, Wish.READ)
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
            "postings": [posting._asdict() | {"at": rfc3339(posting.at)} for posting in shown],
            "next": shown[-1].id if len(ledger.postings) > limit else None,
        }),
        content_type=JSON,
    )

"""Deals that have ended: their records, as far as the caller may know them, and what they paid."""

import gzip
import re
from typing import Any

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.answers import BankAnswer, RecordAnswer, ReplayAnswer
from schemas.http import BankQuery, CodeQuery, ReplayQuery
from services.api import describe
from services.api.access import look_at
from services.api.backend import backend
from services.api.body import load_query
from services.api.commands import JSON
from services.api.confidential import asked
from services.api.lean import Response
from services.api.problems import Problem
from services.api.projections import wait_for_deal
from services.pressure import Wish
from services.store import projected
from services.store.projected import Bank
from services.store.views import Current, view_bytes

_CODE_QUERY = CodeQuery()
_BANK_QUERY = BankQuery()
_REPLAY_QUERY = ReplayQuery()
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

blueprint = Blueprint("deals", __name__, url_prefix="/v1", description="Records of deals and the bank of a table.")


_DEAL: dict[str, Any] = {
    "in": "path", "name": "deal", "required": True, "description": "From 1.",
    "schema": {"type": "integer", "minimum": 1},
}


@blueprint.get("/tables/<table>/deals/<deal>")
@blueprint.doc(
    parameters=[describe.query(CodeQuery), _DEAL],
    responses=describe.answers(
        {200: RecordAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited"
    ),
)
def get_deal(table: str, deal: str) -> Response:
    """The record of a deal that has ended.

    Of the deck a player sees what was dealt to the seat it held in that deal, a spectator nothing: what is not
    known is `??`. For auditors the record is whole.
    """
    sight = look_at(table, load_query(request, _CODE_QUERY).get("code", ""), Wish.READ)
    wait_for_deal(table, sight.table)
    found = None
    if _NUMBER.fullmatch(deal):
        if sight.reader.role == "auditor":
            found = asked("record", table, int(deal))
        else:
            found = projected.record(backend().redis, table, int(deal), sight.reader.id)
    if found is None:
        raise Problem("not_found", "There is no such deal, or it has not ended.")
    return Response(found, content_type=JSON)


@blueprint.get("/tables/<table>/deals/<deal>/replay")
@blueprint.doc(
    parameters=[describe.query(ReplayQuery), _DEAL],
    responses=describe.answers(
        {200: ReplayAnswer}, "forbidden", "code_wrong", "not_found", "deal_too_long", "malformed", "rate_limited"
    ),
)
def get_replay(table: str, deal: str) -> Response:
    """Every moment of a deal, also of the running one up to now, as one saw it then: events, view, words.

    A player sees it with the eyes of the seat that he held in that deal, and a spectator's while he had left it;
    others with a spectator's. Auditors choose a seat or see everything.
    """
    query = load_query(request, _REPLAY_QUERY)
    code = query.get("code", "")
    wait_for_deal(table, look_at(table, code, Wish.READ).table)
    found = None
    if _NUMBER.fullmatch(deal):
        found = asked("replay", table, int(deal), seat=query.get("seat", ""), language=query["lang"], code=code)
    if found is None:
        raise Problem("not_found", "There is no such deal yet.")
    return _packed(found)


def _packed(document: bytes) -> Response:
    """A JSON document that came packed by gzip, to whoever can unpack it as it is."""
    takes = request.accept_encodings.quality("gzip") > 0
    response = Response(document if takes else gzip.decompress(document), content_type=JSON)
    if takes:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    return response


@blueprint.get("/tables/<table>/bank")
@blueprint.doc(
    parameters=[describe.query(BankQuery)],
    responses=describe.answers({200: BankAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited"),
)
def get_bank(table: str) -> Response:
    """What lies at the seats, and what each deal paid."""
    query = load_query(request, _BANK_QUERY)
    now = look_at(table, query.get("code", ""), Wish.READ).table
    wait_for_deal(table, now)
    bank = projected.bank(backend().redis, table, query["after"], query["limit"]) or _bank_before_books(now)
    return Response(
        msgspec.json.encode({
            "balances": bank.balances,
            "deals": [{"deal": paid.deal, "payments": paid.payments} for paid in bank.deals],
            "next": bank.next,
        }),
        content_type=JSON,
    )


def _bank_before_books(now: Current) -> Bank:
    """Until something was paid a table may have no books; what lies at its seats is in its view."""
    view = msgspec.json.decode(view_bytes(now, None), type=dict[str, Any])
    return Bank(balances=tuple(view["bank"]), deals=(), next=None)

"""Deals: their records, replays and single versions, as far as the caller may know them."""

import gzip
import re
from collections.abc import Mapping
from typing import Any

from flask import request
from flask_smorest import Blueprint

from schemas.answers import RecordAnswer
from schemas.deal_answers import ReplayAnswer, VersionAnswer
from schemas.fairness_answers import ProofAnswer
from schemas.http import CodeQuery, RecordQuery, ReplayQuery
from services.api import describe
from services.api.access import look_at
from services.api.backend import backend
from services.api.body import load_query
from services.api.commands import JSON
from services.api.confidential import asked
from services.api.lean import Response
from services.api.packed import takes_gzip
from services.api.problems import Problem
from services.api.projections import wait_for_deal
from services.pressure import Wish
from services.store import projected
from services.store.shelved import Elsewhere
from services.tokens import Principal

_CODE_QUERY = CodeQuery()
_RECORD_QUERY = RecordQuery()
_REPLAY_QUERY = ReplayQuery()
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

blueprint = Blueprint("deals", __name__, url_prefix="/v1", description="Records and replays of deals.")


_DEAL: dict[str, Any] = {
    "in": "path", "name": "deal", "required": True, "description": "From 1.",
    "schema": {"type": "integer", "minimum": 1},
}


@blueprint.get("/tables/<table>/deals/<deal>")
@blueprint.doc(
    parameters=[describe.query(RecordQuery), _DEAL],
    responses=describe.answers(
        {200: RecordAnswer}, "forbidden", "code_wrong", "not_found", "deal_too_long", "malformed", "rate_limited"
    ),
)
def get_deal(table: str, deal: str) -> Response:
    """The record of a deal that has ended.

    Of the deck a player sees what was dealt to the seat it held in that deal, a spectator nothing: what is not
    known is `??`. For auditors the record is whole, or as the seat may know it that they ask for.
    """
    query = load_query(request, _RECORD_QUERY)
    sight = look_at(table, query.get("code", ""), Wish.READ)
    wait_for_deal(table, sight.table)
    found = _record(table, int(deal), sight.reader, query) if _NUMBER.fullmatch(deal) else None
    if found is None:
        raise Problem("not_found", "There is no such deal, or it has not ended.")
    return Response(found, content_type=JSON)


def _record(table: str, deal: int, reader: Principal, query: Mapping[str, str]) -> bytes | None:
    seat = query.get("seat", "")
    if seat.isdigit():
        return asked("record", table, deal, seat=seat, code=query.get("code", ""))
    if not seat and reader.role == "auditor":
        return asked("record", table, deal)
    try:
        return projected.record(backend().redis, table, deal, None if seat else reader.id)
    except Elsewhere:
        return asked("record", table, deal, seat=seat, code=query.get("code", ""))


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


@blueprint.get("/tables/<table>/deals/<deal>/proof")
@blueprint.doc(
    parameters=[describe.query(CodeQuery), _DEAL],
    responses=describe.answers(
        {200: ProofAnswer}, "forbidden", "code_wrong", "not_found", "deal_too_long", "malformed", "rate_limited"
    ),
)
def get_proof(table: str, deal: str) -> Response:
    """The proof that a deal is fair, also of the running one up to now, for `verify_deal.py` or `marias verify`.

    A player's opens what he was dealt and held, a spectator's the cards that were played; an auditor's is whole. It
    never holds what its reader may not know. Deals of before there were commitments have none.
    """
    return Response(proof_of(table, deal, load_query(request, _CODE_QUERY).get("code", "")), content_type=JSON)


def proof_of(table: str, deal: str, code: str) -> bytes:
    """The proof (JSON) of a deal, as far as the caller may know it. Raises Problem."""
    wait_for_deal(table, look_at(table, code, Wish.READ).table)
    found = asked("proof", table, int(deal), code=code) if _NUMBER.fullmatch(deal) else None
    if found is None:
        raise Problem("not_found", "There is no such deal yet, or nothing was committed to before it.")
    return found


def _packed(document: bytes) -> Response:
    """A JSON document that came packed by gzip, to whoever can unpack it as it is."""
    takes = takes_gzip()
    response = Response(document if takes else gzip.decompress(document), content_type=JSON)
    if takes:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    return response


@blueprint.get("/tables/<table>/versions/<version>")
@blueprint.doc(
    parameters=[
        describe.query(CodeQuery),
        {"in": "path", "name": "version", "required": True, "description": "From 1.",
         "schema": {"type": "integer", "minimum": 1}},
    ],
    responses=describe.answers(
        {200: VersionAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited"
    ),
)
def get_version(table: str, version: str) -> Response:
    """What one version of a table did, however long ago: its public part, and all of it for auditors.

    A posting of the bank leads here. What a seat was told besides is in the replay of the deal.
    """
    code = load_query(request, _CODE_QUERY).get("code", "")
    look_at(table, code, Wish.READ)
    found = asked("version", table, version=int(version), code=code) if _NUMBER.fullmatch(version) else None
    if found is None:
        raise Problem("not_found", "The table has not come to such a version.")
    return Response(found, content_type=JSON)

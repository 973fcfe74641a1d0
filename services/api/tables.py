"""Tables: opening one, the lobby, what the caller sees now and what it was told."""

import secrets
from typing import Any

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.answers import EventsAnswer, LobbyAnswer, TableAnswer, ViewAnswer
from schemas.http import BOTS_DEALS, CodeQuery, EventsQuery, LobbyQuery, TableBody
from schemas.times import rfc3339
from services.api import describe
from services.api.access import Sight, look_at
from services.api.auth import player
from services.api.backend import backend
from services.api.body import load_body, load_query, no_query
from services.api.commands import JSON, refusal
from services.api.conditions import is_known
from services.api.lean import Response
from services.api.problems import Problem
from services.api.waiting import take_in_and_wait
from services.intake import Submitted
from services.pressure import Wish
from services.store import projected, views
from services.store.keys import new_table_id
from services.store.tenure import freed_since

OPEN_SECONDS_MAX = 5
SEATS = 3
CODE_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # No two that look alike.
CODE_CHARACTERS = 8

_TABLE_BODY = TableBody()
_CODE_QUERY = CodeQuery()
_EVENTS_QUERY = EventsQuery()
_LOBBY_QUERY = LobbyQuery()

blueprint = Blueprint("tables", __name__, url_prefix="/v1", description="Tables, what is seen and what happened.")


@blueprint.post("/tables")
@blueprint.doc(
    requestBody=describe.body(TableBody),
    responses=describe.answers(
        {201: TableAnswer}, "forbidden", "malformed", "too_large", "unsupported_media_type", "rate_limited",
        headers=describe.LOCATION,
    ),
)
def post_table() -> Response:
    """Open a table. Whoever opens it does not sit by that: send `sit`."""
    creator = player()
    no_query(request)
    body = load_body(request, _TABLE_BODY)
    answer = {"table": new_table_id(backend().config.partitions)}
    if body["private"]:
        answer["code"] = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_CHARACTERS))
    if len(body["bots"]) == SEATS and body["deals"] is None:
        body["deals"] = BOTS_DEALS  # Nobody would ever end it.
    opening = body | {"type": "open", "code": answer.get("code", "")}
    submitted = Submitted(answer["table"], creator.id, creator.name, "open", opening)
    receipt = take_in_and_wait(backend(), submitted, OPEN_SECONDS_MAX)
    if receipt is None:
        raise Problem("unavailable", "The table was not opened in time; it may still be.")
    if receipt["s"] == "refused":
        raise refusal(receipt)
    response = _json(answer, 201)
    response.headers["Location"] = f"/v1/tables/{answer['table']}"
    return response


@blueprint.get("/tables")
@blueprint.doc(
    parameters=[describe.query(LobbyQuery)], responses=describe.answers({200: LobbyAnswer}, "malformed")
)
def get_lobby() -> Response:
    """The lobby: public tables that are not finished, with their full rules."""
    query = load_query(request, _LOBBY_QUERY)
    page = projected.lobby(backend().redis, query.get("after"), query["limit"])
    text = b'{"tables":[%b],"next":%b}' % (b",".join(page.rows), msgspec.json.encode(page.next))
    return Response(text, content_type=JSON)


@blueprint.get("/tables/<table>")
@blueprint.doc(
    parameters=[describe.query(CodeQuery), describe.IF_NONE_MATCH],
    responses=describe.answers(
        {200: ViewAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited", headers=describe.ETAG
    ) | {304: {"description": "The table is still at a version that If-None-Match names.", "headers": describe.ETAG}},
)
def get_view(table: str) -> Response:
    """The table as the caller may see it now."""
    sight = look_at(table, _code())
    tag = f'"{sight.table.version}"'
    if is_known(request.environ, tag):
        response = Response(status=304)
    else:
        response = Response(views.view_bytes(sight.table, sight.seat), content_type=JSON)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Vary"] = "Authorization"
    return response


@blueprint.get("/tables/<table>/events")
@blueprint.doc(
    parameters=[describe.query(EventsQuery)],
    responses=describe.answers(
        {200: EventsAnswer}, "forbidden", "code_wrong", "not_found", "events_gone", "malformed", "rate_limited"
    ),
)
def get_events(table: str) -> Response:
    """What the caller may know happened, in order: every version, at least the public part of it."""
    query = load_query(request, _EVENTS_QUERY)
    sight = look_at(table, query.get("code", ""), Wish.READ)
    after = query.get("after")
    told = views.feed(backend().redis, table, after or 0, query["limit"])
    if told is None:
        raise Problem("not_found", "There is no such table.")
    if told.gone and after is not None:
        raise Problem("events_gone", facts={"oldest": told.oldest})
    return Response(_feed(table, told, sight), content_type=JSON)


def _feed(table: str, told: views.Feed, sight: Sight) -> bytes:
    """Who sat here before may have seen cards that are no business of who sits here now.

    Nor the other way round: what was told after the caller's seat was looked up may be for another holder of it.
    """
    now, seat = sight.table.version, sight.seat
    items = [item for item in told.items if item.version <= now]
    hidden = freed_since(backend().redis, table, told, seat) if seat is not None else 0
    shown = [
        b'{"version":%d,"at":"%b","events":%b}' % (
            item.version, rfc3339(item.at).encode(), item.events[seat if item.version > hidden else None]
        )
        for item in items
    ]
    more = bool(items) and items[-1].version < now
    return b'{"version":%d,"events":[%b],"more":%b}' % (now, b",".join(shown), b"true" if more else b"false")


def _code() -> str:
    if not request.environ.get("QUERY_STRING"):
        return ""
    return str(load_query(request, _CODE_QUERY).get("code", ""))


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, content_type=JSON)

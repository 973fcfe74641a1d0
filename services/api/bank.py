"""The bank of a table: what lies at its seats, the deals that made it, and how it went deal by deal."""

from collections.abc import Mapping
from typing import Any

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.deal_answers import BankAnswer, ChipsAnswer
from schemas.http import BankQuery
from schemas.times import rfc3339
from services.api import describe
from services.api.access import look_at
from services.api.backend import backend
from services.api.body import load_query
from services.api.commands import JSON
from services.api.confidential import asked
from services.api.lean import Response
from services.api.links import links
from services.api.problems import Problem
from services.api.projections import wait_for_deal
from services.pressure import Wish
from services.store import projected
from services.store.projected import Company, DealPaid, Holder, Page
from services.store.shelved import Elsewhere
from services.store.views import Current, view_bytes

_BANK_QUERY = BankQuery()

blueprint = Blueprint("bank", __name__, url_prefix="/v1", description="The bank of a table.")


@blueprint.get("/tables/<table>/bank")
@blueprint.doc(
    parameters=[describe.query(BankQuery)],
    responses=describe.answers({200: BankAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited"),
)
def get_bank(table: str) -> Response:
    """What lies at the seats, and what each deal paid, with links to its record, its replay and the event."""
    now, (bank, _) = _bank(table)
    return _json({
        "balances": bank.balances if bank.deals else _seen(now),
        "deals": [_paid(table, paid) for paid in bank.deals],
        "next": bank.next,
    })


@blueprint.get("/tables/<table>/chips")
@blueprint.doc(
    parameters=[describe.query(BankQuery)],
    responses=describe.answers({200: ChipsAnswer}, "forbidden", "code_wrong", "not_found", "malformed", "rate_limited"),
)
def get_chips(table: str) -> Response:
    """What lay at each seat after each deal, and who sat there: the points of a plot over time.

    A deal that an earlier build wrote down tells its payments alone, until an operator runs `marias rebuild`.
    """
    _, (bank, companies) = _bank(table)
    return _json({"deals": [_point(table, paid, companies) for paid in bank.deals], "next": bank.next})


def page_of(table: str, code: str, after: int, limit: int) -> Page:
    """A page of the bank of a table that the caller may look at; of old deals the Clerk is asked. Raises Problem."""
    try:
        return projected.page(backend().redis, table, after, limit)
    except Elsewhere:
        found = asked("bank", table, after, limit=limit, code=code)
    if found is None:
        raise Problem("not_found", "There is no such table.")
    return projected.read_page(found)


def _bank(table: str) -> tuple[Current, Page]:
    query = load_query(request, _BANK_QUERY)
    code = query.get("code", "")
    now = look_at(table, code, Wish.READ).table
    wait_for_deal(table, now)
    return now, page_of(table, code, query["after"], query["limit"])


def _paid(table: str, paid: DealPaid) -> dict[str, Any]:
    version = None if paid.booked is None else paid.booked.version
    return {
        "deal": paid.deal,
        "payments": paid.payments,
        "version": version,
        "at": None if paid.booked is None else rfc3339(paid.booked.at),
        "links": links(table, paid.deal, version),
    }


def _point(table: str, paid: DealPaid, companies: Mapping[int, Company]) -> dict[str, Any]:
    company = None if paid.booked is None else companies.get(paid.booked.company)
    return _paid(table, paid) | {
        "balances": None if paid.booked is None else paid.booked.balances,
        "seats": None if company is None else list(map(_seat, company.seats)),
    }


def _seat(holder: Holder) -> dict[str, Any]:
    return {"bot": holder.bot} if holder.bot else {"player": holder.player, "name": holder.name}


def _seen(now: Current) -> list[int]:
    """Until something was paid a table may have no books; what lies at its seats is in its view."""
    return list(msgspec.json.decode(view_bytes(now, None), type=dict[str, Any])["bank"])


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), content_type=JSON)

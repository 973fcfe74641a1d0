"""The log of finished deals: its signed head, and proofs that a deal is in it and that it only grows."""

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.deal_log import ConsistencyAnswer, HeadAnswer, InclusionAnswer
from schemas.http import ConsistencyQuery, HeadQuery, InclusionQuery
from services.api import describe
from services.api.backend import backend
from services.api.body import load_query
from services.api.commands import JSON
from services.api.confidential import asked
from services.api.lean import Response
from services.api.problems import Problem
from services.store import chain, deal_log
from services.store.deal_log import State
from services.store.keys import is_table_id

_HEAD_QUERY = HeadQuery()
_INCLUSION_QUERY = InclusionQuery()
_CONSISTENCY_QUERY = ConsistencyQuery()

blueprint = Blueprint("log", __name__, url_prefix="/v1/log", description="The log of finished deals and its proofs.")


@blueprint.get("/head")
@blueprint.doc(
    parameters=[describe.query(HeadQuery)],
    responses=describe.answers({200: HeadAnswer}, "not_found", "malformed", "rate_limited"),
)
def get_head() -> Response:
    """The last signed head of the log of finished deals: how many there are, and the Merkle root over them.

    One is signed each minute in which deals end, and with `now=true` at once. Keep it: later ones must be consistent
    with it.
    """
    now = load_query(request, _HEAD_QUERY)["now"]
    if now:
        asked("head")
    head = deal_log.state(backend().redis).head
    if not head:
        raise Problem("not_found", "No deal has ended yet, or no head was signed yet: ask with `now=true`.")
    told = msgspec.json.decode(head)
    return _json({name: told[name] for name in ("size", "root", "at", "signed")})


@blueprint.get("/inclusion")
@blueprint.doc(
    parameters=[describe.query(InclusionQuery)],
    responses=describe.answers({200: InclusionAnswer}, "not_found", "malformed"),
)
def get_inclusion() -> Response:
    """The proof that a finished deal is in the log (RFC 9162 §2.1.3), against the root of a signed head.

    The leaf tells the hash that the table's chain had at the end of the deal: that of the receipts.
    """
    query = load_query(request, _INCLUSION_QUERY)
    redis, table, deal = backend().redis, query["table"], query["deal"]
    index = deal_log.index_of(redis, table, deal) if is_table_id(table) else None
    size = _covered(deal_log.state(redis), query.get("size"), "size")
    if index is None or index >= size:
        raise Problem("not_found", f"A log of {size} deals does not hold it; `/v1/log/head?now=true` signs a new one.")
    [leaf] = deal_log.leaves(redis, index, 1)
    path = deal_log.inclusion(redis, index, size)
    return _json({
        "index": index, "size": size, "leaf": msgspec.Raw(leaf), "path": [chain.text(each) for each in path],
    })


@blueprint.get("/consistency")
@blueprint.doc(
    parameters=[describe.query(ConsistencyQuery)],
    responses=describe.answers({200: ConsistencyAnswer}, "not_found", "malformed"),
)
def get_consistency() -> Response:
    """The proof that the log of a later head is that of an earlier one with more deals (RFC 9162 §2.1.4)."""
    query = load_query(request, _CONSISTENCY_QUERY)
    redis = backend().redis
    second = _covered(deal_log.state(redis), query.get("second"), "second")
    first = query["first"]
    if first > second:
        raise Problem("malformed", errors={"first": [f"Must be at most {second}."]})
    path = deal_log.consistency(redis, first, second)
    return _json({"first": first, "second": second, "path": [chain.text(each) for each in path]})


def _covered(state: State, size: int | None, name: str) -> int:
    """A size up to that of the last signed head: nobody has signed for more."""
    if not state.signed:
        raise Problem("not_found", "No head of the log was signed yet.")
    if size is not None and size > state.signed:
        raise Problem("malformed", errors={name: [f"Must be at most {state.signed}, as in the last signed head."]})
    return size or state.signed


def _json(value: dict[str, object]) -> Response:
    return Response(msgspec.json.encode(value), content_type=JSON)

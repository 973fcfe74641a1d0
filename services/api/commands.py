"""Commands of players at a table, and the receipts that say what became of them."""

from typing import Final

import msgspec
from flask import request
from flask_smorest import Blueprint

from schemas.answers import AppliedAnswer, QueuedAnswer, ReceiptAnswer
from schemas.problems import kind
from schemas.table_commands import canonical_command
from services.api import describe
from services.api.auth import caller, player
from services.api.backend import backend
from services.api.body import json_body, no_query
from services.api.conditions import idempotency_key, is_key, version_expected, wait_seconds, wants_signature
from services.api.lean import Response
from services.api.problems import Problem
from services.api.waiting import Receipt, take_in, take_in_and_wait
from services.intake import Submitted
from services.receipts import statement, told
from services.store import views
from services.store.keys import is_table_id

JSON = "application/json"

blueprint = Blueprint("commands", __name__, url_prefix="/v1", description="Commands and their receipts.")


@blueprint.post("/tables/<table>/commands")
@blueprint.doc(
    requestBody=describe.body({"$ref": "#/components/schemas/Command"}),
    parameters=[describe.KEY_HEADER, describe.IF_MATCH, describe.PREFER_WAIT],
    responses=describe.answers(
        {200: AppliedAnswer, 202: QueuedAnswer},
        "idempotency_key_missing", "forbidden", "code_wrong", "not_found", describe.REFUSED, "version_mismatch",
        "malformed", "idempotency_key_reused", "too_large", "unsupported_media_type", "rate_limited",
    ),
)
def post_command(table: str) -> Response:
    """Take a command in.

    202 says that it is queued, not that the rules allow it: the receipt says that. With `Prefer: wait=<seconds>`
    the answer is the outcome itself, if there is one by then. The same key brings the same outcome, however often
    the command is sent.
    """
    sender = player()
    no_query(request)
    if not is_table_id(table):
        raise Problem("not_found", "There is no such table.")
    environ = request.environ
    key = idempotency_key(environ)
    command = canonical_command(json_body(request))
    submitted = Submitted(table, sender.id, sender.name, key, command, version_expected(environ))
    seconds, signs = wait_seconds(environ), wants_signature(environ)
    if seconds is None:
        take_in(backend(), submitted)
        receipt = None
    else:
        receipt = take_in_and_wait(backend(), submitted, seconds)
    signature = _signature(submitted, receipt or _QUEUED) if signs else None
    response = _queued(submitted, signature) if receipt is None else _outcome(receipt, signature)
    honoured = ([] if seconds is None else [f"wait={seconds}"]) + ["receipt=signed"] * signs
    if honoured:
        response.headers["Preference-Applied"] = ", ".join(honoured)
    return response


@blueprint.get("/tables/<table>/receipts/<key>")
@blueprint.doc(responses=describe.answers({200: ReceiptAnswer}, "not_found", "malformed"))
def get_receipt(table: str, key: str) -> Response:
    """What became of a command of the caller: queued, applied or refused; also as a signed receipt to be kept.

    The receipt is a compact JWS (`typ` marias-receipt+jws) by a key of `/v1/.well-known/jwks.json`. The hash of an
    applied command depends on everything that happened at the table up to it: if the table's history ever says
    something else, the receipt proves it.
    """
    no_query(request)
    receipt, player = None, caller().id
    if is_table_id(table) and is_key(key):
        receipt = views.receipt(backend().redis, table, player, key)
    if receipt is None:
        raise Problem("not_found", "You have sent no command with this key to this table.")
    signature = statement(backend().signer, table, player, key, receipt)
    return Response(msgspec.json.encode({**told(receipt), "signed": signature}), content_type=JSON)


_QUEUED: Final[Receipt] = {"s": "queued"}


def _signature(submitted: Submitted, receipt: Receipt) -> str:
    return statement(backend().signer, submitted.id, submitted.actor, submitted.key, receipt)


def _queued(submitted: Submitted, signature: str | None) -> Response:
    url = f"/v1/tables/{submitted.id}/receipts/{submitted.key}"
    more = b"" if signature is None else b',"signed":"%b"' % signature.encode()
    return Response(b'{"status":"queued","receipt":"%b"%b}' % (url.encode(), more), 202, content_type=JSON)


def _outcome(receipt: Receipt, signature: str | None) -> Response:
    if receipt["s"] == "refused":
        raise refusal(receipt, signature)
    more = {} if signature is None else {"signed": signature}
    return Response(msgspec.json.encode({**told(receipt), **more}), content_type=JSON)


def refusal(receipt: Receipt, signature: str | None = None) -> Problem:
    """The problem that a refused command is answered with: the rules let its sender know the facts."""
    code, facts = receipt["c"], receipt.get("d")
    more = {} if signature is None else {"signed": signature}
    if not facts:
        return Problem(code, facts=more)
    said = "; ".join(f"{name}: {_words(value)}" for name, value in facts.items())
    return Problem(code, f"{kind(code).title} ({said}).", facts={"facts": facts, **more})


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

"""How endpoints describe themselves in the OpenAPI document: their answers, refusals, headers and queries."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from marshmallow import Schema

from schemas.answers import ProblemAnswer
from schemas.problems import MEDIA_TYPE, kind

ALWAYS = ("unavailable", "internal")
KNOWN_CALLER = ("unauthenticated",)
REFUSED = "refused"
"""Stands for all codes of rules."""

KEY_HEADER: dict[str, Any] = {
    "in": "header", "name": "Idempotency-Key", "required": True,
    "description": "A value of the sender's own for this command; sent again, it never acts twice.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
}
IF_MATCH: dict[str, Any] = {
    "in": "header", "name": "If-Match", "required": False,
    "description": 'Only if the table is still at this version, such as `"17"`; `*` is any.',
    "schema": {"type": "string", "pattern": r'^("(0|[1-9][0-9]{0,14})"|\*)$'},
}
IF_NONE_MATCH: dict[str, Any] = {
    "in": "header", "name": "If-None-Match", "required": False,
    "description": "Versions already known; answered 304 if the table is still at one of them.",
    "schema": {"type": "string"},
}
PREFER_WAIT: dict[str, Any] = {
    "in": "header", "name": "Prefer", "required": False,
    "description": "`wait=<seconds>`, at most 30: answer with the outcome, if there is one by then (RFC 7240);"
                   " `receipt=signed`: with a signed receipt, also of what is queued or refused.",
    "schema": {"type": "string", "examples": ["wait=10", "wait=10, receipt=signed"]},
}
ETAG = {"ETag": {"description": "The version, in quotes.", "schema": {"type": "string"}}}
LOCATION = {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}


def query(schema: type[Schema]) -> dict[str, Any]:
    """The query parameters that `schema` loads."""
    return {"in": "query", "schema": schema}


def body(schema: object) -> dict[str, Any]:
    """The JSON body that `schema` loads."""
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def answers(
    good: Mapping[int, type[Schema]], *codes: str, is_open: bool = False, headers: Mapping[str, Any] | None = None
) -> dict[int, Any]:
    """The responses of an endpoint: `good` answers by status, and problems by the codes it may refuse with."""
    described: dict[int, Any] = {
        status: {
            "description": _first_line(schema), "content": {"application/json": {"schema": schema}},
            "headers": dict(headers or {}),
        }
        for status, schema in good.items()
    }
    by_status: dict[int, list[str]] = {}
    for code in (*codes, *ALWAYS, *(() if is_open else KNOWN_CALLER)):
        by_status.setdefault(kind(code).status, []).append(code)
    for status, refused in by_status.items():
        described[status] = {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(map(_told, refused))}",
            "content": {MEDIA_TYPE: {"schema": ProblemAnswer}},
        }
    return described


def _told(code: str) -> str:
    return "the code of the rule that refuses it" if code == REFUSED else f"`{code}`"


def _first_line(schema: type[Schema]) -> str:
    return (schema.__doc__ or "").strip().splitlines()[0]

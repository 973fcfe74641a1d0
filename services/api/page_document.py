"""The pages in the OpenAPI document: which there are, what they may be asked for, what they answer."""

from http import HTTPStatus
from typing import Any, Final

from flask import Flask
from flask_smorest import Api

from schemas.problems import kind
from services.api import describe

HTML: Final = "text/html"
_LEADS: Final = {"303": {"description": "Leads on.", "headers": describe.LOCATION}}


def describe_pages(app: Flask, api: Api, blueprint: str) -> None:
    """Put every page of `blueprint` into the document; each must be in PAGES. Raises KeyError."""
    api.spec.tag({"name": blueprint, "description": "Pages for people, English or Czech; refusals are pages as well."})
    for rule in app.url_map.iter_rules():
        owner, _, name = rule.endpoint.rpartition(".")
        if owner == blueprint:
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                told = {"tags": [owner], "summary": _summary(app, rule.endpoint), "security": [], **PAGES[name]}
                api.spec.path(rule=rule, operations={method.lower(): told})


def _summary(app: Flask, endpoint: str) -> str:
    return (app.view_functions[endpoint].__doc__ or "").partition("\n")[0]


def _query(name: str, description: str) -> dict[str, Any]:
    return {"in": "query", "name": name, "required": False, "description": description, "schema": {"type": "string"}}


_LANGUAGE: Final = _query("lang", "`en` or `cs`; remembered. Else as the browser wishes.")
_SUITS: Final = _query("suits", "`german` or `french` cards; remembered.")
_CODE: Final = _query("code", "The code of a private table.")
_NEXT: Final = _query("next", "The page to go to afterwards.")
_SEAT: Final = _query("seat", "Whose eyes: `0`, `1`, `2` or `spectator`; else whatever shows most of what one may see.")


def _page(*codes: str, good: dict[str, Any]) -> dict[str, Any]:
    """The good answers of a page, and the statuses of its refusals."""
    refused: dict[str, list[str]] = {}
    for code in (*codes, "unauthenticated", "rate_limited", "unavailable"):
        refused.setdefault(str(kind(code).status), []).append(f"`{code}`")
    bad = {
        status: {"description": f"{HTTPStatus(int(status)).phrase}: {', '.join(found)}", "content": {HTML: {}}}
        for status, found in refused.items()
    }
    return {**good, **bad}


def _html(description: str) -> dict[str, Any]:
    return {"200": {"description": description, "content": {HTML: {}}}}


def _form(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    schema = {"type": "object", "properties": properties}
    return {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}


_OF_DEAL: Final = ("not_found", "forbidden", "code_wrong", "deal_too_long")
PAGES: Final[dict[str, dict[str, Any]]] = {
    "get_home": {
        "parameters": [
            _query("table", "Leads to this table."), _query("deal", "And to this deal of it."), _LANGUAGE, _SUITS,
        ],
        "responses": _page(good=_html("A form.") | _LEADS),
    },
    "get_entrance": {"parameters": [_LANGUAGE, _SUITS], "responses": _page(good=_LEADS)},
    "get_table": {"parameters": [_CODE, _LANGUAGE, _SUITS], "responses": _page(good=_LEADS)},
    "get_replay": {
        "parameters": [_SEAT, _CODE, _LANGUAGE, _SUITS],
        "responses": _page(*_OF_DEAL, good=_html("All moments of the deal, as far as its reader may know them.")),
    },
    "get_proof": {
        "parameters": [_CODE],
        "responses": _page(*_OF_DEAL, good={"200": {"description": "A file.", "content": {"application/json": {}}}}),
    },
    "get_bank": {
        "parameters": [_CODE, _LANGUAGE, _SUITS],
        "responses": _page("not_found", "forbidden", "code_wrong", good=_html("Balances, deals and their plot.")),
    },
    "get_login": {"parameters": [_NEXT, _LANGUAGE, _SUITS], "responses": _page(good=_html("A form."))},
    "post_login": {
        "requestBody": _form("token", "next"),
        "responses": _page("forbidden", good=_LEADS | {"303": _LEADS["303"] | {"description": "Signed in."}}),
    },
    "post_logout": {"requestBody": _form("next"), "responses": _page("forbidden", good=_LEADS)},
    "get_asset": {
        "responses": {
            "200": {
                "description": "Style, script or cards.",
                "content": {"text/css": {}, "text/javascript": {}, "image/svg+xml": {}},
            },
            "304": {"description": "As it is known."},
            "404": {"description": "Not Found: `not_found`", "content": {HTML: {}}},
        },
    },
}
"""Of each page its queries, form and answers."""

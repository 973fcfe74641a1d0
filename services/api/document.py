"""The API as a document: OpenAPI, a page that shows it without the network, token keys and the list of codes."""

from functools import cache
from pathlib import Path
from typing import Any

import flask
import flask_swagger_ui
import msgspec
from flask import Flask, current_app, send_from_directory
from flask_smorest import Api, Blueprint
from marshmallow import Schema

from schemas.bodies import command_bodies
from schemas.moves import MOVES
from schemas.operations import KeysAnswer, KindAnswer, KindsAnswer
from schemas.problems import KINDS
from services.api import describe
from services.api.backend import backend
from services.api.lean import Response
from services.api.page_document import describe_pages
from services.api.problems import Problem

JSON = "application/json"
ASSETS = Path(flask_swagger_ui.__file__).parent / "dist"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Mariáš API</title>
<link rel="stylesheet" href="/v1/docs/swagger-ui.css">
<link rel="icon" href="/v1/docs/favicon-32x32.png">
</head>
<body><div id="page"></div>
<script src="/v1/docs/swagger-ui-bundle.js"></script><script src="/v1/docs/start.js"></script>
</body>
</html>
"""
START = 'SwaggerUIBundle({url: "/v1/openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null});\n'
PAGE_LOADS = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
DESCRIPTION = """\
An event-sourced table of Mariáš. Get a token from `POST /v1/players`, send it as `Authorization: Bearer <token>`,
open a table or find one in the lobby, `sit`, be `ready`, and send the moves that `legal` lists.
Every refusal is a problem document with a permanent `code` (`GET /v1/problems` lists them).
Streams (`/v1/tables/{table}/stream`) and sockets (`/v1/tables/{table}/socket`) push what the events tell.
"""

blueprint = Blueprint("document", __name__, url_prefix="/v1", description="This document, keys and codes.")


def describe_app(app: Flask, blueprints: list[Blueprint], pages: flask.Blueprint) -> None:
    """Register `blueprints` and `pages` and describe them; the document is made once, at its first request."""
    app.config.update(API_TITLE="Mariáš", API_VERSION="1", OPENAPI_VERSION="3.1.0")
    api = Api(app, spec_kwargs={"info": {"description": DESCRIPTION}, "security": [{"bearer": []}]})
    api.DEFAULT_ERROR_RESPONSE_NAME = None
    api.spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"})
    _describe_commands(api, command_bodies())
    for each in blueprints:
        api.register_blueprint(each)
    app.register_blueprint(pages)
    describe_pages(app, api, pages.name)
    app.extensions["marias-document"] = cache(lambda: msgspec.json.encode(api.spec.to_dict()))


def _describe_commands(api: Api, bodies: dict[str, type[Schema]]) -> None:
    """One schema of a command, told apart by `type`."""
    names = {kind: schema.__name__.removeprefix("_") for kind, schema in bodies.items()}
    for kind, schema in bodies.items():
        api.spec.components.schema(names[kind], schema=schema)
    for kind, shape in MOVES.items():
        if shape.exactly_one:
            api.spec.components.schemas[names[kind]]["oneOf"] = [{"required": [each.name]} for each in shape.fields]
    places = {kind: f"#/components/schemas/{name}" for kind, name in names.items()}
    api.spec.components.schema("Command", {
        "oneOf": [{"$ref": place} for place in places.values()],
        "discriminator": {"propertyName": "type", "mapping": places},
    })


@blueprint.get("/openapi.json")
@blueprint.doc(security=[], responses={200: {"description": "This document."}})
def get_openapi() -> Response:
    """This document (OpenAPI 3.1)."""
    response = Response(current_app.extensions["marias-document"](), content_type=JSON)
    response.headers["Cache-Control"] = "public, max-age=60"
    return response


@blueprint.get("/docs")
@blueprint.doc(security=[], responses={200: {"description": "A page for people.", "content": {"text/html": {}}}})
def get_docs() -> flask.Response:
    """This document as a page; it loads nothing from elsewhere."""
    return _of_page(Response(PAGE, mimetype="text/html"))


@blueprint.get("/docs/<asset>")
@blueprint.doc(security=[], responses=describe.answers({}, "not_found", is_open=True) | {
    200: {"description": "A part of the page."}
})
def get_docs_asset(asset: str) -> flask.Response:
    """The parts of the page."""
    if asset == "start.js":
        return _of_page(Response(START, mimetype="text/javascript"))
    return _of_page(send_from_directory(ASSETS, asset, max_age=3600))


@blueprint.get("/.well-known/jwks.json")
@blueprint.doc(security=[], responses=describe.answers({200: KeysAnswer}, is_open=True))
def get_keys() -> Response:
    """The public keys that verify tokens and, `receipts.…`, those that verify receipts and heads of the log (RFC 7517).

    A statement names its key (`kid`) and its kind (`typ`); a key of the one kind verifies nothing of the other.
    """
    keys = [*backend().ring.jwks()["keys"], *backend().signer.jwks()]
    return Response(msgspec.json.encode({"keys": keys}), content_type=JSON)


@blueprint.get("/problems")
@blueprint.doc(security=[], responses=describe.answers({200: KindsAnswer}, is_open=True))
def get_problems() -> Response:
    """Every code that a refusal may carry, and what to do about it."""
    return Response(msgspec.json.encode({"problems": [_kind(code) for code in KINDS]}), content_type=JSON)


@blueprint.get("/problems/<code>")
@blueprint.doc(security=[], responses=describe.answers({200: KindAnswer}, "not_found", is_open=True))
def get_problem(code: str) -> Response:
    """What one code means; the `type` of a problem leads here."""
    if code not in KINDS:
        raise Problem("not_found", "There is no such code.")
    return Response(msgspec.json.encode(_kind(code)), content_type=JSON)


def _kind(code: str) -> dict[str, Any]:
    return {"code": code, **KINDS[code]._asdict()}


def _of_page(response: flask.Response) -> flask.Response:
    response.headers["Content-Security-Policy"] = PAGE_LOADS
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response

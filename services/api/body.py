"""What a request carries: its JSON body and its query, both read strictly."""

from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError

from schemas.json_text import read_json
from services.api.problems import Problem

BODY_BYTES_MAX = 16 * 1024
ERRORS_MAX = 20
FIELD_CHARACTERS_MAX = 64
_NOTHING = Schema()
_JSON = frozenset({"application/json", "application/json; charset=utf-8", "application/json;charset=utf-8"})


def json_body(request: Request) -> object:
    """The value of the body. Raises Problem `unsupported_media_type` or `too_large`, or Malformed."""
    environ = request.environ
    if environ.get("CONTENT_TYPE", "").lower() not in _JSON:
        raise Problem("unsupported_media_type")
    data = environ["wsgi.input"].read(BODY_BYTES_MAX + 1)
    if len(data) > BODY_BYTES_MAX:
        raise Problem("too_large")
    return read_json(data)


def load_body(request: Request, schema: Schema) -> dict[str, Any]:
    """The body as `schema` loads it. Raises Problem `malformed` with the fields that are wrong."""
    return _load(schema, json_body(request))


def no_query(request: Request) -> None:
    """Refuse a query where none means anything: it is a mistake. Raises Problem `malformed`."""
    if request.environ.get("QUERY_STRING"):
        load_query(request, _NOTHING)


def load_query(request: Request, schema: Schema) -> dict[str, Any]:
    """The query as `schema` loads it. A parameter given twice is refused, as it has no one meaning."""
    given = request.args.to_dict(flat=False)
    twice = {name: ["Given twice."] for name, values in given.items() if len(values) > 1}
    if twice:
        raise Problem("malformed", errors=twice)
    return _load(schema, {name: values[0] for name, values in given.items()})


def _load(schema: Schema, value: object) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = schema.load(value)  # type: ignore[arg-type]  # It refuses what is no mapping.
    except ValidationError as error:
        raise Problem("malformed", errors=_by_field(error.messages)) from None
    return loaded


def _by_field(messages: object, prefix: str = "") -> dict[str, list[str]]:
    """marshmallow's nested messages by path, such as `bots.0`, bounded: a bad body must not make a large answer."""
    if not isinstance(messages, dict):
        texts = messages if isinstance(messages, list) else [messages]
        return {prefix or "body": [str(text) for text in texts[:ERRORS_MAX]]}
    found: dict[str, list[str]] = {}
    for name, inner in list(messages.items())[:ERRORS_MAX]:
        part = "" if name == "_schema" else str(name)[:FIELD_CHARACTERS_MAX]
        found |= _by_field(inner, ".".join(filter(None, (prefix, part))))
    return found

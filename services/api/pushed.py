"""What push answers, described here with the rest; `marias serve` and proxies send these addresses to it."""

from typing import Any, NoReturn

from flask_smorest import Blueprint

from schemas.http import CodeQuery
from services.api import describe
from services.api.problems import Problem

blueprint = Blueprint("push", __name__, url_prefix="/v1", description="Streams and sockets, served by push.")


def _views(usual: str, *others: str) -> dict[str, Any]:
    return {
        "in": "query", "name": "views", "schema": {"enum": [usual, *others], "default": usual},
        "description": "Of the view: nothing, the whole at each version, or what changed in it.",
    }


_REFUSES = ("forbidden", "code_wrong", "not_found", "malformed", "rate_limited")
_STREAM: dict[int, Any] = {
    200: {"description": "Messages.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
}
_SOCKET: dict[int, Any] = {101: {"description": "From here on WebSocket frames."}}
_RESUME: list[dict[str, Any]] = [
    describe.query(CodeQuery), _views("none", "whole", "patch"),
    {"in": "query", "name": "after", "schema": {"type": "integer", "minimum": 0},
     "description": "The last version already known."},
    {"in": "header", "name": "Last-Event-ID", "schema": {"type": "string"}, "description": "The same."},
]


@blueprint.get("/tables/<table>/stream")
@blueprint.doc(parameters=_RESUME, responses=describe.answers({}, *_REFUSES) | _STREAM)
def get_stream(table: str) -> NoReturn:
    """The events of a table as they happen, as Server-Sent Events.

    One message per version: `id:` is the version, `data:` an item as in `events`. It resumes after `Last-Event-ID`,
    else after `after`, else it starts now. `event: reset` brings the view when the feed does not reach back that
    far, or when much was missed from before the running or last deal. A comment comes at least every 15 s.
    """
    raise Problem("not_found", "This process serves no streams: send this address to push.")


@blueprint.get("/tables/<table>/socket")
@blueprint.doc(parameters=[describe.query(CodeQuery), _views("whole", "patch")],
               responses=describe.answers({}, *_REFUSES, "bad_request") | _SOCKET)
def get_socket(table: str) -> NoReturn:
    """Commands and events of a table on one WebSocket, subprotocol `marias.v1`.

    The token comes in the header Authorization or as the first message `{"token": …}`. Send
    `{"id": key, "command": {…}, "if_version"?: n}` or `{"resume": version}`; receive `{"receipt": {…}}` and
    `{"version": n, "events": […], "view": {…}}`.
    """
    raise Problem("not_found", "This process serves no sockets: send this address to push.")

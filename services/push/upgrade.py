"""The opening handshake of a table's WebSocket (RFC 6455 §4), after the request has been judged."""

from collections.abc import Sequence

from websockets.datastructures import Headers
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from services.http.server import Take
from services.push.access import Asked, Refused, bear, existing, knows_code, principal_of, signs
from services.push.messages import SOCKETS, Shows
from services.push.service import Service
from services.push.session import Session

QUERY = frozenset({"code", "receipts", "views"})
SUBPROTOCOL = Subprotocol("marias.v1")


def prepare(service: Service, asked: Asked) -> Take:
    """Judge the request; the function that is given the socket and serves it. Raises Refused.

    Without the header Authorization the token comes in the first message: browsers cannot set headers here.
    """
    principal = None if asked.bearer is None else principal_of(service.ring, asked.bearer)
    current = existing(service.reads, asked.table)
    if principal is not None:
        knows_code(current, principal, asked.code)
        bear(service.pressure, current, principal, asked.table)
    transport = asked.transport(SOCKETS, Shows.VIEWS)
    signs(asked)  # A wrong word is refused before there is a socket.
    answer = _accept(asked)

    def take(fd: int) -> None:
        session = Session(service, asked, transport, fd, principal)
        session.connection.send(answer)
        session.open()

    return take


def _accept(asked: Asked) -> bytes:
    """The bytes of the answer 101. Raises Refused `bad_request` for anything but a proper handshake."""
    request = Request(asked.environ["PATH_INFO"], _headers(asked))
    response = ServerProtocol(select_subprotocol=_subprotocol).accept(request)
    if response.status_code != 101:
        raise Refused("bad_request", "This address is for a WebSocket handshake of version 13.")
    return response.serialize()


def _headers(asked: Asked) -> Headers:
    return Headers({
        name[5:].replace("_", "-"): value
        for name, value in asked.environ.items()
        if name.startswith("HTTP_")
    })


def _subprotocol(protocol: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Clients that offer nothing are taken as they are."""
    return SUBPROTOCOL if SUBPROTOCOL in offered else None

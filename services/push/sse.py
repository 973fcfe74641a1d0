"""The stream of a table as Server-Sent Events (contract §3): one message per version, resumed by its id."""

from services.http.server import Take
from services.push.access import Asked, bear, existing, knows_code, principal_of
from services.push.connection import Connection
from services.push.cors import allowing
from services.push.live import Subscriber
from services.push.messages import STREAMS, Shows
from services.push.service import Service

QUERY = frozenset({"after", "code", "views"})
HEAD = (
    b"HTTP/1.1 200 OK\r\n"
    b"Content-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-store\r\n"
    b"X-Accel-Buffering: no\r\n"  # Proxies would keep messages back to fill a buffer.
    b"X-Content-Type-Options: nosniff\r\n"
    b"Connection: close\r\n"
)
WELCOME = b": welcome\nretry: 1000\n\n"  # Who is cut off comes back after a second.

def prepare(service: Service, asked: Asked) -> Take:
    """Judge the request; the function that is given the socket and turns it into a stream. Raises Refused."""
    principal = principal_of(service.ring, asked.bearer)
    current = existing(service.reads, asked.table)
    allowed = knows_code(current, principal, asked.code)
    bear(service.pressure, current, principal, asked.table)
    after = _after(asked)
    transport = asked.transport(STREAMS, Shows.NOTHING)

    origin = allowing(asked.environ, service.origins)
    head = b"%b%b\r\n%b" % (HEAD, b"".join(f"{name}: {value}\r\n".encode() for name, value in origin), WELCOME)

    def take(fd: int) -> None:
        connection = Connection(fd, on_data=_ignore, on_gone=lambda: service.gone(subscriber))
        subscriber = Subscriber(connection, transport, asked.table, principal.id, knows_code=allowed)
        subscriber.version = current.version if after is None else after
        connection.send(head)
        service.live.join(subscriber)
        service.pulse.add(subscriber)
        service.catch_up(subscriber, subscriber.turn)

    return take


def _after(asked: Asked) -> int | None:
    for name, text in (
        ("Last-Event-ID", asked.environ.get("HTTP_LAST_EVENT_ID")),
        ("after", asked.query.get("after")),
    ):
        if text:
            return asked.version(name, text)
    return None


def _ignore(data: bytes) -> None:
    """A client of a stream has nothing to say."""

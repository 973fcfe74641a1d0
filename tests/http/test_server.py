"""The HTTP server as its clients meet it: bytes in, bytes out, on connections that are kept."""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.http.incoming import BODY_BYTES_MAX
from services.http.server import TAKE_OVER, Server

SECONDS = 60.0


def application(environ: dict, start_response) -> list[bytes]:
    """Tells what it was asked, or does what the address says."""
    match environ["PATH_INFO"]:
        case "/fails":
            raise RuntimeError("as asked")
        case "/two-lines":
            start_response("200 OK", [("X-A", "a\r\nX-B: b")])
            return []
        case "/nothing":
            start_response("204 No Content", [])
            return []
        case "/taken":
            environ[TAKE_OVER](taken_over)
            return []
    body = environ["wsgi.input"].read()
    said = {"method": environ["REQUEST_METHOD"], "path": environ["PATH_INFO"], "length": len(body)}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [b""] if environ["REQUEST_METHOD"] == "HEAD" else [json.dumps(said).encode()]


def taken_over(fd: int) -> None:
    """Whoever is given the socket may say what he likes."""
    os.write(fd, b"something else than HTTP")
    os.close(fd)


@contextmanager
def running(silent_seconds_max: float) -> Iterator[int]:
    """The port of a server in a thread of its own, as this process is not one of gevent's."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    servers: list[Server] = []
    up = threading.Event()

    def serve() -> None:
        from gevent import get_hub

        servers.append(Server(listener, application, silent_seconds_max=silent_seconds_max))
        servers[0].start()
        stop.append(get_hub().loop)
        up.set()
        servers[0]._stop_event.wait()

    stop: list = []
    thread = threading.Thread(target=serve)
    thread.start()
    assert up.wait(SECONDS)
    yield listener.getsockname()[1]
    stop[0].run_callback_threadsafe(servers[0].stop, 0.1)
    thread.join(SECONDS)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server that has time."""
    with running(SECONDS) as found:
        yield found


@pytest.fixture
def client(port: int) -> Iterator[socket.socket]:
    """A connection to it."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as sock:
        yield sock


def rest(client: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    heard = b""
    while data := client.recv(65_536):
        heard += data
    return heard


def answers(heard: bytes) -> list[tuple[int, dict | None]]:
    """Status and document of each answer in a row of answers."""
    found: list[tuple[int, dict | None]] = []
    while heard:
        head, _, heard = heard.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        lengths = [int(line[16:]) for line in lines if line.startswith("Content-Length: ")]
        body, heard = heard[: sum(lengths)], heard[sum(lengths) :]
        found.append((int(lines[0].split()[1]), json.loads(body) if body else None))
    return found


def asked(client: socket.socket, request: bytes) -> list[tuple[int, dict | None]]:
    """The answers to everything that is sent, and the end of the connection."""
    client.sendall(request)
    return answers(rest(client))


def told(method: str, path: str, length: int = 0) -> tuple[int, dict]:
    """What the application says of a request."""
    return 200, {"method": method, "path": path, "length": length}


LAST = b"GET /last HTTP/1.1\r\nConnection: close\r\n\r\n"


def test_requests_follow_each_other_on_one_connection(client: socket.socket) -> None:
    requests = b"GET /a HTTP/1.1\r\n\r\n" + b"POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    assert asked(client, requests + LAST) == [told("GET", "/a"), told("POST", "/b", 3), told("GET", "/last")]


def test_a_request_may_come_byte_by_byte(client: socket.socket) -> None:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc":
        client.sendall(bytes([byte]))
    assert asked(client, LAST) == [told("POST", "/b", 3), told("GET", "/last")]


@pytest.mark.parametrize("begun", [
    b"", b"POST /b HTTP/1.1\r\nContent-Length: 1000\r\n\r\n", b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
])
def test_who_sends_a_request_byte_by_byte_for_ever_is_hung_up_on(
    client: socket.socket, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr("services.http.incoming.REQUEST_SECONDS_MAX", 0.5)
    client.sendall(begun)

    def trickle() -> None:
        for _ in range(100):
            client.sendall(b"1" if begun else b"G")
            time.sleep(0.1)

    with pytest.raises(OSError, match=r"reset|pipe"):
        trickle()


def test_a_body_may_come_in_chunks_with_a_trailer(client: socket.socket) -> None:
    chunks = b"3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
    request = b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    assert asked(client, request + LAST) == [told("POST", "/b", 13), told("GET", "/last")]


@pytest.mark.parametrize("chunks", [b"x\r\n", b"3\r\nabcd\r\n", b"-1\r\n", b"\r\n", b"3 4\r\n"])
def test_chunks_that_are_none_are_refused(client: socket.socket, chunks: bytes) -> None:
    [(status, document)] = asked(client, b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert (status, document and document["code"]) == (400, "bad_request")


def test_who_asks_first_is_told_to_go_on(client: socket.socket) -> None:
    client.sendall(b"POST /b HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
    assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert asked(client, b"abc") == [told("POST", "/b", 3)]


@pytest.mark.parametrize("request_", [
    pytest.param(b"Content-Length: 300000\r\n\r\n", id="told beforehand"),
    pytest.param(b"Transfer-Encoding: chunked\r\n\r\n493e0\r\n", id="in chunks"),
])
def test_a_body_that_is_too_large_is_not_kept_and_its_sender_reads_the_answer(
    client: socket.socket, request_: bytes
) -> None:
    client.sendall(b"POST /b HTTP/1.1\r\n" + request_)
    client.sendall(bytes(300_000))
    assert answers(rest(client)) == [told("POST", "/b", BODY_BYTES_MAX + 1)]


def test_an_old_client_is_hung_up_on_unless_it_asks_to_be_kept(client: socket.socket) -> None:
    kept = b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    assert asked(client, kept + b"GET /b HTTP/1.0\r\n\r\n") == [told("GET", "/a"), told("GET", "/b")]


def test_no_body_follows_where_none_may(client: socket.socket) -> None:
    requests = b"GET /nothing HTTP/1.1\r\n\r\n" + b"HEAD /a HTTP/1.1\r\n\r\n"
    assert asked(client, requests + LAST) == [(204, None), (200, None), told("GET", "/last")]


@pytest.mark.parametrize("path", [b"/fails", b"/two-lines"])
def test_an_application_that_fails_is_told_as_a_problem(
    client: socket.socket, path: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        first, second = asked(client, b"GET %b HTTP/1.1\r\n\r\n" % path + LAST)
    assert (first[0], first[1] and first[1]["code"]) == (500, "internal")
    assert second == told("GET", "/last")


@pytest.mark.parametrize(("request_", "status", "code"), [
    pytest.param(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long", id="a whole line too long"),
    pytest.param(b"GET /" + b"x" * 40_000, 414, "uri_too_long", id="a line without end"),
    pytest.param(b"GET / HTTP/1.1\r\n" + b"A: x\r\n" * 9_000, 400, "bad_request", id="a head without end"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "bad_request", id="TLS"),
])
def test_what_cannot_be_answered_is_refused_as_a_problem(
    client: socket.socket, request_: bytes, status: int, code: str
) -> None:
    [(found, document)] = asked(client, request_)
    assert (found, document and document["code"]) == (status, code)


def test_a_connection_may_be_taken_over(client: socket.socket, caplog: pytest.LogCaptureFixture) -> None:
    client.sendall(b"GET /taken HTTP/1.1\r\n\r\n")
    assert rest(client) == b"something else than HTTP"
    assert not caplog.records


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na"])
def test_who_stays_silent_is_hung_up_on(sent: bytes) -> None:
    with running(0.5) as port, socket.create_connection(("127.0.0.1", port), SECONDS) as client:
        client.sendall(sent)
        assert rest(client) == b""

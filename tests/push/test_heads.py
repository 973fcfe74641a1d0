"""What is read as a request, and what is not: a guess here is a door for somebody else's request."""

import http.client
import io
import json
import socket
from collections.abc import Callable

import pytest

from services.push.heads import BadHead, Head
from tests.push.clients import OPEN, SECONDS
from tests.push.conftest import Push


def test_names_are_the_same_in_any_letters_and_values_are_trimmed() -> None:
    head = Head(io.BytesIO(b"Host: a\r\nContent-TYPE:  text/plain \r\nX-A: 1\r\nx-a: 2\r\n\r\nbody"))
    assert head.get("content-type") == head.typeheader == "text/plain"
    assert head.get("X-A") == "1"
    assert head.get("absent") is None
    assert sorted(head.headers) == ["content-type: text/plain", "host: a", "x-a: 1", "x-a: 2"]


@pytest.mark.parametrize("text", [
    pytest.param(b"Host: a\r\n folded\r\n\r\n", id="a folded line"),
    pytest.param(b"Host a\r\n\r\n", id="a line without a colon"),
    pytest.param(b": a\r\n\r\n", id="no name"),
    pytest.param(b"Ho st: a\r\n\r\n", id="a space in a name"),
    pytest.param(b"Host : a\r\n\r\n", id="a space before the colon"),
    pytest.param(b"Host: a", id="an end in the middle"),
    pytest.param(b"Host: a\r\n", id="no empty line"),
    pytest.param(b"A: " + b"x" * 20_000 + b"\r\n\r\n", id="a line without end"),
    pytest.param(b"A: x\r\n" * 101 + b"\r\n", id="too many"),
    pytest.param(b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", id="two lengths"),
    pytest.param(b"Content-Length: -1\r\n\r\n", id="a negative length"),
    pytest.param(b"Content-Length: 1_0\r\n\r\n", id="a length that only Python can read"),
])
def test_what_is_no_head_is_refused(text: bytes) -> None:
    with pytest.raises(BadHead):
        Head(io.BytesIO(text))


@pytest.mark.server
@pytest.mark.parametrize("request_", [
    pytest.param(b"nonsense\r\n\r\n", id="a word"),
    pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="another version"),
    pytest.param(b"GET / HTTP/1.1\r\nHost a\r\n\r\n", id="a broken header"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
])
def test_what_is_not_http_is_answered_as_such(push: Push, request_: bytes) -> None:
    client = OPEN.enter_context(socket.create_connection(("127.0.0.1", push.port), SECONDS))
    client.sendall(request_)
    answer = b""
    while data := client.recv(4096):
        answer += data
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["code"] == "bad_request"


@pytest.mark.server
def test_what_asks_for_the_head_alone_is_sent_no_body(push: Push) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", push.port, timeout=SECONDS)
    OPEN.callback(connection.close)
    statuses = []
    for method in ("HEAD", "GET"):  # On one connection: a body would be read as the beginning of the next answer.
        connection.request(method, "/v1/tables/t-1f-00000000000a/stream")
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    assert statuses == [405, 401]


@pytest.mark.server
@pytest.mark.parametrize("sent", [
    pytest.param(b"", id="nothing"),
    pytest.param(b"GET / HT", id="half a line"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n", id="half a head"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", id="a request and then no other"),
])
def test_who_stays_silent_is_hung_up_on(launch: Callable[[float], Push], sent: bytes) -> None:
    client = OPEN.enter_context(socket.create_connection(("127.0.0.1", launch(0.05).port), SECONDS))
    client.sendall(sent)
    while client.recv(4096):
        pass

"""What clients meet who do not speak HTTP to push, or who say nothing at all."""

import http.client
import json
import socket
from collections.abc import Callable

import pytest

from tests.push.clients import OPEN, SECONDS
from tests.push.conftest import Push


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

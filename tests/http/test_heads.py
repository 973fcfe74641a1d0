"""What is read as a request, and what is not: a guess here is a door for somebody else's request."""

import pytest

from services.http.incoming import BadHead, Incoming, TooLong


class Said:
    """A socket whose other side has said this, and waits."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    def recv(self, size: int) -> bytes:
        said, self.said = self.said[:size], self.said[size:]
        if not said:
            raise TimeoutError
        return said

    def sendall(self, data: bytes) -> None:
        raise AssertionError(data)


def read(*lines: str) -> dict:
    """The environment that a head of these lines makes."""
    sent = "\r\n".join([*lines, "", ""]).encode("latin-1")
    asked = Incoming(Said(sent)).request()
    assert asked is not None
    return asked[0]


def test_a_head_becomes_an_environment() -> None:
    assert read("POST /v1/a%20b?c=%20d HTTP/1.1", "Host: x", "Content-TYPE:  text/plain ", "content-length: 0") == {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/v1/a b", "QUERY_STRING": "c=%20d", "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "x", "CONTENT_TYPE": "text/plain", "CONTENT_LENGTH": "0",
    }


def test_headers_of_one_name_in_any_letters_are_joined() -> None:
    environ = read("GET / HTTP/1.1", "X-A: 1", "x-a: 2", "Cookie: a=1", "Cookie: b=2")
    assert (environ["HTTP_X_A"], environ["HTTP_COOKIE"]) == ("1,2", "a=1; b=2")


def test_a_name_that_could_pass_for_another_is_left_out() -> None:
    assert "HTTP_IF_MATCH" not in read("GET / HTTP/1.1", "If_Match: 1")


def test_an_address_may_name_the_host_as_for_a_proxy() -> None:
    assert read("GET http://elsewhere:80/v1?a HTTP/1.0")["PATH_INFO"] == "/v1"


@pytest.mark.parametrize("lines", [
    pytest.param(["nonsense"], id="a word"),
    pytest.param(["GET /"], id="no version"),
    pytest.param(["GET / HTTP/9.9"], id="another version"),
    pytest.param(["GET / HTTP/2.0"], id="a version that is spoken otherwise"),
    pytest.param(["GET v1 HTTP/1.1"], id="no slash"),
    pytest.param(["GET /a b HTTP/1.1"], id="a space in the address"),
    pytest.param(["GET /\x00 HTTP/1.1"], id="a control character in the address"),
    pytest.param(["G(T / HTTP/1.1"], id="a method that is no word"),
])
def test_what_is_no_request_line_is_refused(lines: list[str]) -> None:
    with pytest.raises(BadHead):
        read(*lines)


@pytest.mark.parametrize("lines", [
    pytest.param(["Host: a", " folded"], id="a folded line"),
    pytest.param(["Host a"], id="a line without a colon"),
    pytest.param([": a"], id="no name"),
    pytest.param(["Ho st: a"], id="a space in a name"),
    pytest.param(["Host : a"], id="a space before the colon"),
    pytest.param(["Host: a\nX: b"], id="a line that ends in half an end"),
    pytest.param(["Host: a\rX: b"], id="a line that ends in the other half"),
    pytest.param(["Host: a\0"], id="a zero"),
    pytest.param(["A: " + "x" * 20_000], id="a line without end"),
    pytest.param(["A" * 200 + ": x"], id="a name without end"),
    pytest.param(["A: x"] * 101, id="too many"),
    pytest.param(["Content-Length: 1", "Content-Length: 2"], id="two lengths"),
    pytest.param(["Content-Length: 1", "Content-Length: 1"], id="the same length twice"),
    pytest.param(["Content-Length: -1"], id="a negative length"),
    pytest.param(["Content-Length: 1_0"], id="a length that only Python can read"),
    pytest.param(["Content-Length: 5", "Transfer-Encoding: chunked"], id="a length and chunks"),
    pytest.param(["Transfer-Encoding: gzip, chunked"], id="an encoding that is not understood"),
    pytest.param(["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], id="chunks of chunks"),
])
def test_headers_that_might_be_read_otherwise_are_refused(lines: list[str]) -> None:
    with pytest.raises(BadHead):
        read("POST / HTTP/1.1", *lines)


def test_an_address_without_end_is_refused_by_its_name() -> None:
    with pytest.raises(TooLong):
        read(f"GET /{'x' * 20_000} HTTP/1.1")

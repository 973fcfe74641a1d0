"""The head of a request as a WSGI environment (RFC 9112, PEP 3333), read strictly and in one pass."""

import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

Environ = dict[str, Any]

LINE_BYTES_MAX = 16_384
LINES_MAX = 100

_REQUEST = re.compile(
    r"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (?:[hH][tT][tT][pP][sS]?://[^/? ]*)?(/[^\x00-\x20\x7f]*|\*) HTTP/1\.([01])"
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_LENGTH = re.compile(r"[0-9]{1,15}")
_WITHOUT_PREFIX = {"CONTENT_TYPE", "CONTENT_LENGTH"}


class BadHead(ValueError):
    """The head is not what RFC 9112 asks for; a server that guessed might read it otherwise than a proxy does."""


class TooLong(ValueError):
    """The address is longer than anybody needs."""


def read_head(text: str, environ: Environ) -> None:
    """Add to `environ` what `text`, a head in Latin-1 without its empty line, says. Raises BadHead, TooLong."""
    first, *lines = text.split("\r\n")
    if len(first) > LINE_BYTES_MAX:
        raise TooLong
    request = _REQUEST.fullmatch(first)
    if request is None:
        raise BadHead("no request line of HTTP/1.0 or 1.1")
    method, target, minor = request.groups()
    path, _, query = target.partition("?")
    environ["REQUEST_METHOD"] = method
    environ["PATH_INFO"] = unquote_to_bytes(path).decode("latin-1") if "%" in path else path
    environ["QUERY_STRING"] = query
    environ["SERVER_PROTOCOL"] = f"HTTP/1.{minor}"
    if len(lines) > LINES_MAX:
        raise BadHead("too many headers")
    for line in lines:
        _read_line(line, environ)
    _check_length(environ)


def _read_line(line: str, environ: Environ) -> None:
    name, colon, value = line.partition(":")
    if not colon or len(line) > LINE_BYTES_MAX or "\n" in line or "\r" in line or "\0" in line:
        raise BadHead("a header that is too long, broken, or without a name")
    key = _key(name)
    if key in environ:
        value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value.strip(_BLANKS)}"
        environ[key] = value
    elif key:
        environ[key] = value.strip(_BLANKS)


_BLANKS = " \t"


@lru_cache(maxsize=1024)
def _key(name: str) -> str:
    """What a header is called in the environment; "": it is left out, as its name could pass for another's."""
    if _NAME.fullmatch(name) is None:
        raise BadHead("a header that is folded, or whose name is none")
    if "_" in name:
        return ""
    key = name.replace("-", "_").upper()
    return key if key in _WITHOUT_PREFIX else f"HTTP_{key}"


def _check_length(environ: Environ) -> None:
    """Where the body ends must be said once: by its length, or by chunks."""
    length, coding = environ.get("CONTENT_LENGTH"), environ.get("HTTP_TRANSFER_ENCODING")
    if length is not None and (coding is not None or _LENGTH.fullmatch(length) is None):
        raise BadHead("a Content-Length that is no number, or not the only one who says where the body ends")
    if coding is not None and (coding.lower() != "chunked" or environ["SERVER_PROTOCOL"] == "HTTP/1.0"):
        raise BadHead("a Transfer-Encoding that is not understood")

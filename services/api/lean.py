"""Flask as this API needs it: its routing, contexts, endpoints and handlers of failures, and nothing besides.

Sessions, hosts, hooks after requests and signs of teardown cost each request more than an endpoint does, and nothing
here uses them. What is left out is left out by the methods that Flask documents for that.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import flask
from flask import Flask, Request
from flask.sessions import SessionInterface, SessionMixin
from flask.typing import ResponseReturnValue
from werkzeug.routing import MapAdapter, Rule

ADDRESSES_REMEMBERED_MAX = 4096
_WITHOUT_BODY = frozenset({204, 304})

Match = tuple[Rule, dict[str, Any]]


class Response(flask.Response):
    """An answer whose body and length are known when it is made: it is sent as it is."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as WSGI has it."""
        if environ["REQUEST_METHOD"] == "HEAD" or self.status_code in _WITHOUT_BODY:
            return super().__call__(environ, start_response)
        start_response(self.status, self.headers.to_wsgi_list())
        return self.response  # type: ignore[return-value]  # A list of bytes, since it was made of bytes.


class _NoSession(dict[str, Any], SessionMixin):
    """What nobody looks at."""


class _NoSessions(SessionInterface):
    _one = _NoSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        return self._one


class _Address(MapAdapter):
    """Where a request goes. Most come again and again with the same address, which is then looked up once."""

    look_up: Callable[[str, str], Match]

    def match(self, *_: object, method: str | None = None, **__: object) -> Match:
        """The rule, which is all that Flask asks for, and the parts of the address."""
        return self.look_up(method or self.default_method, self.path_info)


class Lean(Flask):
    """The application; what is registered to happen after a request or at a teardown does not happen."""

    session_interface = _NoSessions()

    def __init__(self, name: str) -> None:
        super().__init__(name, static_folder=None)
        self.url_map.merge_slashes = False  # An address with an empty part is not found, rather than redirected.
        self._look_up = lru_cache(ADDRESSES_REMEMBERED_MAX)(self._match)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """`func` as it is: no endpoint is a coroutine."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Addresses here mean the same on every host."""
        if request is None:
            return None
        environ = request.environ
        address = _Address(self.url_map, "", "/", "", "http", environ["PATH_INFO"], environ["REQUEST_METHOD"])
        address.look_up = self._look_up
        return address

    def preprocess_request(self) -> ResponseReturnValue | None:
        """Call what was registered for the whole application."""
        for before in self.before_request_funcs[None]:
            before()
        return None

    def process_response(self, response: flask.Response) -> flask.Response:
        """The answer as it is."""
        return response

    def do_teardown_request(self, exc: BaseException | None = None) -> None:
        """Nothing is opened for one request."""

    def do_teardown_appcontext(self, exc: BaseException | None = None) -> None:
        """Nothing is opened for one request."""

    def _match(self, method: str, path: str) -> Match:
        return MapAdapter(self.url_map, "", "/", "", "http", path, method).match(return_rule=True)  # type: ignore[return-value]

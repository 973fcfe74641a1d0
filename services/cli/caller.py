"""A client of the HTTP API as small as it can be: one kept connection, JSON in and out."""

import contextlib
import http.client
import json
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

SECONDS_MAX = 30.0


class Refused(Exception):
    """An answer that is no success; the message is for people, `code` is permanent."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('detail') or problem.get('title') or 'refused'} ({status})")
        self.status = status
        self.code = problem.get("code", "")


class Unreachable(Exception):
    """Nobody answers at the address; the message says which."""


class Caller:
    """Calls the server at `url`, in the name of `token` once it is set."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise Unreachable(f"{url!r} is no address like http://127.0.0.1:8000")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.url = url.rstrip("/")
        self.token = token
        self._line = kind(parts.hostname, parts.port, timeout=SECONDS_MAX)

    def get(self, path: str) -> Any:
        """The answer to a GET. Raises Refused and Unreachable."""
        return self._call("GET", path, None, {})

    def post(self, path: str, body: object, **headers: str) -> Any:
        """The answer to a POST. Raises Refused and Unreachable."""
        return self._call("POST", path, body, headers)

    def command(self, table: str, body: object, *, wait_seconds: int = 20) -> Any:
        """Send a command and wait for what became of it. Raises Refused and Unreachable."""
        path = f"/v1/tables/{table}/commands"
        return self.post(path, body, Idempotency_Key=secrets.token_hex(8), Prefer=f"wait={wait_seconds}")

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def _call(self, method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            self._line.request(method, path, None if body is None else json.dumps(body), sent)
            answer = self._line.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._line.close()
            raise Unreachable(f"No answer from {self.url}: {error}") from error
        return _read(answer.status, text)


def _read(status: int, text: bytes) -> Any:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        value = {}
    if not 200 <= status < 300:
        raise Refused(status, value if isinstance(value, dict) else {})
    return value


def answers(url: str, *, seconds_max: float = 0.0) -> bool:
    """Is a server ready at `url`, at once or within `seconds_max`?"""
    end = time.monotonic() + seconds_max
    while True:
        with contextlib.suppress(Unreachable, Refused):
            Caller(url).get("/v1/health/ready")
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.05)

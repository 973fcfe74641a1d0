"""A player as a phone would be one: HTTP only, keeps its idempotency keys, remembers every byte it was sent."""

import http.client
import json
import time
import uuid
from contextlib import closing, suppress
from dataclasses import dataclass, field
from threading import Event, Thread


class Refused(Exception):
    """A problem document: `status`, and the permanent `code` in it."""

    def __init__(self, status: int, problem: dict) -> None:
        super().__init__(f"{status} {problem}")
        self.status, self.problem = status, problem

    @property
    def code(self) -> str:
        return self.problem.get("code", "")


@dataclass
class Client:
    """One bearer token on one kept connection to 127.0.0.1:`port`."""

    port: int
    token: str | None = None
    heard: list[tuple[str, bytes]] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)  # the keys of commands, by how they were answered
    refused: list[str] = field(default_factory=list)
    _connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, dict]:
        """Status, headers in lower case, and the JSON body; a broken connection is the caller's to repeat."""
        send = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            send["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data = json.dumps(body)
            send["Content-Type"] = "application/json"
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            self._connection.request(method, path, data, send)
            answer = self._connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        self.heard.append((path, raw))
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, json.loads(raw) if raw else {}

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        self.close()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> dict:
        """The JSON body of a 2xx answer. Raises Refused for every other status."""
        status, _, answer = self.call(method, path, body, **headers)
        if not 200 <= status < 300:
            raise Refused(status, answer)
        return answer

    def persist(self, method: str, path: str, body: object = None, *, seconds: float = 90, **headers: str) -> dict:
        """`ask`, repeated with the very same request while the service is away (no connection, 503 or 429)."""
        until = time.monotonic() + seconds
        while True:
            try:
                return self.ask(method, path, body, **headers)
            except Refused as refusal:
                if refusal.status not in (429, 503) or time.monotonic() > until:
                    raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def command(self, table: str, body: dict, *, key: str | None = None, seconds: float = 90) -> dict:
        """The final outcome of a command: {"status": "applied", "version"} or Refused; never lost, never doubled."""
        key = key or uuid.uuid4().hex
        path = f"/v1/tables/{table}/commands"
        until = time.monotonic() + seconds
        while True:
            try:
                answer = self.persist("POST", path, body, Idempotency_Key=key, Prefer="wait=5", seconds=seconds)
            except Refused:
                self.refused.append(key)
                raise
            if answer["status"] == "applied":
                self.applied.append(key)
                return answer
            if time.monotonic() > until:
                raise TimeoutError(f"{key} is still {answer}")

    def view(self, table: str) -> dict:
        return self.persist("GET", f"/v1/tables/{table}")


def register(port: int, name: str) -> Client:
    """A new guest."""
    client = Client(port)
    client.token = client.persist("POST", "/v1/players", {"name": name})["token"]
    return client


def seat_three(port: int, **options: object) -> tuple[str, list[Client]]:
    """A fresh table and its three players, in seat order, all ready."""
    players = [register(port, name) for name in ("Ana", "Bára", "Cyril")]
    table = players[0].persist("POST", "/v1/tables", {"game": "voleny", **options})["table"]
    for seat, player in enumerate(players):
        player.command(table, {"type": "sit", "seat": seat})
    for player in players:
        player.command(table, {"type": "ready"})
    return table, players


class Stream(Thread):
    """Follows a table's Server-Sent Events from its first version on, resuming whenever the link breaks."""

    def __init__(self, client: Client, table: str) -> None:
        super().__init__(daemon=True)
        self.client, self.table = client, table
        self.messages: list[tuple[int, bytes]] = []  # (version, the data line as it came)
        self.resets = 0
        self.over = Event()
        self.start()

    def run(self) -> None:
        while not self.over.is_set():
            with suppress(OSError, http.client.HTTPException):
                self._follow()
            time.sleep(0.02)

    def stop(self) -> None:
        """Ask the thread to end; it does at the next line or heartbeat."""
        self.over.set()

    def versions(self) -> list[int]:
        return [version for version, _ in self.messages]

    def _follow(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.client.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.client.token}"}
        headers["Last-Event-ID"] = str(self.messages[-1][0] if self.messages else 0)
        connection.request("GET", f"/v1/tables/{self.table}/stream", headers=headers)
        answer = connection.getresponse()
        with closing(connection), closing(answer):
            self._read(answer)

    def _read(self, answer: http.client.HTTPResponse) -> None:
        fields: dict[bytes, bytes] = {}
        while not self.over.is_set() and (line := answer.readline()):
            if line.strip():
                name, _, value = line.rstrip(b"\n").partition(b": ")
                fields[name] = value
                continue
            if b"event" in fields:
                self.resets += 1
            elif b"id" in fields:
                self.messages.append((int(fields[b"id"]), fields[b"data"]))
            fields = {}

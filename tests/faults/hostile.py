"""Rows 9, 10 and 14 beside everything else: malformed, forged and stolen requests, each refused as it should be."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from tests.faults.flights import Couriers, Flight, Http, headers_of

PAUSE_SECONDS = 0.05
LINE_SECONDS = 1.0

Answer = tuple[int, dict[str, Any]]


class Hostile(threading.Thread):
    """Somebody who sends what no honest client would. Every answer that is not the right refusal is a complaint."""

    def __init__(
        self, couriers: Couriers, tables: Sequence[str], stranger: tuple[str, str], chance: Random,
        over: threading.Event,
    ) -> None:
        super().__init__(daemon=True)
        self._nodes, self._couriers, self._tables = couriers.nodes, couriers, tables
        self._actor, self._token = stranger
        self._chance, self._over = chance, over
        self._calls = Http(couriers.nodes)
        self._said = 0

    def run(self) -> None:
        """One kind of nuisance after the other, at random."""
        kinds: list[Callable[[], None]] = [
            self.malformed, self.forged, self.stranger, self.another_body, self.another_sender, self.raw_line,
        ]
        while not self._over.wait(PAUSE_SECONDS):
            kind = self._chance.choice(kinds)
            with suppress(OSError, http.client.HTTPException):  # A node that is away is not there to be annoyed.
                kind()
                self._couriers.counts[f"hostile: {kind.__name__.replace('_', ' ')}"] += 1
        self._calls.close()

    def malformed(self) -> None:
        """Bodies that are no commands."""
        text, statuses = self._chance.choice(MALFORMED)
        status, _ = self._post(self._table(), text, {})
        self._expect("malformed", status, statuses, text[:60])

    def forged(self) -> None:
        """Tokens that nobody has signed."""
        head, _, tail = self._token.rpartition(".")
        token = self._chance.choice(["", "x.y.z", f"{head}.{tail[::-1]}", self._token[:-8]])
        status, _ = self._post(self._table(), b'{"type":"ready"}', {"Authorization": f"Bearer {token}"})
        self._expect("forged", status, {401}, token[-20:])

    def stranger(self) -> None:
        """Moves of somebody who does not sit there."""
        body = self._chance.choice([{"type": "play", "card": "Ah"}, {"type": "good"}, {"type": "leave"}])
        self._say_as_stranger(self._key(), body, self._table())

    def another_body(self) -> None:
        """The key of an answered command with another body: never its outcome, never another effect."""
        victim = self._victim()
        if victim is None:
            return
        other = {"type": "leave"} if victim.body["type"] != "leave" else {"type": "ready"}
        status, answer = self._post(
            victim.table, json.dumps(other).encode(), headers_of(victim) | {"Prefer": "wait=3"}
        )
        self._expect("another body", status, {422}, f"{victim.key}: {answer}")
        if status == 422 and answer["code"] != "idempotency_key_reused":
            self._couriers.complaints.append(f"a key with another body was refused as {answer['code']}")

    def another_sender(self) -> None:
        """The key and the body of another player's command: it is the sender's own, and he does not sit there."""
        victim = self._victim()
        if victim is not None and victim.body["type"] != "sit":
            self._say_as_stranger(victim.key, victim.body, victim.table)

    def raw_line(self) -> None:
        """Bytes that are no HTTP, and connections that are left half open."""
        node = self._chance.choice(self._nodes)
        with socket.create_connection(("127.0.0.1", self._chance.choice([node.http, node.socket])), 1.0) as line:
            line.settimeout(LINE_SECONDS)
            line.sendall(self._chance.choice(LINES))
            with suppress(TimeoutError):
                answer = line.recv(4096)
                if answer.startswith(b"HTTP/1.1 5") and not answer.startswith(b"HTTP/1.1 503"):
                    self._couriers.complaints.append(f"raw bytes were answered {answer[:60]!r}")

    def _say_as_stranger(self, key: str, body: dict[str, Any], table: str) -> None:
        """A command of the stranger, which goes into the history as any other."""
        flight = Flight(table, self._actor, self._token, key, body)
        flight.deliveries = 1
        try:
            status, answer = self._post(table, json.dumps(body).encode(), headers_of(flight))
        except (OSError, http.client.HTTPException):
            flight.given_up = True
            self._couriers.add(flight)
            raise
        if status == 200:
            flight.applied("HTTP", answer["version"], b"")
            self._couriers.complaints.append(f"a stranger's {body} was applied at {table}")
        elif status not in (202, 429, 503):
            self._expect("stranger", status, {409, 422}, f"{body}: {answer}")
            flight.refused("HTTP", answer["code"], b"")
        if not any(each.key == key and each.actor == self._actor for each in self._couriers.flights[-200:]):
            self._couriers.add(flight)

    def _victim(self) -> Flight | None:
        """A command that was answered a moment ago."""
        recent = [each for each in self._couriers.flights[-100:] if each.answered and each.actor != self._actor]
        return self._chance.choice(recent) if recent else None

    def _table(self) -> str:
        return self._chance.choice(self._tables)

    def _key(self) -> str:
        self._said += 1
        return f"hostile-{self._said}-{self._chance.getrandbits(32):08x}"

    def _post(self, table: str, body: bytes, more: dict[str, str]) -> Answer:
        headers = {
            "Authorization": f"Bearer {self._token}", "Content-Type": "application/json",
            "Idempotency-Key": self._key(), **more,
        }
        began = time.monotonic()
        node = self._chance.randrange(len(self._nodes))
        status, _, text = self._calls.call(node, "POST", f"/v1/tables/{table}/commands", body, headers)
        self._couriers.counts["hostile requests"] += 1
        slowest = int((time.monotonic() - began) * 1000)
        self._couriers.counts["slowest hostile request, ms"] = max(
            slowest, self._couriers.counts["slowest hostile request, ms"]
        )
        return status, json.loads(text) if text[:1] == b"{" else {}

    def _expect(self, kind: str, status: int, statuses: set[int], what: object) -> None:
        if status not in statuses | {429, 503}:
            self._couriers.complaints.append(f"{kind}: {status} instead of {sorted(statuses)} to {what!r}")


MALFORMED: list[tuple[bytes, set[int]]] = [
    (b"", {422}),
    (b"null", {422}),
    (b"[]", {422}),
    (b"[" * 8_000 + b"]" * 8_000, {422}),
    (b'{"type":"play","card":"Ah"', {422}),
    (b'{"type":"play","type":"ready"}', {422}),
    (b'{"type":"play","card":NaN}', {422}),
    (b'{"type":"sit","seat":1.0}', {422}),
    (b'{"type":"sit","seat":true}', {422}),
    (b'{"type":"sit","seat":9223372036854775808}', {422}),
    (b'{"type":"sit","seat":1e400}', {422}),
    (b'{"type":"play","card":"\xff\xfe"}', {422}),
    (b'{"type":"play","card":"Ah\\u0000"}', {422}),
    (b'{"type":"open","game":"voleny"}', {422}),
    (b'{"type":"expire","version_seen":1}', {422}),
    (b'{"type":"ready","player":"u-00-0000000000000000"}', {422}),
    (b'{"type":"' + b"x" * 20_000 + b'"}', {413}),
]

LINES = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/1.1\r\nHost",
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n{",
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/players HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /v1/tables HTTP/9.9\r\n\r\n",
    b"\x00" * 512,
]

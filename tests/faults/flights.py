"""Commands on their way: each delivered one to five times, early, late and at once, to whichever node."""

import heapq
import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.faults.history import History, Operation, Outcome
from tests.faults.processes import Node

COPIES = (1, 1, 1, 2, 2, 3, 4, 5)
LATE_SECONDS_MAX = 15.0
PATIENCE_SECONDS = 60.0
WAIT_SECONDS = 3
CALL_SECONDS_MAX = 10.0
AGAIN_STATUSES = (429, 503)


@dataclass
class Flight:
    """A command under one key, until its outcome is known. `given_up`: its sender does not want to know."""

    table: str
    actor: str
    token: str
    key: str
    body: dict[str, Any]
    if_version: int | None = None
    invoked: float = field(default_factory=time.monotonic)
    answered: float | None = None
    outcome: Outcome = "unknown"
    version: int | None = None
    code: str | None = None
    deliveries: int = 0
    given_up: bool = False
    answers: dict[str, set[str]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Does its sender still wait?"""
        return self.outcome == "unknown" and not self.given_up

    def applied(self, wire: str, version: int, text: bytes) -> None:
        """An answer that it is written."""
        self._answer("ok", wire, f"applied {version}", text)
        self.version = version

    def refused(self, wire: str, code: str, text: bytes) -> None:
        """An answer that it never will be."""
        self._answer("refused", wire, f"refused {code}", text)
        self.code = code

    def _answer(self, outcome: Outcome, wire: str, says: str, text: bytes) -> None:
        """Whatever the wire, it means the same; on one wire it is the same bytes."""
        self.answers.setdefault("meaning", set()).add(says)
        self.answers.setdefault(wire, set()).add(text.decode(errors="replace"))
        if self.answered is None:
            self.answered = time.monotonic()
            self.outcome = outcome

    def operation(self) -> Operation:
        """The line of the history."""
        differing = tuple(sorted(said for each in self.answers.values() if len(each) > 1 for said in each))
        return Operation(
            self.table, self.actor, self.key, self.body, self.invoked, self.answered, self.outcome, self.version,
            self.code, self.deliveries, differing or tuple(self.answers.get("meaning", ())),
        )


class Http:
    """Kept connections to the nodes, of one thread."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._kept: dict[int, http.client.HTTPConnection] = {}

    def call(self, node: int, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[
        int, http.client.HTTPMessage, bytes
    ]:
        """Status, headers and body. Raises OSError or HTTPException when there was no answer."""
        kept = self._kept.pop(node, None)
        connection = kept or http.client.HTTPConnection(
            "127.0.0.1", self._nodes[node].http, timeout=CALL_SECONDS_MAX
        )
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        self._kept[node] = connection
        return answer.status, answer.headers, text

    def close(self) -> None:
        """Hang up."""
        for each in self._kept.values():
            each.close()


class Couriers:
    """Threads that deliver commands over HTTP when each is due, and repeat what had no final answer."""

    def __init__(self, nodes: Sequence[Node], history: History, seed: int, count: int) -> None:
        self.history = history
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []
        self.flights: list[Flight] = []
        self.nodes = nodes
        self._due: list[tuple[float, int, Flight]] = []
        self._order = itertools.count()
        self._some = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, args=(Random(f"{seed}/courier/{number}"),), daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, flight: Flight) -> None:
        """A command begins its way."""
        self.flights.append(flight)

    def deliver(self, flight: Flight, after: float = 0.0) -> None:
        """Deliver it once, in so many seconds."""
        with self._some:
            heapq.heappush(self._due, (time.monotonic() + after, next(self._order), flight))
            self._some.notify()

    def close(self) -> None:
        """Let what is due go out, drop the rest, and put every command into the history."""
        with self._some:
            self._closed = True
            self._some.notify_all()
        for thread in self._threads:
            thread.join(2 * CALL_SECONDS_MAX)
        for flight in self.flights:
            self.history.add(flight.operation())

    def _run(self, chance: Random) -> None:
        calls = Http(self.nodes)
        while (flight := self._next()) is not None:
            self._deliver(flight, chance, calls)
        calls.close()

    def _next(self) -> Flight | None:
        with self._some:
            while not self._closed:
                if not self._due:
                    self._some.wait(0.5)
                elif (early := self._due[0][0] - time.monotonic()) > 0:
                    self._some.wait(early)
                else:
                    return heapq.heappop(self._due)[2]
        return None

    def _deliver(self, flight: Flight, chance: Random, calls: Http) -> None:
        flight.deliveries += 1
        node = chance.randrange(len(self.nodes))
        try:
            path, body = f"/v1/tables/{flight.table}/commands", json.dumps(flight.body).encode()
            status, headers, text = calls.call(node, "POST", path, body, headers_of(flight))
        except (OSError, http.client.HTTPException):
            self.counts["no answer over HTTP"] += 1
            self._again(flight, chance)
            return
        self.counts[f"HTTP {status}"] += 1
        self._read(flight, status, headers, text, chance)

    def _read(
        self, flight: Flight, status: int, headers: http.client.HTTPMessage, text: bytes, chance: Random
    ) -> None:
        if status == 200:
            flight.applied("HTTP", json.loads(text)["version"], text)
        elif status == 202:
            self._again(flight, chance)
        elif status in AGAIN_STATUSES:
            if "Retry-After" not in headers:
                self.complaints.append(f"{status} without Retry-After: {text[:200]!r}")
            self._again(flight, chance)
        elif status >= 500:
            self.complaints.append(f"{status} to {flight.body}: {text[:300]!r}")
        else:
            flight.refused("HTTP", json.loads(text)["code"], text)

    def _again(self, flight: Flight, chance: Random) -> None:
        """Whoever waits asks again with the same key, and not for ever."""
        if flight.is_open and time.monotonic() - flight.invoked < PATIENCE_SECONDS:
            self.deliver(flight, chance.uniform(0.1, 0.6))
        else:
            flight.given_up = True


def headers_of(flight: Flight) -> dict[str, str]:
    """What goes with a command over HTTP."""
    condition = {} if flight.if_version is None else {"If-Match": f'"{flight.if_version}"'}
    return {
        "Authorization": f"Bearer {flight.token}", "Content-Type": "application/json", "Prefer": f"wait={WAIT_SECONDS}",
        "Idempotency-Key": flight.key, **condition,
    }

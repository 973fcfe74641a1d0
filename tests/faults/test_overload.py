"""Ten times what the system can decide: it goes on at its own pace, refuses the rest, and is quick again afterwards."""

import json
import os
import statistics
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from redis import Redis

from services.envelope import sender_of
from services.intake import Submitted, attach, submit_many
from services.store import keys
from services.store.connect import connect
from services.store.wire import ask_many
from tests.program.running import Running

ALONE = "MARIAS_OVERLOAD_SECONDS" in os.environ
SECONDS = float(os.environ.get("MARIAS_OVERLOAD_SECONDS", "4"))
"""How long the overload lasts; the capacity is measured for as long before."""
PARTITIONS = int(os.environ.get("MARIAS_OVERLOAD_PARTITIONS", "1"))
"""One is full soon."""
TABLES = 24
OUTSTANDING = 256
BATCH = 64
TIMES = 10
BACK_SECONDS_MAX = 30.0 if ALONE else 180.0
"""On CI other tests run beside, and take the machine for a while: there it only must be quick again."""
REFUSED_SECONDS_MAX = 120.0
"""So long more is sent when nothing was refused yet: a busy machine may have been slow to send."""

pytestmark = [pytest.mark.server, pytest.mark.slow]


class Flood:
    """Players who sit down and get up again at many tables, sent as another API process would send them."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._numbers = count()
        self._players = [f"u-{number % PARTITIONS:02x}-00000000000000{number:02x}" for number in range(TABLES)]
        self.tables = [f"t-{number % PARTITIONS:02x}-0000000000{number:02x}" for number in range(TABLES)]
        self.taken: dict[str, list[str]] = {table: [] for table in self.tables}
        self.refused = 0
        opened = [Submitted(table, player, "Ana", "open", {"type": "open", "game": "voleny"})
                  for table, player in zip(self.tables, self._players, strict=True)]
        assert {each.status for each in submit_many(redis, opened)} == {"new"}
        self._open = len(opened)

    def send(self) -> None:
        """One batch."""
        batch = []
        for _ in range(BATCH):
            number = next(self._numbers)
            place = number % TABLES
            body = {"type": "sit"} if number // TABLES % 2 == 0 else {"type": "leave"}
            batch.append(Submitted(self.tables[place], self._players[place], "Ana", f"k{number}", body))
        for sent, taken in zip(batch, submit_many(self._redis, batch), strict=True):
            if taken.status == "new":
                self.taken[sent.id].append(f"{sent.actor}/{sent.key}")
            else:
                self.refused += 1

    def accepted(self) -> int:
        """How many were taken in."""
        return sum(map(len, self.taken.values()))

    def decided(self) -> int:
        """How many of them have their receipt."""
        return sum(ask_many(self._redis, [("HLEN", keys.receipts(table)) for table in self.tables])) - self._open

    def lost(self) -> list[str]:
        """Those that were taken in and have none."""
        found = []
        for table, fields in self.taken.items():
            for start in range(0, len(fields), 1_000):
                part = fields[start : start + 1_000]
                [receipts] = ask_many(self._redis, [("HMGET", keys.receipts(table), *part)])
                found += [field for field, receipt in zip(part, receipts, strict=True) if receipt is None]
        return found


class Guest(threading.Thread):
    """Somebody who plays over HTTP meanwhile, and waits for each answer: (when, how long, status)."""

    def __init__(self, server: Running) -> None:
        super().__init__(daemon=True)
        self.heard: list[tuple[float, float, int]] = []
        self.over = threading.Event()
        self._server = server
        _, ana = server.call("POST", "/v1/players", {"name": "Ana"})
        self._token = f"Bearer {ana['token']}"
        _, opened = server.call("POST", "/v1/tables", {"game": "voleny"}, Authorization=self._token)
        self._table = opened["table"]

    def run(self) -> None:
        """Sit down and get up, twenty times a second at most."""
        for number in count():
            if self.over.wait(0.05):
                return
            began = time.monotonic()
            body = {"type": "sit" if number % 2 == 0 else "leave"}
            status, _ = self._server.call("POST", f"/v1/tables/{self._table}/commands", body, Prefer="wait=20",
                                          Authorization=self._token, Idempotency_Key=f"g{number}")
            self.heard.append((began, time.monotonic() - began, status))

    def p99(self, since: float, until: float) -> float:
        """Of the calls that began in between; what is still under way counts as never ending."""
        took = [took for began, took, _ in self.heard if since <= began < until]
        return statistics.quantiles(took, n=100, method="inclusive")[98] if len(took) > 1 else float("inf")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """All of it, with settings as in service."""
    with Running(tmp_path / "data", environment={"MARIAS_PARTITIONS": str(PARTITIONS)}) as running:
        yield running


def test_ten_times_too_much_costs_neither_commands_nor_for_long_time(server: Running) -> None:
    with connect(json.loads((server.data / "run.json").read_text())["redis_url"]) as redis:
        attach(redis, sender_of(server.data / "keys"))
        flood, guest = Flood(redis), Guest(server)
        guest.start()
        quiet = time.monotonic()
        time.sleep(2.0)
        before = guest.p99(quiet, time.monotonic())
        capacity = at_capacity(flood)
        began, offered = time.monotonic(), flood.accepted() + flood.refused
        goodput = overloaded(flood, capacity)
        ended = time.monotonic()
        offered = flood.accepted() + flood.refused - offered
        back = back_to(guest, ended, max(2 * before, 0.1))
        guest.over.set()
        await_decided(flood)
        lost = flood.lost()
    guest.join(30)
    print(
        f"capacity {capacity:,.0f}/s; offered {offered / (ended - began):,.0f}/s for {ended - began:.1f} s, of all"
        f" {flood.refused:,} refused; decided {goodput:,.0f}/s ({goodput / max(capacity, 1.0):.0%} of the capacity);"
        f" {flood.accepted():,} acknowledged, {len(lost)} lost; p99 over HTTP {before * 1000:.0f} ms before,"
        f" {guest.p99(began, ended) * 1000:.0f} ms meanwhile, as before after {back:.1f} s;"
        f" answers {sorted({status for *_, status in guest.heard})}"
    )
    assert lost == []
    assert flood.refused > 0, "the load was no overload"
    assert back < BACK_SECONDS_MAX
    assert goodput > 0
    assert {status for *_, status in guest.heard} <= {200, 202, 409, 429, 503}


def at_capacity(flood: Flood) -> float:
    """Commands decided a second with always some waiting and never many."""
    began, first = time.monotonic(), flood.decided()
    while time.monotonic() - began < SECONDS:
        if flood.accepted() - flood.decided() < OUTSTANDING:
            flood.send()
        else:
            time.sleep(0.001)
    return (flood.decided() - first) / (time.monotonic() - began)


def overloaded(flood: Flood, capacity: float) -> float:
    """Commands decided a second while TIMES as many are sent, or as many as this machine can send."""
    began, first, sent = time.monotonic(), flood.decided(), 0
    while (now := time.monotonic() - began) < SECONDS or (not flood.refused and now < REFUSED_SECONDS_MAX):
        if sent < TIMES * max(capacity, 1.0) * now:
            flood.send()
            sent += BATCH
        else:
            time.sleep(0.001)
    return (flood.decided() - first) / (time.monotonic() - began)


def back_to(guest: Guest, ended: float, seconds: float) -> float:
    """How long after the end the calls of a second were as quick again as before."""
    while time.monotonic() - ended < BACK_SECONDS_MAX:
        now = time.monotonic()
        time.sleep(1.0)
        if guest.p99(now, now + 1.0) <= seconds:
            return now - ended
    return BACK_SECONDS_MAX


def await_decided(flood: Flood) -> None:
    """Until all that was taken in is decided."""
    end = time.monotonic() + BACK_SECONDS_MAX
    while flood.decided() < flood.accepted():
        assert time.monotonic() < end, f"{flood.accepted() - flood.decided()} are not decided"
        time.sleep(0.05)

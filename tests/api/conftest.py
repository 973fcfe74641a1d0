"""An app over an imitated store, with a worker and a projector that act when the test lets them."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeRedis
from flask import Flask
from werkzeug.test import TestResponse

from services.api import create_app
from services.api.backend import EXTENSION
from services.config import Config
from services.intake import Submitted, Taken, submit
from services.pressure import Rates
from services.projections.subscription import Subscription
from services.records import answer
from services.store.feed import Feed
from services.store.keys import all_partitions
from services.store.wire import StoreUnavailable
from services.tokens import KeyRing
from services.worker.handle import Desk, draw
from services.worker.loop import Worker

PARTITIONS = 4


@dataclass
class House:
    """The whole way of a command in one thread. `open` is False: commands only queue until `work`."""

    redis: FakeRedis
    app: Flask
    ring: KeyRing
    feed: Feed
    worker: Worker
    projector: Subscription
    open: bool = True
    _keys: Iterator[int] = field(default_factory=itertools.count)

    def work(self) -> None:
        """Let the worker decide and the projector write all that is there."""
        while self._turn():
            pass
        self.feed.read(0)
        while self.projector.turn(None):
            pass

    def _turn(self) -> bool:
        """Was there something to do? On a slow machine leases may run out between two requests, or in one."""
        try:
            return self.worker.turn(0) > 0
        except StoreUnavailable:
            return True

    def call(self, method: str, path: str, *, token: str | None = None, **options: Any) -> TestResponse:
        """One request."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.app.test_client().open(path, method=method, headers=headers, **options)

    def guest(self, name: str) -> "Guest":
        """A new guest."""
        answer = self.call("POST", "/v1/players", json={"name": name})
        assert answer.status_code == 201, answer.text
        return Guest(self, answer.json["player"], answer.json["token"])

    def staff(self, role: str) -> "Guest":
        """Somebody with a token that an operator has made."""
        return Guest(self, role, self.ring.issue(role=role, sub=role, name=role))

    def next_key(self) -> str:
        """A fresh idempotency key."""
        return f"key-{next(self._keys)}"


@dataclass
class Guest:
    """Somebody with a token."""

    house: House
    id: str
    token: str

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.house.call("GET", path, token=self.token, headers=_dashed(headers))

    def post(self, path: str, body: object, **headers: str) -> TestResponse:
        return self.house.call("POST", path, token=self.token, json=body, headers=_dashed(headers))

    def open(self, **options: object) -> str:
        """The id of a new table."""
        answer = self.post("/v1/tables", {"game": "voleny"} | options)
        assert answer.status_code == 201, answer.text
        return str(answer.json["table"])

    def command(self, table: str, body: object, *, key: str | None = None, **headers: str) -> TestResponse:
        """A command whose outcome is waited for."""
        headers = {"Idempotency_Key": key or self.house.next_key(), "Prefer": "wait=5"} | headers
        return self.post(f"/v1/tables/{table}/commands", body, **headers)

    def view(self, table: str) -> dict[str, Any]:
        answer = self.get(f"/v1/tables/{table}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json)


def three(house: House) -> list[Guest]:
    """New guests: Ana, Bára and Cyril."""
    return [house.guest(name) for name in ("Ana", "Bára", "Cyril")]


def begun(trio: list[Guest]) -> str:
    """A new table at which these sit, ready: the first deal is dealt."""
    table = trio[0].open()
    for seat, guest in enumerate(trio):
        assert guest.command(table, {"type": "sit", "seat": seat}).status_code == 200
    all_ready(trio, table)
    trio[0].house.work()
    return table


def all_ready(trio: list[Guest], table: str) -> None:
    """All say that they are ready for the next deal."""
    for guest in trio:
        assert guest.command(table, {"type": "ready"}).status_code == 200


def play_deal(trio: list[Guest], table: str) -> None:
    """Play the running deal to its end, always by the first move that is legal."""
    deal = trio[0].view(table)["deal"]
    while True:
        view = trio[0].view(table)
        if view["phase"] == "lobby" or view["deal"] != deal:
            return
        actor = trio[view["to_act"][0]]
        assert actor.command(table, actor.view(table)["legal"][0]).status_code == 200


def _dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def built(folder: Path) -> Iterator[House]:
    """An empty house, at work."""
    redis = FakeRedis(protocol=2)
    config = Config(data=folder, partitions=PARTITIONS, allowed_origins="https://table.example")
    feed = Feed(redis, PARTITIONS)
    partitions = all_partitions(PARTITIONS)
    ring = KeyRing(config.keys)
    app = create_app(redis, config, feed=feed, ring=ring)
    worker = Worker(Desk(redis, lambda: draw(lambda key: "sealed")), "test", partitions)
    house = House(redis, app, ring, feed, worker, Subscription(redis, partitions))

    rates = Rates(config.player_rate)

    def submit_and_work(submitted: Submitted) -> Taken:
        taken = submit(redis, submitted, rates)
        if house.open:
            house.work()
        return taken

    app.extensions[EXTENSION] = replace(
        app.extensions[EXTENSION], intake=submit_and_work, confide=partial(answer, redis, ring, partitions)
    )
    feed.read(0)
    house.projector.begin()
    house.work()
    yield house
    feed.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house of the test's own."""
    with built(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house for tests that change nothing which others of the module look at."""
    with built(tmp_path_factory.mktemp("street")) as made:
        yield made


@pytest.fixture
def trio(house: House) -> list[Guest]:
    """Ana, Bára and Cyril."""
    return three(house)


@pytest.fixture(scope="module")
def neighbours(street: House) -> list[Guest]:
    """Ana, Bára and Cyril in the street."""
    return three(street)


@pytest.fixture
def table(trio: list[Guest]) -> str:
    """A table at which Ana, Bára and Cyril sit, ready: the first deal is dealt."""
    return begun(trio)

"""A house whose every byte depends on nothing but the deck and what is sent: the same deal told to one reader.

Ids, tokens, keys and the deck are given; the store's clock stands still but for one millisecond per command. Push is
served over socket pairs by the objects that a front process makes, the API by the application itself.
"""

import base64
import json
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import gevent
from fakeredis import FakeRedis
from fakeredis._socket import _base
from fakeredis.commands_mixins import server_mixin
from fakeredis.model import _stream
from websockets.frames import Frame, Opcode

from engine.errors import RuleViolation
from engine.fairness import commitments
from engine.table import Table, decide
from schemas.moves import dump_move
from schemas.table import Draw
from services.api import create_app
from services.api.backend import EXTENSION
from services.config import Config
from services.http.server import TAKE_OVER
from services.intake import Submitted, submit
from services.projections.subscription import Subscription
from services.push.server import Front
from services.push.service import Service
from services.store import channels
from services.store.feed import Feed
from services.store.keys import all_partitions
from services.tokens import KeyRing
from services.worker.handle import Desk
from services.worker.loop import Worker
from tests.api.conftest import PARTITIONS, House
from tests.cast import ANA, CAST, SEATED, Player
from tests.table.fairly import nonce_of
from tests.table.house import NOON, after, play
from tests.table.test_two_worlds import SEED

Heard = list[tuple[str, bytes]]
"""What one reader was sent, in order: where it came from, and its bytes."""

Ask = tuple[int, dict[str, Any]]
"""After so many moves the reader sends this command, which the rules refuse."""

DATE = re.compile(rb"Date: [^\r]*\r\n")
"""The one header that is left out: the handshake takes it from the clock of the machine."""

HANDSHAKE_BYTES = 250
"""Less than the answer 101 and the first version together, more than the answer alone."""

STREAMS = ("stream?after=0", "stream?after=0&views=patch", "socket?views=patch", "socket")


COMMITTED = {"nonce_commitment": commitments.commitment_to(nonce_of(ANA)).hex()}


class Deal(NamedTuple):
    """One world: what is dealt, what is played, and what the reader asks beside."""

    deck: tuple[int, ...]
    moves: Sequence[Any]
    asks: Sequence[Ask]
    watched: bool = False
    """Does a player shuffle along, so that everything is opened as it falls?"""


class World:
    """A house with a clock of its own. `deck` is what is dealt next."""

    deck: tuple[int, ...] = ()
    telling: "World"
    """The one that is told now, for leaks that a test plants."""

    def __init__(self, folder: Path, now: list[int]) -> None:
        self._now = now
        redis = FakeRedis(protocol=2)
        config = Config(data=folder, partitions=PARTITIONS, player_rate=0)
        partitions = all_partitions(PARTITIONS)
        self.ring, self.feed = KeyRing(config.keys), Feed(redis, PARTITIONS)
        app = create_app(redis, config, feed=self.feed, ring=self.ring)
        worker = Worker(Desk(redis, lambda: Draw(2, self.deck, "sealed", SEED)), "test", partitions, self.seconds)
        self.house = House(redis, app, self.ring, self.feed, worker, Subscription(redis, partitions))
        service = Service(redis, self.feed, self.ring, config)
        self._front = Front(app.wsgi_app, service)
        self._intake = gevent.spawn(service.intake.run)
        backend = app.extensions[EXTENSION]
        app.extensions[EXTENSION] = replace(backend, intake=self.take_in)
        self.feed.read(0)
        self.house.projector.begin()
        for _ in range(10):  # Until it owns what it is to work on.
            self.house.work()

    def seconds(self) -> float:
        """The same clock in seconds."""
        return self._now[0] / 1000

    def take_in(self, submitted: Submitted) -> Any:
        """A command in its own millisecond, decided before its sender is answered."""
        self._now[0] += 1
        taken = submit(self.house.redis, submitted)
        self.house.work()
        return taken

    def dial(self, token: str, table: str, what: str) -> socket.socket:
        """A stream or socket of the reader, from the first version on."""
        ours, theirs = socket.socketpair()
        route, _, query = what.partition("?")
        environ = {
            "PATH_INFO": f"/v1/tables/{table}/{route}", "QUERY_STRING": query, "REQUEST_METHOD": "GET",
            "HTTP_AUTHORIZATION": f"Bearer {token}", "HTTP_HOST": "test",
            TAKE_OVER: lambda take: gevent.spawn(take, theirs.detach()),
        }
        if route == "socket":
            environ |= {"HTTP_UPGRADE": "websocket", "HTTP_CONNECTION": "Upgrade", "HTTP_SEC_WEBSOCKET_VERSION": "13",
                        "HTTP_SEC_WEBSOCKET_KEY": "dGhlIHNhbXBsZSBub25jZQ=="}
            say(ours, {"resume": 0})
        self._front(environ, lambda *refused: theirs.close())
        ours.setblocking(False)
        self.await_more(ours, 1 if route == "stream" else HANDSHAKE_BYTES)
        return ours

    def await_more(self, sock: socket.socket, least: int = 1) -> None:
        """Until so many bytes have come: a moment, or the test fails."""
        for _ in range(10_000):
            gevent.sleep(0.0002)
            self.house.work()
            try:
                if len(sock.recv(1 << 16, socket.MSG_PEEK)) >= least:
                    return
            except BlockingIOError:
                continue
        raise TimeoutError("nothing was said")

    def now(self) -> int:
        """Milliseconds since the epoch, by the clock that both worlds share."""
        return self._now[0]

    def set_clock(self, at: int) -> None:
        """Set the clock of both."""
        self._now[0] = at

    def close(self) -> None:
        """Stop what runs beside it."""
        self._intake.kill()
        self.feed.close()


def say(sock: socket.socket, message: dict[str, Any]) -> None:
    """One WebSocket message from the client, masked by zeros: the same bytes each time."""
    sock.sendall(Frame(Opcode.TEXT, json.dumps(message).encode()).serialize(mask=True))


HASH = re.compile(rb'"hash":"[A-Za-z0-9_-]{43}"')
SIGNED = re.compile(rb'"signed":"([A-Za-z0-9_-]+)[.]([A-Za-z0-9_-]+)[.][A-Za-z0-9_-]{86}"')


def without_hashes(data: bytes) -> bytes:
    """What is sent, but for the hashes of the table's past, which must differ, and for signatures and their seconds.

    What is signed is laid open. A hash tells nothing of what is hashed as long as somebody who knows all but a few
    cards cannot try them: each entry bears the mark of its command, a digest with a key that no player has.
    """
    laid_open = SIGNED.sub(lambda found: b'"signed":' + b"".join(map(_json_of, found.groups())), data)
    return HASH.sub(b'"hash":"#"', re.sub(rb'"at":[0-9]{10}(?=[,}])', b'"at":0', laid_open))


def _json_of(part: bytes) -> bytes:
    return base64.urlsafe_b64decode(part + b"==")


def drain(sock: socket.socket) -> bytes:
    """All that has come."""
    found = b""
    for _ in range(3):
        gevent.sleep(0)
    while True:
        try:
            data = sock.recv(1 << 20)
        except BlockingIOError:
            return without_hashes(found)
        if not data:
            return without_hashes(found) + b"<closed>"
        found += DATE.sub(b"", data)


@contextmanager
def worlds(folder: Path, monkeypatch: Any, count: int) -> Iterator[list[World]]:
    """Houses that trust the same tokens and live through the same milliseconds."""
    now = [NOON]
    clock = SimpleNamespace(time=lambda: now[0] / 1000)
    for module in (server_mixin, _base, _stream):  # What the store says, by what keys expire, the ids of commands.
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(commitments, "permutation", lambda *_: tuple(range(32)))  # The decks are given.
    monkeypatch.setattr(channels, "QUIET_SECONDS_MAX", 1e9)  # One world is silent while the other is told.
    made = [World(folder, now) for _ in range(count)]
    yield made
    for world in made:
        world.close()


class Telling:
    """One deal in one world, as `reader` hears of it."""

    def __init__(self, world: World, tokens: dict[str, str], table: str, reader: Player) -> None:
        self._world, self._tokens, self._table, self._reader = world, tokens, table, reader
        self._path = f"/v1/tables/{table}"
        self._number = 0
        self.heard: Heard = []

    def tell(self, deal: Deal) -> Heard:
        """From the opened table to the last of the moves."""
        world = self._world
        world.deck, World.telling = deal.deck, world
        opening = {"type": "open", "game": "voleny", "code": ""}
        world.take_in(Submitted(self._table, SEATED[0].id, "Ana", "open", opening))
        for seat, player in enumerate(SEATED):
            self._command(player, {"type": "sit", "seat": seat}, "sit")
        with ExitStack() as lines:
            ears = {what: lines.enter_context(self._dial(what)) for what in STREAMS}
            for player in SEATED:
                commits = deal.watched and player == ANA
                self._command(player, {"type": "ready", **(COMMITTED if commits else {})}, "ready")
            world.house.work()
            if deal.watched:
                self._look("committed", ears)
                self._command(ANA, {"type": "reveal", "nonce": nonce_of(ANA).hex()}, "reveal")
            self._look("dealt", ears)
            for place, move in enumerate(deal.moves, 1):
                self._command(SEATED[move.seat], dump_move(move), f"move {place}")
                self._look(f"move {place}", ears)
                for _, body in (ask for ask in deal.asks if ask[0] == place):
                    self._ask(place, body, ears["socket"])
            self._look_back()
        gevent.sleep(0)
        return self.heard

    def _dial(self, what: str) -> socket.socket:
        return self._world.dial(self._tokens[self._reader.id], self._table, what)

    def _call(self, label: str, method: str, path: str, player: Player | None = None, **options: Any) -> None:
        player = player or self._reader
        headers = {"X-Request-Id": "r", **options.pop("headers", {})}
        answer = self._world.house.call(method, path, token=self._tokens[player.id], headers=headers, **options)
        if player == self._reader:
            said = "\r\n".join([answer.status, *(f"{name}: {value}" for name, value in answer.headers)])
            said_bytes = said.encode() + b"\r\n\r\n" + answer.data
            self.heard.append((f"{label}: {method} {path}", without_hashes(said_bytes)))

    def _command(self, player: Player, body: dict[str, Any], label: str) -> None:
        self._number += 1
        headers = {"Idempotency-Key": f"k{self._number}", "Prefer": "wait=5"}
        self._call(f"{label} {body}", "POST", f"{self._path}/commands", player, json=body, headers=headers)
        if player == self._reader:
            self._call(label, "GET", f"{self._path}/receipts/k{self._number}")

    def _look(self, label: str, ears: dict[str, socket.socket]) -> None:
        """The table, what happened last, and what was pushed."""
        self._call(label, "GET", self._path)
        version = int(json.loads(self.heard[-1][1].partition(b"\r\n\r\n")[2])["version"])
        self._call(label, "GET", self._path, headers={"If-None-Match": f'"{version}"'})
        self._call(label, "GET", f"{self._path}/events?after={version - 2}")
        self.heard += [(f"{label}: {what}", drain(sock)) for what, sock in ears.items()]

    def _ask(self, place: int, body: dict[str, Any], sock: socket.socket) -> None:
        """A command that is refused: over HTTP with its receipt, over the socket."""
        self._command(self._reader, body, f"refused after {place}")
        say(sock, {"command": body, "id": f"s{self._number}"})
        self._world.await_more(sock)
        self.heard.append((f"refused after {place}: {body} by socket", drain(sock)))

    def _look_back(self) -> None:
        for path in (f"{self._path}/events?after=0&limit=500", f"{self._path}/deals/1", f"{self._path}/deals/2",
                     f"{self._path}/bank", "/v1/tables", "/v1/players/me/ledger",
                     f"/v1/players/{SEATED[0].id}/ledger", f"{self._path}/receipts/none"):
            self._call("at the end", "GET", path)
        with self._dial("socket") as late:  # Who comes late is sent the same, read from the store.
            self.heard.append(("at the end: a new socket", drain(late)))


def tokens_of(world: World) -> dict[str, str]:
    """A token for each of the cast."""
    return {player.id: world.ring.issue(role="player", sub=player.id, name=player.name) for player in CAST}


def refused_asks(tables: Sequence[Table], seat: int | None, bodies: Sequence[tuple[Any, dict[str, Any]]],
                 place: int) -> list[Ask]:
    """Those of `bodies` that the rules refuse after `place` moves; all of them from somebody without a seat."""
    return [(place, body) for move, body in bodies if seat is None or move is None or _refuses(tables[place], move)]


def _refuses(table: Table, move: Any) -> bool:
    try:
        decide(table, play(move))
    except RuleViolation:
        return True
    return False


def tables_of(start: Table, moves: Sequence[Any]) -> list[Table]:
    """The table before the first move and after each. Raises RuleViolation."""
    found = [start]
    for move in moves:
        found.append(after(found[-1], play(move)))
    return found

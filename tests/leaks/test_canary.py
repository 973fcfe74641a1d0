"""A whole server at its most talkative: no card in a log, a metric or an operator's answer, none to a wrong caller.

Tables of three people (HTTP, streams, sockets) and of one with two bots are played, enough of them to have much to
judge however short the deals are; a spectator, a stranger without a token and an operator ask for everything that they
may and may not read.
"""

import json
import os
import random
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from engine.notation import CODES
from tests.system.client import Client, Refused, Stream, register
from tests.system.leak import CARD, leaks
from tests.system.program import ROOT, Serve
from tests.system.test_three_players import feed_of, moves_by_deal, views_of

DEALS = int(os.environ.get("MARIAS_TEST_CANARY_DEALS", "3"))
WORD = re.compile(rb"(?<![\w-])[789TJQKA][hdcs](?![\w-])")  # Not within an id: its partition is two hexadecimal digits.
REFUSED_PART = 0.3  # so many of the turns somebody sends a card that he may not play

pytestmark = pytest.mark.server


@dataclass
class Ear(Client):
    """A client who keeps headers and refusals as well: `refusals` are (table, deal, version that he knew, bytes)."""

    heads: list[bytes] = field(default_factory=list)
    refusals: list[tuple[str, int, int, bytes]] = field(default_factory=list)

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, dict]:
        """As any client's."""
        status, found, answer = super().call(method, path, body, **headers)
        self.heads.append(json.dumps(found).encode())
        return status, found, answer


class Socket(Thread):
    """Keeps every frame of a table's WebSocket: (version, bytes) of those that speak of one."""

    def __init__(self, client: Client, table: str) -> None:
        super().__init__(daemon=True)
        self.frames: list[tuple[int, bytes]] = []
        self._open = ExitStack()
        self._connection = self._open.enter_context(connect(
            f"ws://127.0.0.1:{client.port}/v1/tables/{table}/socket",
            additional_headers={"Authorization": f"Bearer {client.token}"}, subprotocols=["marias.v1"],
        ))
        self._connection.send('{"resume":0}')
        self.start()

    def run(self) -> None:
        try:
            for text in self._connection:
                message = json.loads(text)
                self.frames.append((message.get("version", 0), str(text).encode()))
        except ConnectionClosed:
            pass

    def stop(self) -> None:
        """Hang up."""
        self._open.close()


@dataclass
class Played:
    """A table after its deals: readers by place (the spectator last), what each heard, and the whole records.
    `replays` are (place, deal, moments), those of running deals too."""

    table: str
    readers: dict[int | None, Ear]
    streams: dict[int | None, Stream]
    sockets: dict[int | None, Socket]
    records: list[dict]
    replays: list[tuple[int | None, int, list[dict]]]


@dataclass
class Town:
    """All that was said while the tables were played."""

    tables: list[Played]
    unknowing: list[tuple[str, bytes]]  # what was told to who may know no card: where, and the bytes
    logs: dict[str, bytes]


def reader(port: int, name: str) -> Ear:
    return Ear(port, register(port, name).token)


def play(port: int, auditor: Client, spectator: Ear, bots: list[int], dice: random.Random) -> Played:
    """Open a table, play its deals in one thread, and read the records."""
    seats = [seat for seat in range(3) if seat not in bots]
    people = {seat: reader(port, f"Player {seat}") for seat in seats}
    opener = people[seats[0]]
    table = opener.persist("POST", "/v1/tables", {"game": "voleny", "deals": DEALS, "bots": bots})["table"]
    for seat, player in people.items():
        player.command(table, {"type": "sit", "seat": seat})
    readers: dict[int | None, Ear] = {**people, None: spectator}
    streams = {place: Stream(each, table) for place, each in readers.items()}
    sockets = {place: Socket(each, table) for place, each in readers.items()}
    replays: list[tuple[int | None, int, list[dict]]] = []
    end = time.monotonic() + 300
    while (view := opener.view(table))["phase"] != "over" and view["deal"] <= DEALS:
        assert time.monotonic() < end, view
        acted = [take_turn(people[seat], table, dice) for seat in seats]
        if not any(acted):
            time.sleep(0.02)
        if dice.random() < 0.2:
            spectator.view(table)
            refuse(spectator, table, view, dice)
            if view["phase"] not in ("lobby", "over"):
                replays += [(place, view["deal"], replay(each, table, view["deal"])) for place, each in readers.items()]
    for each in streams.values():
        while not each.messages or each.messages[-1][0] < view["version"]:
            assert time.monotonic() < end, (each.versions()[-3:], view["version"])
            time.sleep(0.05)
    records = [auditor.persist("GET", f"/v1/tables/{table}/deals/{n}") for n in range(1, DEALS + 1)]
    replays += [(place, n, replay(each, table, n)) for place, each in readers.items() for n in range(1, DEALS + 1)]
    return Played(table, readers, streams, sockets, records, replays)


def replay(client: Ear, table: str, deal: int) -> list[dict]:
    """The moments of a deal as the client is shown them; the eyes of others are refused to him."""
    path = f"/v1/tables/{table}/deals/{deal}/replay"
    told = client.persist("GET", path)
    for seat in range(3):
        status, _, answer = client.call("GET", f"{path}?seat={seat}")
        assert status in (200, 403), answer
        assert (status == 200) == (seat == told["seat"]), (seat, told["seat"])
    return list(told["moments"])


def take_turn(player: Ear, table: str, dice: random.Random) -> bool:
    """Do what is to be done, or sometimes what may not be; was there anything to do?"""
    view = player.view(table)
    if view["phase"] == "over":
        return False
    if view["phase"] == "lobby":
        if not view["ready"][view["seat"]]:
            player.command(table, {"type": "ready"})
            return True
    elif view["legal"]:
        player.command(table, dice.choice(view["legal"]))
        return True
    elif dice.random() < REFUSED_PART:
        refuse(player, table, view, dice)
    return False


def refuse(player: Ear, table: str, view: dict, dice: random.Random) -> None:
    """Send a card at the wrong time, and keep the answer without the card that was sent."""
    card = dice.choice(CODES)
    try:
        player.command(table, {"type": "play", "card": card})
    except Refused:
        raw = player.heard[-1][1].replace(b'"%b"' % card.encode(), b'"sent"')
        player.refusals.append((table, view["deal"], view["version"], raw))


def ask_around(port: int, table: str, operator: Ear) -> list[tuple[str, bytes]]:
    """What who may know no card is told when he asks for all there is."""
    stranger, heard = Ear(port), []
    paths = ["", "/events", "/stream", "/socket", "/deals/1", "/deals/1/proof", "/deals/1/replay",
             "/deals/1/replay?seat=0", "/bank", "/receipts/k1"]
    for who, asks in (("stranger", stranger), ("operator", operator)):
        for path in [*(f"/v1/tables/{table}{each}" for each in paths), "/v1/operations", "/v1/tables",
                     "/v1/operations/dead-letters", "/v1/health/ready", "/v1/nothing", "/v1/players/me/ledger"]:
            asks.call("GET", path)
        asks.call("POST", f"/v1/tables/{table}/commands", {"type": "play"}, Idempotency_Key="x")
        heard += [(f"{who}: {path}", raw) for path, raw in asks.heard]
        heard += [(f"{who}: a header", raw) for raw in asks.heads]
    return heard


def metrics(port: int, token: str) -> bytes:
    """The page for Prometheus, which is no JSON."""
    import urllib.request

    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return bytes(answer.read()) + str(answer.headers).encode()


def logs_of(serve: Serve) -> dict[str, bytes]:
    """What all roles have printed, and the logs in the data folder."""
    files = [Path(serve.log.name), *serve.data.rglob("*.log")]
    return {file.name: file.read_bytes() for file in files}


def told_by(name: str, raw: bytes) -> list[str]:
    """The cards in bytes where none should be."""
    return [f"{name}: {found.group().decode()} in {raw[max(0, found.start() - 60) : found.end() + 20]!r}"
            for pattern in (CARD, WORD) for found in pattern.finditer(raw)]


@pytest.fixture(scope="module")
def town(tmp_path_factory) -> Town:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARIAS_LOG_LEVEL", "debug")
        serve = Serve(tmp_path_factory.mktemp("canary") / "data").start()
    dice = random.Random(5)
    try:
        auditor, operator = Client(serve.port, serve.token("auditor")), Ear(serve.port, serve.token("operator"))
        spectator = reader(serve.port, "Dana")
        tables = [play(serve.port, auditor, spectator, bots, dice) for bots in ([], [1, 2]) * 2]
        unknowing = [each for played in tables for each in ask_around(serve.port, played.table, operator)]
        unknowing.append(("metrics", metrics(serve.port, operator.token)))
        for played in tables:
            for line in (*played.streams.values(), *played.sockets.values()):
                line.stop()
    finally:
        serve.stop()
    return Town(tables, unknowing, logs_of(serve))


def test_no_log_metric_or_answer_to_who_may_know_none_names_a_card(town):
    assert sum(map(len, town.logs.values())) > 1_000, "the logs are to be at level debug"
    said = [*town.logs.items(), *town.unknowing]
    assert [found for name, raw in said for found in told_by(name, raw)] == []


def test_no_reader_is_sent_a_card_that_he_may_not_know_then(town):
    problems, cards = [], 0
    for played in town.tables:
        made = moves_by_deal(played.streams[None])
        for place, client in played.readers.items():
            for number, record in enumerate(played.records, start=1):
                heard = heard_by(played, place, client, number, made)
                cards += sum(len(CARD.findall(raw)) for _, raw in heard)
                problems += leaks(record, made[number], heard, place)
            assert not [raw for raw in client.heads if CARD.search(raw) or WORD.search(raw)]
    assert problems == []
    assert cards > 1_000 * DEALS, "the referee had hardly anything to judge"


def test_no_replay_shows_a_card_before_its_reader_could_know_it(town):
    problems, shown, running = [], 0, 0
    for played in town.tables:
        made = moves_by_deal(played.streams[None])
        for place, number, moments in played.replays:
            before, told = [], []
            for moment in moments:  # What leads to a deal shows the last trick of the one before.
                leads = moment["view"]["phase"] == "lobby" and moment["version"] < made[number][0]
                (before if leads else told).append((moment["version"], json.dumps(moment).encode()))
            shown += sum(len(CARD.findall(raw)) for _, raw in told)
            running += not any(event["type"] == "deal_ended" for event in moments[-1]["events"])
            problems += leaks(played.records[number - 1], made[number], told, place)
            if number > 1:
                problems += leaks(played.records[number - 2], made[number - 1], before, place)
    assert problems == []
    assert shown > 1_000 * DEALS, "the referee had hardly anything to judge"
    assert running, "no running deal was replayed"


def test_a_replay_with_the_eyes_of_another_would_be_found(town):
    played = town.tables[0]
    made = moves_by_deal(played.streams[None])
    foreign = next(moments for place, number, moments in played.replays if (place, number) == (1, 1))
    told = [(moment["version"], json.dumps(moment).encode()) for moment in foreign]
    assert leaks(played.records[0], made[1], told, 0)


def heard_by(played: Played, place: int | None, client: Ear, number: int,
             made: dict[int, list[int]]) -> list[tuple[int, bytes]]:
    """(version, bytes) of all that a reader was sent of a deal: views, stream, socket, refusals."""
    feed = feed_of(played.streams[place], number)
    first, last = feed[0][0], feed[-1][0]
    frames = [(version, raw) for version, raw in played.sockets[place].frames if first <= version <= last]
    refusals = [(version, raw) for table, deal, version, raw in client.refusals
                if (table, deal) == (played.table, number)]
    assert frames, "the socket said nothing"
    return [*views_of(client, played.table, number), *feed, *frames, *refusals]


def test_refusals_were_among_what_was_judged(town):
    assert sum(len(client.refusals) for played in town.tables for client in played.readers.values()) > 5 * DEALS


CHATTERBOX = '''
"""A worker that says in its log what it deals."""
import sys

if "worker" in sys.orig_argv:
    import logging

    from engine.notation import CODES
    from services.worker import handle

    applied = handle.applied

    def leaky(held, command, place, made):
        logging.getLogger("services.worker").warning("the last card is %s", CODES[handle.secrets.randbelow(32)])
        return applied(held, command, place, made)

    handle.applied = leaky
'''


def test_a_card_in_a_log_would_be_found(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(CHATTERBOX)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
        serve = Serve(tmp_path / "data").start()
    try:
        reader(serve.port, "Ana").persist("POST", "/v1/tables", {"game": "voleny"})
    finally:
        serve.stop()
    assert any(told_by(name, raw) for name, raw in logs_of(serve).items())


def test_a_card_told_to_the_wrong_seat_would_be_found(town):
    played = town.tables[0]
    made = moves_by_deal(played.streams[None])
    foreign = feed_of(played.streams[0], 1)
    assert leaks(played.records[0], made[1], foreign, 0) == []
    assert leaks(played.records[0], made[1], foreign, 1)

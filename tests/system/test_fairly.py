"""Three players shuffle along, over HTTP and a WebSocket, and check what they were dealt with one file of Python."""

import hashlib
import json
import random
import secrets
import subprocess
import sys
import time
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.system.client import Client, Refused, register
from tests.system.program import ROOT, Serve

pytestmark = pytest.mark.server

VERIFY = ROOT / "deploy" / "verify_deal.py"


def commitment(nonce: bytes) -> str:
    return hashlib.sha256(b"marias fairness 1 nonce" + nonce).hexdigest()


def over_socket(client: Client, table: str, body: dict) -> dict:
    """One command over a socket of its own, and its receipt."""
    with connect(
        f"ws://127.0.0.1:{client.port}/v1/tables/{table}/socket",
        additional_headers={"Authorization": f"Bearer {client.token}"}, subprotocols=["marias.v1"],
    ) as line:
        line.send(json.dumps({"id": secrets.token_hex(8), "command": body}))
        while True:
            receipt = json.loads(line.recv(timeout=60)).get("receipt")
            if receipt and receipt["status"] != "queued":
                return receipt


def play(players: list[Client], table: str) -> None:
    """Play the running deal to its end."""
    dice, until = random.Random(1), time.monotonic() + 90
    while (view := players[0].view(table))["phase"] != "lobby" and time.monotonic() < until:
        for player in players:
            if legal := player.view(table)["legal"]:
                player.command(table, dice.choice(legal))
    assert view["phase"] == "lobby"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    serve = Serve(tmp_path_factory.mktemp("fairly") / "data")
    try:
        yield serve.start()
    finally:
        serve.stop()


def sat_down(serve: Serve) -> tuple[str, list[Client]]:
    players = [register(serve.port, name) for name in ("Ana", "Bára", "Cyril")]
    table = players[0].persist("POST", "/v1/tables", {"game": "voleny"})["table"]
    for seat, player in enumerate(players):
        player.command(table, {"type": "sit", "seat": seat})
    return table, players


def awaiting(client: Client, table: str, seats: list[int]) -> dict:
    """The view once just these seats are awaited."""
    until = time.monotonic() + 60
    while True:
        view = client.view(table)
        if view.get("fairness", {}).get("awaiting") == seats:
            return view
        assert time.monotonic() < until, view
        time.sleep(0.02)


def test_three_players_shuffle_along_and_check_their_deal(served, tmp_path):
    table, players = sat_down(served)
    nonces = [secrets.token_bytes(32) for _ in players]
    for player, nonce in zip(players[:2], nonces, strict=False):
        player.command(table, {"type": "ready", "nonce_commitment": commitment(nonce)})
    said = over_socket(players[2], table, {"type": "ready", "nonce_commitment": commitment(nonces[2])})
    assert said["status"] == "applied"
    view = awaiting(players[0], table, [0, 1, 2])
    assert (view["phase"], view["legal"], view["fairness"]["commitments"]) == (
        "lobby", [], [commitment(nonce) for nonce in nonces])
    with pytest.raises(Refused) as refused:
        players[0].command(table, {"type": "reveal", "nonce": nonces[1].hex()})
    assert refused.value.code == "commitment_mismatch"
    players[0].command(table, {"type": "reveal", "nonce": nonces[0].hex()})
    assert over_socket(players[2], table, {"type": "reveal", "nonce": nonces[2].hex()})["status"] == "applied"
    served.kill_role(r"services\.cli worker")  # What is secret must be in the events.
    players[1].command(table, {"type": "reveal", "nonce": nonces[1].hex()})
    assert players[0].view(table)["fairness"] == {"deal": 1, "root": view["fairness"]["root"]}
    play(players, table)

    files = []
    for seat, player in enumerate([*players, register(served.port, "Dana")]):
        proof = player.persist("GET", f"/v1/tables/{table}/deals/1/proof")
        assert proof["seat"] == (seat if seat < 3 else None)
        assert (proof["finished"], proof["nonces"]) == (True, [nonce.hex() for nonce in nonces])
        assert proof["root"] == view["fairness"]["root"]
        file = tmp_path / f"{seat}.json"
        file.write_bytes(player.heard[-1][1])
        files.append(file)
    done = run(VERIFY, *files[:3])
    assert (done.returncode, done.stderr) == (0, "")
    assert "nonces of seats 0, 1, 2 came from its player, its player, its player" in done.stdout
    assert "All 32 cards were opened, each once." in done.stdout
    assert run(VERIFY, files[3]).returncode == 0
    spoilt = json.loads(files[0].read_text())
    spoilt["dealt"][5]["salt"] = "0" * 32
    files[0].write_text(json.dumps(spoilt))
    assert "UNFAIR: dealt[5].salt" in run(VERIFY, files[0]).stderr


def test_an_auditor_checks_the_deal_from_its_key_on(served, tmp_path):
    table, players = sat_down(served)
    nonce = secrets.token_bytes(32)
    players[1].command(table, {"type": "ready", "nonce_commitment": commitment(nonce)})
    for player in (players[0], players[2]):
        player.command(table, {"type": "ready"})
    awaiting(players[1], table, [1])
    players[1].command(table, {"type": "reveal", "nonce": nonce.hex()})
    play(players, table)
    auditor = Client(served.port, served.token("auditor"))
    auditor.persist("GET", f"/v1/tables/{table}/deals/1/proof")
    file = tmp_path / "auditor.json"
    file.write_bytes(auditor.heard[-1][1])
    told = run("-m", "services.cli", "verify", file, "--keys", served.data / "keys", "--json")
    found = json.loads(told.stdout)
    assert (told.returncode, found["ok"], found["whole"]) == (0, True, True), told
    assert found["proofs"][0]["nonces"] == ["server", "player", "server"]


def test_clients_that_send_no_nonce_see_no_further_step(served):
    table, players = sat_down(served)
    for player in players:
        player.command(table, {"type": "ready"})
    until = time.monotonic() + 60
    while (view := players[0].view(table))["phase"] == "lobby":
        assert "awaiting" not in view.get("fairness", {})
        assert time.monotonic() < until
        time.sleep(0.02)
    events = players[0].persist("GET", f"/v1/tables/{table}/events?after={view['version'] - 1}")["events"]
    assert [event["type"] for event in events[0]["events"]] == [
        "deal_committed", "nonces_joined", "deal_started", "dealt"]


def run(*command: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *map(str, command)], check=False, capture_output=True, text=True, timeout=120, cwd=Path(ROOT))

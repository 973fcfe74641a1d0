"""The whole server: deals are logged, heads outlive kills, and a store that was lost is made again with its log."""

import os
import re
import shutil
import signal

import pytest

from engine import merkle
from services.receipts import read, signed
from services.signing import Signer
from services.store import chain
from tests.program.running import Running, marias, until

pytestmark = [pytest.mark.server, pytest.mark.slow]

DEALS = 3


def head(server, bearer, size):
    """A head of so many deals, as soon as there is one."""
    def asked():
        status, told = server.call("GET", "/v1/log/head?now=true", **bearer)
        return told if status == 200 and told["size"] >= size else None

    return until(asked)


def test_a_log_outlives_kills_of_its_keeper_and_the_loss_of_the_store(tmp_path):
    data = tmp_path / "data"
    with Running(data) as server:
        _, player = server.call("POST", "/v1/players", {"name": "Ana"})
        bearer = {"Authorization": f"Bearer {player['token']}"}
        opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": DEALS}
        _, opened = server.call("POST", "/v1/tables", opening, **bearer)
        table = opened["table"]
        first = head(server, bearer, 1)
        os.kill(server.children()["projector"], signal.SIGKILL)
        until(lambda: server.call("GET", f"/v1/tables/{table}", **bearer)[1]["phase"] == "over")
        deals = server.call("GET", f"/v1/tables/{table}", **bearer)[1]["deal"]
        assert deals in (DEALS, DEALS + 3)  # A shared first place makes three more.
        last = head(server, bearer, deals)
        assert last["size"] == deals
        _, grew = server.call("GET", f"/v1/log/consistency?first={first['size']}&second={deals}", **bearer)
        path = [chain.digest(each) for each in grew["path"]]
        roots = chain.digest(first["root"]), chain.digest(last["root"])
        assert merkle.verify_consistency(first["size"], deals, path, *roots)
        before = [server.ask("GET", f"/v1/log/inclusion?table={table}&deal={deal}", **bearer)
                  for deal in range(1, deals + 1)]
        assert [status for status, _ in before] == [200] * deals
        until(lambda: len(list((data / "archive").rglob("*.jsonl.zst"))) == deals)
    assert marias(data, "log", "check").stdout.endswith(f" of {deals} deals whole in {data / 'heads.jsonl'}\n")

    shutil.rmtree(data / "store")
    told = marias(data, "archive", "restore")
    assert f"{deals} deals in the log again" in told.stdout, told.stderr
    with Running(data) as server:
        assert head(server, bearer, deals) == last
        assert before == [server.ask("GET", f"/v1/log/inclusion?table={table}&deal={deal}", **bearer)
                          for deal in range(1, deals + 1)]


def test_a_receipt_is_held_against_the_events(tmp_path):
    data = tmp_path / "data"
    with Running(data) as server:
        _, player = server.call("POST", "/v1/players", {"name": "Ana"})
        bearer = {"Authorization": f"Bearer {player['token']}"}
        _, opened = server.call("POST", "/v1/tables", {"game": "voleny"}, **bearer)
        path = f"/v1/tables/{opened['table']}"
        server.call("POST", f"{path}/commands", {"type": "sit"}, **bearer, **{"Idempotency-Key": "k"})
        asked = f"{path}/receipts/k"
        told = until(lambda: (found := server.call("GET", asked, **bearer)[1])["status"] != "queued" and found)
        held = marias(data, "log", "receipt", told["signed"])
        assert held.stdout == f"1: {opened['table']} version 2: applied, as the events have it\n", held.stderr

        signer = Signer(data / "keys" / "receipts")
        said = read(signer.find, told["signed"])
        others = [said._replace(hash="A" * 43), said._replace(version=9), said._replace(key="other")]
        statements = [told["signed"], *(signed(signer, each) for each in others), told["signed"][:-9]]
        denied = marias(data, "log", "receipt", *statements)
        assert denied.returncode == 1
        fields = ["applied, as", "2, hash:", "9, version:", "2, key:", "DENIED: It was not signed"]
        for line, words in zip(denied.stdout.splitlines(), fields, strict=True):
            assert words in line
        assert "4 of 5 receipts are denied" in denied.stderr


def test_a_store_that_has_lost_its_log_is_told_and_the_log_can_be_appended_again(tmp_path):
    data = tmp_path / "data"
    with Running(data) as server:
        _, player = server.call("POST", "/v1/players", {"name": "Ana"})
        bearer = {"Authorization": f"Bearer {player['token']}"}
        opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": 1}
        server.call("POST", "/v1/tables", opening, **bearer)
        last = head(server, bearer, 1)
    shutil.rmtree(data / "store")
    with Running(data):
        until(lambda: "the log of finished deals has shrunk" in marias(data, "status").stdout)
        assert marias(data, "status").returncode == 1
        told = marias(data, "log", "restore")
        logged = int(told.stdout.partition(" ")[0])  # A shared first place makes more deals than one.
        assert logged >= last["size"], told.stderr
        status = until(lambda: (found := marias(data, "status")).returncode == 0 and found)
        assert re.search(rf"\b{logged} deals?, signed for {logged}\b", status.stdout)

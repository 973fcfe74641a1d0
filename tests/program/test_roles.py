"""The roles as processes of their own over one store, as on several machines: together they do what `serve` does."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests import sources
from tests.topologies import free_port

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def apart(server_url, tmp_path):
    """The addresses of the API and of push, all five roles running."""
    ports = {"api": free_port(), "push": free_port()}
    environment = {**os.environ, "REDIS_URL": server_url, "MARIAS_DATA": str(tmp_path / "data")}
    environment.pop("JOBS_REDIS_URL", None)
    with contextlib.ExitStack() as running:
        for role in ("api", "push", "worker", "projector", "jobs"):
            port = ["--port", str(ports[role])] if role in ports else []
            log = running.enter_context((tmp_path / f"{role}.log").open("w"))
            process = subprocess.Popen([sys.executable, "-m", "services.cli", role, *port], cwd=sources.ROOT,
                                       env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            running.callback(process.wait)
            running.callback(process.terminate)
        _await_ready(ports["api"], tmp_path)
        yield {role: f"http://127.0.0.1:{port}" for role, port in ports.items()}


def _await_ready(port: int, logs) -> None:
    end = time.monotonic() + 120
    while True:
        with contextlib.suppress(OSError), \
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health/ready", timeout=30):
            return
        assert time.monotonic() < end, "\n".join(log.read_text() for log in logs.glob("*.log"))
        time.sleep(0.05)


def _call(url: str, token: str = "", body: object = None):
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=90)


def test_a_command_goes_through_all_of_them(apart):
    with _call(f"{apart['api']}/v1/players", body={"name": "Ana"}) as answer:
        token = json.load(answer)["token"]
    opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": 1}
    with _call(f"{apart['api']}/v1/tables", token, opening) as answer:
        table = json.load(answer)["table"]

    with _call(f"{apart['push']}/v1/tables/{table}/stream?after=0", token) as stream:
        told = iter(stream.readline, b"")
        assert next(line for line in told if line.startswith(b"id:")).split() == [b"id:", b"1"]
        assert any(b'"deal_ended"' in line for line in told), "the bots play the deal to its end"

    end = time.monotonic() + 60
    while True:
        with _call(f"{apart['api']}/v1/tables/{table}/bank", token) as answer:
            bank = json.load(answer)
        if bank["deals"]:
            break
        assert time.monotonic() < end, bank
        time.sleep(0.05)
    assert sum(bank["balances"]) == 0
    assert bank["balances"] == bank["deals"][0]["payments"]
    with _call(f"{apart['api']}/v1/tables/{table}/deals/1/replay", token) as answer:
        assert json.load(answer)["finished"], "the projector reads the events for the API"


def test_the_api_alone_has_no_streams_and_push_alone_no_tables(apart):
    with pytest.raises(urllib.error.HTTPError) as refused:
        _call(f"{apart['push']}/v1/tables")
    with refused.value as answer:
        assert (answer.code, json.load(answer)["code"]) == (404, "not_found")

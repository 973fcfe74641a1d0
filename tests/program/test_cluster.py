"""Replays, proofs, the way from chips to events, pages and the audit on a real cluster, behind a running server."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from tests import servers, sources, topologies
from tests.program.running import Running, marias, until

pytestmark = [pytest.mark.server, pytest.mark.slow]

TABLES, DEALS = 4, 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server over three masters with a replica each, and a place for jobs beside them."""
    several = topologies.Clustered(topologies.KIND, replicas=1)
    queue = servers.Server(servers.program(topologies.KIND))
    try:
        several.start()
        queue.start()
        environment = {"REDIS_URL": several.url, "JOBS_REDIS_URL": queue.url}
        with Running(tmp_path_factory.mktemp("cluster") / "data", environment=environment) as running:
            yield running
    finally:
        queue.remove()
        several.remove()


@pytest.fixture(scope="module")
def reader(server: Running) -> dict[str, str]:
    _, player = server.call("POST", "/v1/players", {"name": "Ana"})
    return {"Authorization": f"Bearer {player['token']}"}


@pytest.fixture(scope="module")
def auditor(server: Running) -> dict[str, str]:
    return {"Authorization": f"Bearer {marias(server.data, 'token', '--role', 'auditor').stdout.strip()}"}


@pytest.fixture(scope="module")
def tables(server: Running, reader: dict[str, str]) -> list[str]:
    """Tables of bots in several partitions; all of their deals are played and paid."""
    opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": DEALS}
    opened = [server.call("POST", "/v1/tables", opening, **reader)[1]["table"] for _ in range(TABLES)]
    for table in opened:
        until(lambda table=table: len(bank(server, reader, table)) >= DEALS)
    return opened


def get(server: Running, reader: dict[str, str], path: str) -> dict:
    status, answer = server.ask("GET", path, **reader)
    assert status == 200, (path, status, answer)
    return answer


def bank(server: Running, reader: dict[str, str], table: str) -> list[dict]:
    return get(server, reader, f"/v1/tables/{table}/bank")["deals"]


def test_the_tables_lie_in_several_partitions(tables: list[str]) -> None:
    assert len({table[2:4] for table in tables}) > 1


def test_from_the_bank_a_line_leads_to_record_replay_and_event(
    server: Running, reader: dict[str, str], tables: list[str]
) -> None:
    for table in tables:
        for line in bank(server, reader, table):
            record, replay, event = (get(server, reader, line["links"][name]) for name in ("record", "replay", "event"))
            assert record["result"]["payments"] == line["payments"]
            assert [replay["deal"], replay["finished"]] == [line["deal"], True]
            assert replay["moments"][-1]["version"] == event["version"]
            [ended] = [each for each in event["events"] if each["type"] == "deal_ended"]
            assert ended["payments"] == line["payments"]


def test_proofs_are_served_and_hold(
    server: Running, reader: dict[str, str], auditor: dict[str, str], tables: list[str]
) -> None:
    for table in tables:
        for caller, check in (
            (reader, ["deploy/verify_deal.py", "-"]),
            (auditor, ["-m", "services.cli", "verify", "-", "--keys", str(server.data / "keys")]),
        ):
            proof = get(server, caller, f"/v1/tables/{table}/deals/{DEALS}/proof")
            done = subprocess.run([sys.executable, *check], input=json.dumps(proof), cwd=sources.ROOT,
                                  capture_output=True, text=True, timeout=180, check=False)
            assert (done.returncode, "fair" in done.stdout) == (0, True), done.stdout + done.stderr


def test_an_auditor_sees_every_card_and_others_none(
    server: Running, reader: dict[str, str], auditor: dict[str, str], tables: list[str]
) -> None:
    for table in tables:
        whole, seen = (get(server, each, f"/v1/tables/{table}/deals/1") for each in (auditor, reader))
        assert "??" not in whole["deck"]
        assert seen["deck"] == ["??"] * 32


def test_pages_show_the_deals(server: Running, tables: list[str]) -> None:
    for path in (f"/replay/{tables[0]}/1", f"/bank/{tables[0]}"):
        with urllib.request.urlopen(server.http + path, timeout=40) as answer:
            text = answer.read().decode()
        assert answer.status == 200
        assert tables[0] in text
    assert f"{server.http}/replay;" in server.said()


def test_everything_on_it_is_audited_and_clean(
    server: Running, reader: dict[str, str], tables: list[str]
) -> None:
    until(lambda: server.call("GET", "/v1/log/head?now=true", **reader)[0] == 200)
    done = marias(server.data, "audit", "--all", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["faults"]) == (0, True, []), done.stdout + done.stderr
    assert report["tables"] == TABLES
    assert report["deals"] >= TABLES * DEALS
    assert json.loads(marias(server.data, "audit", tables[0], "--json").stdout)["faults"] == []

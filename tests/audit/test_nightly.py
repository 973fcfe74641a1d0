"""The audit of each night: asked for once, slow, alone, with a login that changes nothing, and told to operators."""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.audit.nightly import Busy, LostHold, audit_night
from services.audit.notes import Notes
from services.audit.run import Installation
from services.operations.fare import document, fare
from services.operations.health import troubles
from services.processes import nightly
from services.store import audited, keys
from tests import sources
from tests.audit.town import FREE, Town
from tests.program.running import Running
from tests.worker.house import PARTITIONS


def night(town: Town, name: str = "2026-11-30", sleep=lambda _: None):
    notes = Notes(None, name)
    try:
        return audit_night(Installation(town.redis, town.archive, PARTITIONS), notes, name, sleep)
    finally:
        notes.close(is_done=True)


def test_its_result_is_kept_for_operators(town: Town) -> None:
    assert fare(town.redis, None, PARTITIONS).audited is None
    slept: list[float] = []
    night(town, sleep=slept.append)
    assert len(slept) == 3
    found = fare(town.redis, None, PARTITIONS)
    told = document(found)["audit"]
    assert told | {"ended_seconds_ago": 0} == {
        "night": "2026-11-30", "ended_seconds_ago": 0, "tables": 3, "deals": 8, "entries": told["entries"], "faults": 0,
        "first_fault": "", "not_read": 0, "not_checked": told["not_checked"],
    }
    assert not [each for each in troubles(found) if "audit" in each]


def test_a_fault_is_trouble_and_no_card_is_told(town: Town) -> None:
    town.redis.hset(keys.sealed_records(FREE), "4", b"x")
    night(town)
    found = fare(town.redis, None, PARTITIONS)
    [said] = [each for each in troubles(found) if "audit" in each]
    assert f"{FREE} at version" in said
    assert "projections, field 4" in said
    assert document(found)["audit"]["faults"] == 1


def test_one_at_a_time(town: Town) -> None:
    held = audited.hold(town.redis)
    with pytest.raises(Busy):
        night(town)
    audited.let_go(town.redis, held)
    night(town)
    assert not town.redis.exists(audited.LOCK)


def test_who_stood_still_for_too_long_gives_up(town: Town) -> None:
    with pytest.raises(LostHold):
        night(town, sleep=lambda _: town.redis.set(audited.LOCK, "another"))
    assert town.redis.get(audited.LOCK) == b"another"
    town.redis.delete(audited.LOCK)


@pytest.mark.parametrize(("hour", "now", "asked"), [
    (2, "2026-11-30T01:59", []),
    (2, "2026-11-30T02:00", ["2026-11-30"]),
    (2, "2026-11-30T07:59", ["2026-11-30"]),
    (2, "2026-11-30T08:00", []),
    (23, "2026-12-01T01:00", ["2026-11-30"]),
])
def test_it_is_asked_for_at_its_hour(town: Town, monkeypatch: pytest.MonkeyPatch, hour, now, asked) -> None:
    at = int(datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp() * 1000)
    monkeypatch.setattr(nightly, "store_ms", lambda _: at)
    found: list[str] = []
    nightly.ask(town.redis, hour, found.append)
    assert found == asked


def test_a_night_that_has_its_result_is_not_asked_for_again(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 11, 30, 3, tzinfo=UTC)
    night(town)
    found: list[str] = []
    for moment in (at, at + timedelta(days=1)):
        monkeypatch.setattr(nightly, "store_ms", lambda _, moment=moment: int(moment.timestamp() * 1000))
        nightly.ask(town.redis, 2, found.append)
    assert found == ["2026-12-01"]


@pytest.mark.server
def test_a_whole_system_audits_itself_at_night(tmp_path: Path) -> None:
    """With the users of the embedded store: the audit may read what it needs, and nobody lends it more."""
    data = tmp_path / "data"
    with Running(data, environment={"MARIAS_AUDIT_HOUR": "off"}) as server:
        _, player = server.call("POST", "/v1/players", {"name": "Ana"})
        mine = {"Authorization": f"Bearer {player['token']}"}
        opened = {"game": "voleny", "rules": {"preset": "hospoda"}, "deals": 1}
        status, bots = server.call("POST", "/v1/tables", {**opened, "bots": [0, 1, 2]}, **mine)
        assert status in (200, 201), bots
        rich = {**opened, "rules": {"preset": "hospoda", "cap": 100}, "stake": "bankroll", "buy_in": 300}
        status, table = server.call("POST", "/v1/tables", rich, **mine)
        assert status in (200, 201), table
        status, said = server.call(
            "POST", f"/v1/tables/{table['table']}/commands", {"type": "sit"}, **mine,
            Idempotency_Key="sit", Prefer="wait=10",
        )
        assert (status, said["status"]) == (200, "applied"), said
        await_until(lambda: server.call("GET", f"/v1/tables/{bots['table']}", **mine)[1]["phase"] == "over")
    with Running(data, environment={"MARIAS_AUDIT_HOUR": str(datetime.now(UTC).hour)}):
        await_until(lambda: status_of(data)["audit"] is not None)
        told = status_of(data)["audit"]
        assert (told["faults"], told["tables"], told["not_read"]) == (0, 2, 0), told
        assert told["deals"] >= 1


def status_of(data: Path) -> dict:
    """What `marias status` says."""
    said = subprocess.run(
        [sys.executable, "-m", "services.cli", "status", "--json", "--data", str(data)],
        capture_output=True, cwd=sources.ROOT, check=False, timeout=180,
    )
    return json.loads(said.stdout)


def await_until(happened, seconds_max: float = 180.0) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds_max
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.3)

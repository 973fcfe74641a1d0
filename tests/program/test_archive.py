"""Finished deals leave the store for the archive while everything runs, and nobody notices."""

import os
import shutil
import signal

import pytest

from services.archive import folder
from services.serve.folder import read_running
from services.store import keys
from services.store.connect import connect
from tests.program.running import Running, marias, until

pytestmark = [pytest.mark.server, pytest.mark.slow]

DEALS = 5


def told(server, table, token):
    """Everything that an auditor may read of the finished deals."""
    bearer = {"Authorization": f"Bearer {token}"}
    paths = [f"deals/{number}{rest}" for number in range(1, DEALS + 1) for rest in ("", "?seat=1", "/replay")]
    return [server.ask("GET", f"/v1/tables/{table}/{path}", **bearer)
            for path in (*paths, "bank", "chips", "versions/1", "versions/9")]


def played(server):
    """A table whose bots have played all their deals."""
    _, player = server.call("POST", "/v1/players", {"name": "Ana"})
    bearer = {"Authorization": f"Bearer {player['token']}"}
    opening = {"game": "voleny", "bots": [0, 1, 2], "auto_ready": True, "deals": DEALS}
    _, opened = server.call("POST", "/v1/tables", opening, **bearer)
    return opened["table"], bearer


def test_a_table_goes_to_the_archive_and_stays_what_it_was(tmp_path):
    data = tmp_path / "data"
    with Running(data) as server:
        table, bearer = played(server)
        archived = data / "archive"

        def is_archived(deals):
            return lambda: len(folder.files(archived, table)) >= deals

        for deals in (1, 2):
            until(is_archived(deals))
            os.kill(until(lambda: server.children().get("jobs")), signal.SIGKILL)
        until(is_archived(DEALS))
        token = marias(data, "token", "--role", "auditor").stdout.strip()
        until(lambda: server.call("GET", f"/v1/tables/{table}", **bearer)[1]["phase"] == "over")
        running = read_running(data)
        assert running is not None
        redis = connect(running.redis_url)
        until(lambda: redis.xlen(keys.events(table)) < 5)
        redis.close()
        before = told(server, table, token)
        assert all(status == 200 for status, _ in before)

        assert marias(data, "archive", "verify").stdout.startswith(f"{len(folder.files(archived, table))} deals of 1")
        assert marias(data, "archive", "run", "--all").returncode == 0
        rebuilt = marias(data, "rebuild")
        assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
        assert told(server, table, token) == before

        archived.rename(tmp_path / "elsewhere")
        refused = marias(data, "rebuild")
        assert refused.returncode == 1
        assert "Nothing was changed" in refused.stderr
        assert f"{table}: versions 1 to" in refused.stderr
        (tmp_path / "elsewhere").rename(archived)
        assert told(server, table, token) == before

    copy = tmp_path / "copy"
    shutil.copytree(data, copy)
    with Running(copy) as server:
        until(lambda: told(server, table, token) == before)  # It is ready before its projector listens to questions.
        assert marias(copy, "rebuild").returncode == 0
        busy = marias(copy, "archive", "restore", str(archived))
        assert busy.returncode == 1
        assert "is in use by another" in busy.stderr

    fresh = tmp_path / "fresh"
    shutil.copytree(data / "keys", fresh / "keys")
    shutil.copytree(archived, fresh / "archive")
    restored = marias(fresh, "archive", "restore")
    assert restored.stdout.startswith(f"1 table restored from {fresh / 'archive'};"), restored.stderr
    with Running(fresh) as server:
        until(lambda: told(server, table, token) == before)

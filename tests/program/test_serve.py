"""`marias serve` from outside: one command, one port, no orphan, and nothing that was answered is lost."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from services.serve import folder
from tests import sources
from tests.program.running import Running, await_end, until

pytestmark = [pytest.mark.server, pytest.mark.slow]
ROLES = {"front", "worker", "projector", "jobs"}


@pytest.fixture
def data(tmp_path):
    return tmp_path / "marias-data"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for the tests that leave it running."""
    with Running(tmp_path_factory.mktemp("shared") / "marias-data") as running:
        yield running


def open_table(server: Running, **rules: object) -> tuple[str, str]:
    """A token and a table that its owner opened."""
    status, player = server.call("POST", "/v1/players", {"name": "Ana"})
    assert status == 201, player
    status, table = server.call("POST", "/v1/tables", {"game": "voleny", **rules},
                                Authorization=f"Bearer {player['token']}")
    assert status == 201, table
    return player["token"], table["table"]


def send(server: Running, token: str, table: str, key: str, **body: object) -> tuple[int, dict]:
    return server.call("POST", f"/v1/tables/{table}/commands", body, Authorization=f"Bearer {token}",
                       Idempotency_Key=key, Prefer="wait=20")


def view(server: Running, token: str, table: str) -> dict:
    return server.call("GET", f"/v1/tables/{table}", Authorization=f"Bearer {token}")[1]


def versions(server: Running, token: str, table: str) -> list[int]:
    """The versions of the table that a reader is told, from the oldest kept."""
    status, told = server.call("GET", f"/v1/tables/{table}/events?limit=500", Authorization=f"Bearer {token}")
    assert status == 200, told
    return [each["version"] for each in told["events"]]


def await_version(server: Running, token: str, table: str, least: int) -> dict:
    """The view once the table has come so far; while the store starts again the API says so with 503."""
    end = time.monotonic() + 120
    while True:
        status, seen = server.call("GET", f"/v1/tables/{table}", Authorization=f"Bearer {token}")
        assert status in (200, 503), seen
        if status == 200 and seen["version"] >= least:
            return seen
        assert time.monotonic() < end, seen
        time.sleep(0.05)


def test_it_answers_on_one_port_and_ctrl_c_leaves_no_orphan(data):
    server = Running(data)
    server.start()
    children = server.children()
    assert children.keys() == ROLES | {"store"}
    for path in ("/v1/health/live", "/v1/health/ready", "/v1/openapi.json"):
        assert server.call("GET", path)[0] == 200, path
    assert server.stop(signal.SIGINT) == 0
    assert await_end(list(children.values()), 0) == []
    assert "stopped" in server.said()
    assert folder.read_running(data) is None


def test_it_says_where_it_is_ready_and_how_to_try_it_and_no_more(data):
    with Running(data) as server:
        said = server.said()
    address = r"http://127\.0\.0\.1:\d+"
    assert re.search(rf"^ready on {address} \(docs: {address}/v1/docs\)$", said, re.MULTILINE)
    assert re.search(rf"^see deals again: {address}/replay; ", said, re.MULTILINE)
    assert "Ctrl-C" in said
    assert "curl" in said
    assert len(said.splitlines()) == 3, "quiet unless asked"


def test_killing_the_parent_leaves_no_orphan_and_a_second_start_continues(data):
    server = Running(data)
    server.start()
    token, table = open_table(server)
    answer = send(server, token, table, "sit", type="sit", seat=1)
    assert answer[0] == 200, answer
    before = view(server, token, table)
    assert await_end(server.kill()) == []

    with server:
        assert view(server, token, table) == before
        assert send(server, token, table, "sit", type="sit", seat=1) == answer, "the retry gets the first answer"
        assert send(server, token, table, "leave", type="leave")[0] == 200
        assert view(server, token, table)["version"] == before["version"] + 1


@pytest.mark.parametrize("victim", ["front", "worker", "projector", "jobs", "store"])
def test_a_killed_child_is_started_again_and_play_goes_on(shared, victim):
    token, table = open_table(shared, bots=[0, 1, 2], auto_ready=True)
    seen = await_version(shared, token, table, 5)
    killed = shared.children()[victim]
    os.kill(killed, signal.SIGKILL)
    await_version(shared, token, table, seen["version"] + 20)
    until(lambda: shared.children().get(victim, killed) != killed)
    assert f"{victim} ended (killed by SIGKILL); it is started again at once" in shared.said()
    told = versions(shared, token, table)
    assert told
    assert told == list(range(told[0], told[0] + len(told))), "no version is skipped or doubled"


def test_calls_wait_while_the_api_starts_again(shared):
    os.kill(shared.children()["front"], signal.SIGKILL)
    time.sleep(0.05)
    assert shared.call("GET", "/v1/health/live")[0] == 200, "the port is the parent's: nobody is refused"


def test_a_taken_port_is_told_with_the_remedy(data):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = _marias("serve", "--port", str(port), "--data", str(data))
    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
    assert "--port" in done.stderr
    assert not data.exists(), "nothing was begun"


def test_a_data_folder_in_use_is_told_with_the_remedy(shared):
    done = _marias("serve", "--port", "0", "--data", str(shared.data))
    assert done.returncode == 1
    assert f"in use by another `marias serve` (process {shared.pid})" in done.stderr
    assert shared.call("GET", "/v1/health/ready")[0] == 200, "the first one is not disturbed"


def test_a_server_goes_on_when_the_reader_of_its_log_and_its_terminal_have_gone(data):
    program = subprocess.Popen(
        ["nohup", sys.executable, "-m", "services.cli", "serve", "--port", "0", "--verbose", "--data", str(data)],
        cwd=sources.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    while not program.stdout.readline().startswith(b"ready on"):
        assert program.poll() is None
    program.stdout.close()
    program.send_signal(signal.SIGHUP)
    running = folder.read_running(data)
    for _ in range(3):
        with urllib.request.urlopen(f"{running.http}/v1/health/ready", timeout=180) as answer:
            assert answer.status == 200
    program.terminate()
    assert program.wait(60) == 0


def test_keys_are_made_once_and_for_their_owner_alone(data):
    with Running(data) as server:
        first = keys_in(data / "keys")
        server.stop()
        server.start()
        assert keys_in(data / "keys") == first
    assert first.keys() >= {"k1.pem", "auditor.key", "auditor.pub", "receipts/k1.pem"}
    assert all(file.stat().st_mode & 0o077 == 0 for file in [data, *(data / "keys").rglob("*")])


def keys_in(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_very_deep_data_folder_works_too(tmp_path):
    with Running(tmp_path / ("d" * 90) / ("e" * 90) / "data") as server:
        assert server.call("GET", "/v1/health/ready")[0] == 200


def test_a_store_of_ones_own_is_used(data, server):
    with Running(data, environment={"REDIS_URL": server.url}) as program:
        assert program.children().keys() == ROLES
        token, table = open_table(program)
        assert send(program, token, table, "sit", type="sit")[0] == 200


@pytest.mark.parametrize("role", ["player", "auditor", "operator"])
def test_a_token_made_beside_the_server_is_good(shared, role):
    token = _marias("token", "--role", role, "--data", str(shared.data)).stdout.strip()
    assert shared.call("GET", "/v1/tables", Authorization=f"Bearer {token}")[0] == 200


def test_a_player_made_beside_the_server_has_chips(shared):
    token = _marias("token", "--role", "player", "--name", "Ana", "--data", str(shared.data)).stdout.strip()
    path = "/v1/players/me/ledger?account=chips"
    end = time.monotonic() + 120
    while (ledger := shared.call("GET", path, Authorization=f"Bearer {token}")[1])["balance"] == 0:
        assert time.monotonic() < end, ledger
        time.sleep(0.05)
    assert ledger["balance"] == 10_000


def test_a_token_made_with_other_keys_is_not(shared, data):
    forged = _marias("token", "--role", "auditor", "--data", str(data)).stdout.strip()
    assert shared.call("GET", "/v1/tables", Authorization=f"Bearer {forged}")[0] == 401


def test_a_role_alone_without_a_store_is_told_the_remedy(data):
    done = _marias("worker", "--data", str(data))
    assert done.returncode == 1
    assert "REDIS_URL" in done.stderr
    assert "marias serve" in done.stderr


def test_the_overview_teaches_without_importing_a_web_server():
    program = "import sys; from services.cli import marias; marias(['--help'], standalone_mode=False); " \
              "sys.exit(bool({'flask', 'redis', 'rq', 'gevent', 'engine.games'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=sources.ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    for word in ("Examples:", "marias serve", "marias demo", "marias deal random", "marias token --role"):
        assert word in done.stdout


@pytest.mark.parametrize("command", ["api", "push", "front", "worker", "projector", "jobs"])
def test_a_role_loads_nothing_that_opens_connections_before_it_is_prepared(command):
    program = f"import sys; from services.cli import marias; marias.get_command(None, {command!r}); " \
              "import services.serve.role; sys.exit(bool({'ssl', 'redis', 'flask'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=sources.ROOT, check=False)
    assert done.returncode == 0, "gevent's patch comes too late for what is already loaded"


@pytest.mark.parametrize("command", ["serve", "demo", "deal", "token", "rebuild", "bench", "settings", "api", "push",
                                     "worker", "projector", "jobs", "front"])
def test_every_command_explains_itself(command):
    done = _marias(command, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: marias" in done.stdout


def _marias(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "MARIAS_DATA")}
    return subprocess.run([sys.executable, "-m", "services.cli", *words], cwd=sources.ROOT, env=environment,
                          capture_output=True, text=True, timeout=180, check=False)

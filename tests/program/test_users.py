"""`marias serve` gives each child a login of its own at the store, which is enough for it, and no other child's."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError

from services.cli.users import users as users_command
from services.serve import users
from services.serve.folder import read_running
from services.store import keys, rights
from services.tokens import KeyRing
from tests import servers, sources
from tests.program.running import Running
from tests.system.client import Client, register

EXPECTED = {b"client|setinfo", b"config|get", b"hsetnx", b"m:{installation}"}
"""What the library, the check of a store and whoever comes first ask for although they may be refused."""


def play(port: int) -> tuple[str, Client]:
    """A deal of a player against two bots, to its end; the table and the player."""
    eva = register(port, "Eva")
    table = eva.persist("POST", "/v1/tables", {"game": "voleny", "bots": [1, 2], "bot_policy": "random"})["table"]
    eva.command(table, {"type": "sit", "seat": 0})
    eva.command(table, {"type": "ready"})
    end = time.monotonic() + 120
    while (view := eva.view(table))["deal"] == 0 or view["phase"] != "lobby":
        assert time.monotonic() < end, view
        if view["legal"]:
            eva.command(table, view["legal"][0])
        time.sleep(0.01)
    return table, eva


def reads_everything(server: Running, table: str, eva: Client) -> None:
    port = int(server.http.rsplit(":", 1)[1])
    for path in ("/v1/tables", f"/v1/tables/{table}/bank", f"/v1/tables/{table}/deals/1", f"/v1/tables/{table}/events",
                 "/v1/players/me/ledger", "/v1/players/me/ledger?account=chips"):
        eva.persist("GET", path)
    auditor = Client(port, KeyRing(server.data / "keys").issue(role="auditor", sub="audit", name="audit"))
    record = auditor.persist("GET", f"/v1/tables/{table}/deals/1")
    assert "??" not in record["deck"]
    assert auditor.ask("GET", "/v1/operations/dead-letters") == {"dead_letters": []}
    assert len(auditor.ask("GET", "/v1/operations")["workers"]) == 1
    rebuilt = marias("rebuild", "--data", str(server.data))
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
    assert marias("dead", "list", "--data", str(server.data)).returncode == 0


def marias(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *words], cwd=sources.ROOT, capture_output=True, text=True, timeout=180,
        check=False,
    )


def refusals(store: Redis) -> set[tuple[bytes, bytes]]:
    """What the store has refused to whom, but for what is expected."""
    log = store.execute_command("ACL", "LOG", "128")
    found = {(entry[b"username"], entry[b"object"]) for entry in log}
    return {each for each in found if each[1] not in EXPECTED}


def test_every_role_does_its_work_with_its_own_login_and_reaches_for_nothing_else(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as server:
        port = int(server.http.rsplit(":", 1)[1])
        table, eva = play(port)
        reads_everything(server, table, eva)
        running = read_running(server.data)
        assert running is not None
        with Redis.from_url(running.redis_url) as store:
            assert refusals(store) == set()
            names = {entry["user"] for entry in store.client_list()}
            assert {"front", "worker", "projector", "auditor", "jobs"} <= names
            assert "default" not in names
        told = {role: Path(f"/proc/{pid}/environ").read_bytes() for role, pid in server.children().items()}
        assert_each_knows_its_own(told)
        assert (server.data / "run.json").stat().st_mode & 0o077 == 0
        assert (server.data / "store" / "users.acl").stat().st_mode & 0o077 == 0


def assert_each_knows_its_own(told: dict[str, bytes]) -> None:
    logins = {"front": {"front"}, "worker": {"worker"}, "projector": {"projector", "auditor"},
              "jobs": {"jobs", "archive", "audit"}, "store": set()}
    for role, environment in told.items():
        found = {name for name in (*rights.ROLES, rights.OWNER) if f"//{name}:".encode() in environment}
        assert found == logins[role], role


def test_a_store_of_yours_takes_the_users_that_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    printed = CliRunner().invoke(users_command, ["--file", str(file)])
    assert printed.exit_code == 0, printed.output
    assert file.stat().st_mode & 0o077 == 0
    assert all(password not in printed.output for password in users.read_file(file).values())
    own = servers.Server(servers.program("redis"))
    try:
        own.start()
        own.kill()
        (own.folder / "users.acl").write_text(printed.output + f"user admin on #{_sha('admin')} ~* &* +@all\n")
        own.command += ["--aclfile", str(own.folder / "users.acl")]
        own.start()
        settings = {"REDIS_URL": own.url, "MARIAS_STORE_USERS": str(file)}
        with Running(tmp_path / "data", environment=settings) as server:
            table, eva = play(int(server.http.rsplit(":", 1)[1]))
            reads_everything(server, table, eva)
            with Redis.from_url(own.url.replace("//", "//admin:admin@")) as store:
                assert refusals(store) == set()
            front = users.login(own.url, "front", users.read_file(file))
            with Redis.from_url(front) as store, pytest.raises(NoPermissionError):
                store.xrange(keys.events(table))
            with Redis.from_url(own.url) as store, pytest.raises(NoPermissionError):
                store.get("x")
            with Redis.from_url(own.url.replace("//", "//front:wrong@")) as store, pytest.raises(AuthenticationError):
                store.ping()
    finally:
        own.remove()


def _sha(password: str) -> str:
    return rights.words(rights.OWNER, password)[1].removeprefix("#")


def test_a_file_without_a_role_is_told(tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.write_text("worker secret\n")
    with pytest.raises(users.BadUsers, match="api"):
        users.read_file(file)


@pytest.mark.parametrize("url", [
    "redis://host:6379/0", "rediss://old:word@host/1", "unix:///run/s.sock?db=0", "redis+sentinel://a:1,b:2/main",
    "redis+cluster://a:1,b:2",
])
def test_a_login_is_put_into_an_address_of_any_kind(url: str) -> None:
    known = users.login(url, "worker", {"worker": "ab"})
    assert "//worker:ab@" in known
    assert known.replace("worker:ab@", "") == url.replace("old:word@", "")
    assert users.login(url, "nobody", {"worker": "ab"}) == url

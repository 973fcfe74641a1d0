"""A start on a store of several servers says what it needs, before anything runs."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from services.serve import own
from tests import servers, sources, topologies

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def cluster() -> Iterator[topologies.Clustered]:
    """Three masters with a replica each."""
    made = topologies.Clustered(topologies.KIND, replicas=1)
    try:
        yield made.start()
    finally:
        made.remove()


def run(cluster_url, tmp_path, *words):
    """The exit status and the words of a start that should fail."""
    unset = {"REDIS_URL", "JOBS_REDIS_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-m", "services.cli", *words, "--data", str(tmp_path / "data")], cwd=sources.ROOT,
        env={**kept, "REDIS_URL": cluster_url}, capture_output=True, text=True, timeout=180, check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("jobs",), ("projector",)])
def test_a_cluster_without_a_place_for_jobs_is_refused_with_the_remedy(cluster, tmp_path, words):
    status, said = run(cluster.url, tmp_path, *words)
    assert status == 1
    assert "JOBS_REDIS_URL=redis://" in said
    assert "Traceback" not in said


def test_one_node_of_a_cluster_is_not_taken_for_a_server(cluster, tmp_path):
    status, said = run(f"redis://127.0.0.1:{cluster.nodes[0].port}", tmp_path, "worker")
    assert status == 1
    assert "redis+cluster://" in said


def test_a_cluster_is_asked_for_its_settings_master_by_master(cluster):
    (warning,) = {each for each in own.check(cluster.url) if "appendfsync" in each}
    assert "everysec" in warning
    last = cluster.masters()[2]
    last.client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(own.UnfitStore, match="noeviction"):
            own.check(cluster.url)
    finally:
        last.client.config_set("maxmemory-policy", "noeviction")


def test_replicas_that_nobody_waits_for_are_warned_of(cluster):
    assert any("MARIAS_REPLICAS=1" in each for each in own.check(cluster.url))
    assert any("Have one more" in each for each in own.check(cluster.url, replicas=1))


def test_an_address_that_makes_no_sense_is_told_without_a_traceback(tmp_path):
    status, said = run("redis+sentinel://me:secret@127.0.0.1:1", tmp_path, "worker")
    assert status == 1
    assert "names no service" in said
    assert "secret" not in said
    assert "Traceback" not in said


def test_a_server_that_is_no_cluster_is_told_so(tmp_path):
    server = servers.Server(servers.program("valkey"))
    server.command += ["--port", str(port := topologies.free_port())]
    server.start()
    try:
        with pytest.raises(own.UnfitStore, match="Cluster mode is not enabled"):
            own.check(f"redis+cluster://127.0.0.1:{port}")
    finally:
        server.remove()

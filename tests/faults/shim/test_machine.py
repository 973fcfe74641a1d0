"""The shim itself: a fault that is not felt proves nothing."""

import errno
import subprocess
import sys
import time

import pytest
from redis.exceptions import ConnectionError, ResponseError

from tests import servers
from tests.faults.shim.machine import Machine, cut_power

pytestmark = pytest.mark.server

KINDS = ["valkey", "redis"]


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    machine = Machine(tmp_path)
    server = servers.Server(servers.program(request.param), environment=machine.environment)
    server.start()
    yield server, machine
    server.remove()


def test_the_store_s_fsyncs_are_counted_and_sizes_known(store):
    server, machine = store
    with server.client() as redis:
        before = machine.read("fsyncs")
        redis.set("a", "b" * 100)
        assert machine.read("fsyncs") == before + 1
    [log] = (server.folder / "appendonlydir").glob("*.incr.aof")
    assert machine.durable()[log.stat().st_ino] == log.stat().st_size
    server.kill()
    assert cut_power(machine, server.folder / "appendonlydir") == 0


def test_the_store_s_clock_jumps_and_comes_back(store):
    server, machine = store
    with server.client() as redis:
        for ahead in (3600, -3600, 0):
            machine.set(clock_seconds=ahead)
            redis.ping()
            time.sleep(0.1)  # A server reads its clock once in a turn of its loop.
            assert abs(redis.time()[0] - time.time() - ahead) < 60


def test_a_failed_write_is_felt(store):
    server, machine = store
    with server.client() as redis:
        redis.set("a", "1")
        machine.set(write_errno=errno.ENOSPC)
        with pytest.raises((ConnectionError, ResponseError)):  # Writing before it answers, it can only stop.
            redis.set("a", "2")
        assert machine.read("writes_failed") > 0


def test_a_python_s_wall_clock_jumps_and_its_monotonic_clock_does_not(tmp_path):
    machine = Machine(tmp_path)
    program = ("import time\nwall, mono = time.time(), time.monotonic()\ninput()\n"
               "print(round((time.time() - wall) / 3600), round((time.monotonic() - mono) / 3600))")
    with subprocess.Popen([sys.executable, "-c", program], env=machine.environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        while not machine.read("clock_calls"):
            time.sleep(0.01)
        time.sleep(0.2)
        machine.set(clock_seconds=3600)
        said, _ = child.communicate("\n", timeout=180)
    assert said.split() == ["1", "0"]

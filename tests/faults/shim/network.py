"""Hosts with addresses of their own on one machine: network namespaces on a bridge, whose links a test cuts."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests import servers, sources
from tests.topologies import CONFIGURATIONS

STORE, SENTINEL, SERVICE = 6379, 26379, "marias"
HOSTS = 3
SECONDS_MAX = 120.0


_numbers = count()


class Network:
    """Three hosts, 0 to 2. Make it with `network`."""

    def __init__(self) -> None:
        number = next(_numbers)  # The system takes a while to forget the names of those before.
        self.tag = f"{os.getpid() % 10_000}x{number % 1_000}"
        self.bridge = f"mb{self.tag}"
        self.subnet = f"10.77.{(os.getpid() + 16 * number) % 250}"
        self.folder = Path(tempfile.mkdtemp(prefix="marias-"))
        self.processes: list[subprocess.Popen[bytes]] = []

    def name(self, host: int) -> str:
        """The namespace of a host."""
        return f"marias-{self.tag}-{host}"

    def address(self, host: int) -> str:
        """The address of a host; the test itself has one behind the last."""
        return f"{self.subnet}.{host + 1}"

    def make(self) -> None:
        """Raises CalledProcessError where it may not be made."""
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{self.subnet}.254/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for host in range(HOSTS):
            name, link = self.name(host), self._link(host)
            ip("netns", "add", name)
            ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", link, "master", self.bridge, "up")
            ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")

    def remove(self) -> None:
        """End what runs on the hosts, and the hosts."""
        for process in self.processes:
            process.kill()
            process.wait()
        for host in range(HOSTS):
            subprocess.run(["ip", "netns", "del", self.name(host)], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True, check=False)

    def cut(self, host: int, *, on: bool = True) -> None:
        """Nothing comes to a host or from it, or (`on` false) everything again."""
        ip("link", "set", self._link(host), "down" if on else "up")

    def drop(self, host: int, other: int, *, on: bool = True) -> None:
        """What `host` sends to `other` is lost; what comes back is not."""
        ip("-n", self.name(host), "route", "add" if on else "del", "blackhole", f"{self.address(other)}/32")

    def run(self, host: int, words: Sequence[str], *, log: str) -> subprocess.Popen[bytes]:
        """Start a program on a host; what it says is in the file `log` of the folder."""
        with (self.folder / log).open("ab") as file:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.name(host), *words], cwd=sources.ROOT,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def _link(self, host: int) -> str:
        return f"mv{self.tag}-{host}"


def ip(*words: str) -> None:
    """One command of iproute2. Raises CalledProcessError."""
    subprocess.run(["ip", *words], capture_output=True, text=True, check=True)


@contextmanager
def network() -> Iterator[Network]:
    """Three hosts. Skips, aloud, where namespaces cannot be made; on CI a skip fails the run."""
    made = Network()
    try:
        try:
            made.make()
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            pytest.skip(f"NO PARTITIONS: network namespaces need Linux, root and iproute2: {said.strip()}")
        yield made
    finally:
        made.remove()


class Watched:
    """A store on each host, the first one's the master at first, and a sentinel beside each."""

    def __init__(self, hosts: Network, kind: str = "valkey") -> None:
        self.hosts = hosts
        program = str(servers.program(kind))
        for host in range(HOSTS):
            folder = hosts.folder / str(host)
            folder.mkdir()
            follows = [] if host == 0 else ["--replicaof", f"{hosts.address(0)} {STORE}"]
            hosts.run(host, [
                program, "--port", str(STORE), "--dir", str(folder), "--bind", "0.0.0.0", "--protected-mode", "no",
                "--appendonly", "yes", "--repl-diskless-sync-delay", "0", "--repl-timeout", "5", *follows,
            ], log=f"store-{host}")
        self._await(lambda: self.client(0).info("replication")["connected_slaves"] == HOSTS - 1)
        for host in range(HOSTS):
            file = hosts.folder / str(host) / "sentinel.conf"
            text = (CONFIGURATIONS / "sentinel.conf").read_text().replace("127.0.0.1 6379", f"{hosts.address(0)} 6379")
            text = text.replace("down-after-milliseconds marias 2000", "down-after-milliseconds marias 1500")
            file.write_text(f"{text}\nport {SENTINEL}\nbind 0.0.0.0\nprotected-mode no\ndir {file.parent}\n")
            hosts.run(host, [program, str(file), "--sentinel"], log=f"sentinel-{host}")
        self._await(lambda: all(self._knows_all(host) for host in range(HOSTS)))

    @property
    def url(self) -> str:
        """The address by its sentinels."""
        nodes = ",".join(f"{self.hosts.address(host)}:{SENTINEL}" for host in range(HOSTS))
        return f"redis+sentinel://{nodes}/{SERVICE}"

    def client(self, host: int, port: int = STORE) -> Redis:
        """A client of the store on a host."""
        return Redis(self.hosts.address(host), port, socket_timeout=2, socket_connect_timeout=2, retry=None)

    def master(self) -> int | None:
        """The host whose store two of the sentinels call the master."""
        found = []
        for host in range(HOSTS):
            try:
                said = self.client(host, SENTINEL).sentinel_get_master_addr_by_name(SERVICE)
            except (RedisError, OSError):
                continue
            found.append(int(said[0].decode().rpartition(".")[2]) - 1)
        return next((host for host in found if found.count(host) >= 2), None)

    def await_whole(self) -> int:
        """Until one is the master and all others follow it; which."""
        self._await(lambda: self._whole() is not None)
        master = self._whole()
        assert master is not None
        return master

    def _whole(self) -> int | None:
        master = self.master()
        if master is None:
            return None
        facts = self.client(master).info("replication")
        up = [facts.get(f"slave{number}", {}).get("state") == "online" for number in range(HOSTS - 1)]
        return master if facts["role"] == "master" and all(up) else None

    def _knows_all(self, host: int) -> bool:
        state = self.client(host, SENTINEL).sentinel_masters()[SERVICE]
        return bool(state["num-other-sentinels"] == HOSTS - 1 and state["num-slaves"] == HOSTS - 1)

    def _await(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS_MAX
        while True:
            try:
                if condition():
                    return
            except (RedisError, OSError):
                pass
            if time.monotonic() > end:
                raise AssertionError("\n".join(
                    f"{log.name}: {log.read_text()[-600:]}" for log in sorted(self.hosts.folder.glob("s*-*"))
                ))
            time.sleep(0.1)


def sender(watched: Watched, host: int, replicas: int, log: str) -> subprocess.Popen[bytes]:
    """A client on `host` that takes commands in for as long as it lives, and writes down what was acknowledged."""
    words = [sys.executable, "-m", "tests.faults.shim.send", watched.url, str(replicas)]
    return watched.hosts.run(host, words, log=log)


def acknowledged(hosts: Network, log: str) -> list[tuple[str, str]]:
    """Table and key of each command that a sender wrote down; a last half line does not count."""
    whole = (hosts.folder / log).read_text().rpartition("\n")[0].splitlines()
    return [(line.split()[1], line.split()[2]) for line in whole if line.startswith("taken ")]

"""Stores of several servers for tests: a master that sentinels watch, and a cluster; with the files of deploy/store."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from redis import Redis
from redis.exceptions import RedisError

from tests import servers, sources

CONFIGURATIONS = sources.ROOT / "deploy" / "store"
START_SECONDS_MAX = 120.0
SLOTS = 16384
PORTS = range(10_001, 32_000)
"""Below those that the system gives to connections: one of these could take a port before its server does."""
_taken: set[int] = set()


def free_port() -> int:
    """A port that nobody listens on, and that was not given before; processes beside this one draw others."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _taken:
                _taken.add(port)
                return port


class Place(NamedTuple):
    """Where a server runs: its address, and the words that start a program there."""

    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()


HERE = (Place(),)


class Node:
    """One server on a port of its own."""

    def __init__(self, program: Path, folder: Path, words: Sequence[str], place: Place = HERE[0]) -> None:
        self.port = free_port()
        self.place = place
        self.folder = folder / str(self.port)
        self.folder.mkdir()
        self.words = [*place.prefix, str(program), *words]
        self.process: subprocess.Popen[bytes] | None = None
        self.client = Redis(place.address, self.port, socket_timeout=5, socket_connect_timeout=2, retry=None)

    @property
    def address(self) -> str:
        """Its host and port, as addresses of stores have them."""
        return f"{self.place.address}:{self.port}"

    def start(self) -> "Node":
        """Start it, without waiting."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.words, "--port", str(self.port), "--dir", str(self.folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        return self

    def is_up(self) -> bool:
        """Does it answer?"""
        try:
            return bool(self.client.ping())
        except (RedisError, OSError):
            return False

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self, *, on: bool = True) -> None:
        """SIGSTOP, or SIGCONT."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP if on else signal.SIGCONT)

    def said(self) -> str:
        """The end of what it has logged."""
        return (self.folder / "log").read_text(errors="replace")[-2000:]


class _Several:
    """What all have in common: a folder, nodes, and an end."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="marias-"))
        self.places = places
        self.nodes: list[Node] = []

    def node(self, program: Path, number: int, *names: str, fsync: str) -> Node:
        """A node with the files `names` of deploy/store, on one of the places."""
        place = self.places[number % len(self.places)]
        chosen = [line for name in names for line in _lines(CONFIGURATIONS / name)]
        words = [word for name, value in chosen for word in (f"--{name}", value)]
        reach = ["--bind", place.address, "--protected-mode", "no" if place.prefix else "yes"]
        return Node(program, self.folder, [*words, "--appendfsync", fsync, *reach, "--loglevel", "notice"], place)

    def await_up(self) -> None:
        """Wait until all nodes answer."""
        for node in self.nodes:
            wait_for(node.is_up, node.said)

    def at(self, address: tuple[str, int]) -> Node:
        """The node that listens there."""
        return next(node for node in self.nodes if node.port == address[1])

    def remove(self) -> None:
        """kill -9 of all, and no data is left."""
        for node in self.nodes:
            node.kill()
            node.client.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Watched(_Several):
    """A master with two replicas, and three sentinels that watch them."""

    def __init__(self, kind: str = "valkey", fsync: str = "everysec", places: Sequence[Place] = HERE) -> None:
        super().__init__(places)
        program = servers.program(kind)
        self.servers = [self.node(program, number, "node.conf", fsync=fsync) for number in range(3)]
        for replica in self.servers[1:]:
            replica.words += ["--replicaof", self.servers[0].address.replace(":", " ")]
        self.sentinels = [self._sentinel(program, places[number % len(places)]) for number in range(3)]
        self.nodes = [*self.servers, *self.sentinels]

    @property
    def url(self) -> str:
        """The address by its sentinels."""
        hosts = ",".join(each.address for each in self.sentinels)
        return f"redis+sentinel://{hosts}/marias"

    def start(self) -> "Watched":
        """Start all, and wait until each knows the others."""
        for node in self.servers:
            node.start()
        wait_for(lambda: followers(self.servers[0].client) == 2, self.servers[0].said)
        for node in self.sentinels:  # They ask the master for its replicas at once, and then every ten seconds.
            node.start()
        self.await_up()
        self.await_known()
        return self

    def master(self) -> Node:
        """The server that the sentinels call the master."""
        for each in self.sentinels:
            with suppress(RedisError, OSError):
                return self.at(each.client.sentinel_get_master_addr_by_name("marias"))
        raise AssertionError("no sentinel answers")

    def heal(self) -> None:
        """Start again what is not running, and wait until two replicas follow the master."""
        for node in self.nodes:
            if node.process is None:
                node.start()
        wait_for(lambda: followers(self.master().client) == 2, self.master().said)

    def forget(self) -> None:
        """Let the sentinels forget who is away; they find the others again at once, and each other in seconds."""
        for each in self.sentinels:
            each.client.execute_command("SENTINEL", "RESET", "marias")

    def await_known(self) -> None:
        """Wait until each sentinel knows the others and two replicas."""
        for each in self.sentinels:
            wait_for(lambda each=each: self._knows_all(each), each.said)

    def _knows_all(self, sentinel: Node) -> bool:
        state = sentinel.client.sentinel_masters()["marias"]
        return bool(state["num-other-sentinels"] == 2 and state["num-slaves"] == 2)

    def _sentinel(self, program: Path, place: Place) -> Node:
        """Its file is written by itself, so each has a copy; the words of a command line would be lost."""
        node = Node(program, self.folder, [], place)
        file = node.folder / "sentinel.conf"
        text = (CONFIGURATIONS / "sentinel.conf").read_text()
        text = text.replace("127.0.0.1 6379", self.servers[0].address.replace(":", " "))
        reach = f"bind {place.address}\nprotected-mode {'no' if place.prefix else 'yes'}"
        file.write_text(f"{text}\nport {node.port}\ndir {node.folder}\n{reach}\n")
        node.words += [str(file), "--sentinel"]
        return node


class Clustered(_Several):
    """A cluster of three masters with `replicas` each."""

    def __init__(
        self, kind: str = "valkey", replicas: int = 2, fsync: str = "everysec", places: Sequence[Place] = HERE
    ) -> None:
        super().__init__(places)
        program = servers.program(kind)
        self.replicas = replicas
        for number in range(3 * (1 + replicas)):
            # A master and its replicas each at another place.
            node = self.node(program, number + number // 3, "node.conf", "cluster.conf", fsync=fsync)
            node.words += ["--cluster-port", str(free_port())]
            self.nodes.append(node)

    @property
    def url(self) -> str:
        """The address by a master and two replicas of others."""
        return f"redis+cluster://{','.join(each.address for each in self.nodes[::4])}"

    def start(self) -> "Clustered":
        """Start all, introduce them to each other, share the slots and appoint the replicas."""
        for node in self.nodes:
            node.start()
        self.await_up()
        first, *others = self.nodes
        for number, node in enumerate(self.nodes):
            node.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in self.nodes[:3]:
            number = self.nodes.index(node)
            node.client.execute_command(
                "CLUSTER", "ADDSLOTSRANGE", number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1
            )
        for node in others:
            bus = int(node.words[node.words.index("--cluster-port") + 1])
            first.client.execute_command("CLUSTER", "MEET", node.place.address, node.port, bus)
        for node in self.nodes:
            wait_for(lambda node=node: len(table(node)) == len(self.nodes), node.said)
        for number, node in enumerate(self.nodes[3:]):
            master = identity(self.nodes[number % 3])
            wait_for(lambda node=node, master=master: replicate(node, master), node.said)
        self.await_whole()
        return self

    def masters(self) -> list[Node]:
        """The masters that live."""
        living = [node for node in self.nodes if node.process is not None and node.is_up()]
        return [node for node in living if node.client.info("replication")["role"] == "master"]

    def master_of(self, key: str) -> Node:
        """The master that has the slot of `key`."""
        for node in self.nodes:
            if node.process is None or not node.is_up():
                continue
            slot = node.client.execute_command("CLUSTER", "KEYSLOT", key)
            for start, end, master, *_ in node.client.execute_command("CLUSTER", "SLOTS"):
                if start <= slot <= end:
                    return self.at((master[0], master[1]))
        raise AssertionError(f"nobody has {key}")

    def heal(self) -> None:
        """Start again what is not running, and wait until the cluster is whole."""
        for node in self.nodes:
            if node.process is None:
                node.start()
        self.await_up()
        self.await_whole()

    def await_whole(self) -> None:
        """Wait until each node says that all is well, and each master has its replicas."""
        for node in self.nodes:
            wait_for(lambda node=node: "cluster_state:ok" in text_of(node, "CLUSTER", "INFO"), node.said)
        wait_for(
            lambda: sum(followers(node.client) for node in self.masters()) == len(self.nodes) - 3,
            self.nodes[0].said,
        )


def followers(client: Redis) -> int:
    """How many replicas are up to date with a server."""
    try:
        info = client.info("replication")
    except (RedisError, OSError):
        return -1
    slaves = [value for name, value in info.items() if name.startswith("slave") and isinstance(value, dict)]
    return sum(each["state"] == "online" for each in slaves) if info["role"] == "master" else -1


def text_of(node: Node, *words: str) -> str:
    """A textual answer of a node."""
    answer = node.client.execute_command(*words)
    return answer.decode() if isinstance(answer, bytes) else str(answer)


def table(node: Node) -> list[str]:
    """What a node knows of the cluster, a line for each node that has shaken hands."""
    client = Redis(node.place.address, node.port, socket_timeout=5, retry=None, decode_responses=True)
    client.response_callbacks.pop("CLUSTER NODES", None)
    try:
        lines = str(client.execute_command("CLUSTER NODES")).splitlines()
    finally:
        client.close()
    return [line for line in lines if "handshake" not in line]


def identity(node: Node) -> str:
    """The name of a node in its cluster."""
    return text_of(node, "CLUSTER", "MYID")


def replicate(node: Node, master: str) -> bool:
    """Make `node` a replica, once it knows the master."""
    try:
        node.client.execute_command("CLUSTER", "REPLICATE", master)
    except RedisError:
        return False
    return True


def own_line(node: Node) -> str:
    """What a node says of itself."""
    return next(line for line in table(node) if "myself" in line)


def move_key_by_key(cluster: Clustered, key: str) -> None:
    """Move the slot of `key` to another master as servers of all versions can."""
    source = cluster.master_of(key)
    target = next(each for each in cluster.masters() if each is not source)
    slot = source.client.execute_command("CLUSTER", "KEYSLOT", key)
    target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", identity(source))
    source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", identity(target))
    while found := source.client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10):
        source.client.execute_command("MIGRATE", target.place.address, target.port, "", 0, 5000, "KEYS", *found)
        time.sleep(0.02)
    for each in (target, source):
        each.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", identity(target))


def move_slot(cluster: Clustered, key: str) -> None:
    """Move the slot of `key` to another master, at once where the servers can."""
    source = cluster.master_of(key)
    target = next(each for each in cluster.masters() if each is not source)
    slot = source.client.execute_command("CLUSTER", "KEYSLOT", key)
    if not _moves_at_once(source):
        move_key_by_key(cluster, key)
    else:
        source.client.execute_command(
            "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", identity(target)
        )
    wait_for(lambda: cluster.master_of(key) is target, source.said)


def _moves_at_once(node: Node) -> bool:
    return b"MIGRATESLOTS" in b" ".join(node.client.execute_command("CLUSTER", "HELP")).upper()


def wait_for(is_so: Callable[[], bool], said: Callable[[], str], seconds_max: float = START_SECONDS_MAX) -> None:
    """Wait until it is so. Raises AssertionError with what the node has logged."""
    end = time.monotonic() + seconds_max
    while True:
        with suppress(RedisError, OSError):
            if is_so():
                return
        assert time.monotonic() < end, said()
        time.sleep(0.02)


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """The settings of a file, without its remarks."""
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition(" ")
            yield name, value.strip('"')


KIND = os.environ.get("MARIAS_TEST_TOPOLOGY", "valkey")
"""Which servers the topologies of tests are made of: valkey (what the embedded store is) or redis (the system's)."""

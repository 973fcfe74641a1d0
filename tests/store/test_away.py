"""Words of a server that mean `not now` are never taken for a refusal, wherever in an answer they stand."""

import socket
import threading
import time
from collections.abc import Callable, Iterator

import hiredis
import pytest
from redis import Redis
from redis.exceptions import ResponseError

from services.intake import Submitted, submit
from services.store import scripts
from services.store.append import apply_many
from services.store.connect import connect
from services.store.wire import StoreUnavailable, ask, ask_many
from tests import servers
from tests.store.samples import ANA, TABLE, answer, claim, entry, everything, position

AWAY = {
    "LOADING": "LOADING Redis is loading the dataset in memory",
    "READONLY": "READONLY You can't write against a read only replica.",
    "OOM": "OOM command not allowed when used memory > 'maxmemory'.",
    "MOVED": "MOVED 1 127.0.0.1:7001",
    "ASK": "ASK 1 127.0.0.1:7001",
    "TRYAGAIN": "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN": "CLUSTERDOWN The cluster is down",
    "MASTERDOWN": "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "NOREPLICAS": "NOREPLICAS Not enough good replicas to write.",
    "MISCONF": "MISCONF Errors writing to the AOF file: No space left on device",
    "BUSY": "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "UNBLOCKED": "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    "UNKILLABLE": "UNKILLABLE Sorry the script already executed write commands against the dataset.",
    "stray in Valkey": "ERR Attempted to access a non local key in a cluster node script: on @user_script:31.",
    "down": "ERR Script attempted to execute a write command while the cluster is down and readonly script: 5f",
    "down in Valkey": "ERR Can not execute a command 'hset' while the cluster is down script: on @user_script:31.",
    "stray": "ERR Script attempted to access a non local key in a cluster node script: 5f, on @user_script:16.",
}
OUTSIDE = [pytest.param(text, id=word) for word, text in AWAY.items()]
INSIDE = [
    pytest.param(f"{AWAY[word]} script: 5f3c, on @user_script:16.", id=f"{word} quoted at the end")
    for word in ("READONLY", "OOM", "NOREPLICAS", "MISCONF")
] + [
    pytest.param(f"ERR Error running script (call to f_5f3c): @user_script:16: {minus}{AWAY[word]}", id=name)
    for word in ("READONLY", "OOM", "NOREPLICAS", "MISCONF")
    for minus, name in (("-", f"{word} in the middle"), ("@user_script: 16: -", f"{word} further in the middle"))
]
AT_FAULT = {
    "WRONGTYPE": "WRONGTYPE Operation against a key holding the wrong kind of value",
    "ERR": "ERR unknown command 'FROB'",
    "NOPERM": "NOPERM this user has no permissions to run the 'evalsha' command",
    "BUSYGROUP": "BUSYGROUP Consumer Group name already exists",
    "WRONGTYPE inside": "WRONGTYPE Operation against a key with the wrong kind of value script: 5f, on @user_script:9",
    "arithmetic": "ERR Error running script (call to f_5f): @user_script:8: attempt to call a nil value",
}


class Saying:
    """A server that answers everything with the same error, but for what the library tells when it connects."""

    def __init__(self, error: str) -> None:
        self._answer = f"-{error}\r\n".encode()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer_all, args=(peer,), daemon=True).start()

    def _answer_all(self, peer: socket.socket) -> None:
        requests = hiredis.Reader(notEnoughData=None)
        with peer:
            while data := peer.recv(65536):
                requests.feed(data)
                while (request := requests.gets()) is not None:
                    peer.sendall(b"+OK\r\n" if request[0] == b"CLIENT" else self._answer)

    def close(self) -> None:
        """Answer nobody any more."""
        self._socket.close()


@pytest.fixture
def saying(request: pytest.FixtureRequest) -> Iterator[Redis]:
    """A store that answers everything with the error of the test."""
    server = Saying(request.param)
    client = connect(server.url)
    yield client
    client.close()
    server.close()


def _ask(store: Redis) -> object:
    return ask(store, "HGET", "key", "field")


def _ask_many(store: Redis) -> object:
    [reply] = ask_many(store, [("HGET", "key", "field")])
    if isinstance(reply, ResponseError):
        raise reply
    return reply


def _run(store: Redis) -> object:
    return scripts.run(store, scripts.load("renew"), ("key",), ("fence", 1))


def _submit(store: Redis) -> object:
    return submit(store, Submitted(TABLE, ANA, "", "k1", {"type": "good"}))


WAYS = pytest.mark.parametrize("way", [_ask, _ask_many, _run, _submit])


@WAYS
@pytest.mark.parametrize("saying", [*OUTSIDE, *INSIDE], indirect=True)
def test_a_server_that_cannot_just_now_is_away(saying: Redis, way: Callable[[Redis], object]) -> None:
    with pytest.raises(StoreUnavailable):
        way(saying)


@WAYS
@pytest.mark.parametrize("saying", [pytest.param(text, id=word) for word, text in AT_FAULT.items()], indirect=True)
def test_a_request_at_fault_is_not_asked_again(saying: Redis, way: Callable[[Redis], object]) -> None:
    with pytest.raises(ResponseError):
        way(saying)


@pytest.fixture(params=["valkey", "redis"])
def own_server(request: pytest.FixtureRequest) -> Iterator[servers.Server]:
    """A server of the test's own, to be brought into a bad state."""
    server = servers.Server(servers.program(request.param))
    server.start()
    yield server
    server.remove()


def _without_replicas(store: Redis) -> None:
    store.config_set("min-replicas-to-write", 1)


def _as_replica(store: Redis) -> None:
    store.execute_command("REPLICAOF", "127.0.0.1", "1")


def _full(store: Redis) -> None:
    store.config_set("maxmemory", "1")


@pytest.mark.server
@pytest.mark.parametrize("spoil", [_without_replicas, _as_replica, _full])
def test_what_a_real_server_says_inside_a_script_is_no_refusal(
    own_server: servers.Server, spoil: Callable[[Redis], None]
) -> None:
    store = connect(own_server.url)
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    before = everything(store)
    spoil(store)
    with pytest.raises(StoreUnavailable):
        submit(store, Submitted(TABLE, ANA, "", "k1", {"type": "good"}))
    for write in (entry(position(lease, 2), 1), answer(position(lease, 2), 1)):
        with pytest.raises(StoreUnavailable):
            apply_many(store, [write])
    assert everything(store) == before
    store.close()


@pytest.mark.server
def test_a_server_that_runs_somebodys_long_script_is_away(own_server: servers.Server) -> None:
    store, other = connect(own_server.url), connect(own_server.url)
    store.config_set("busy-reply-threshold", 1)

    def hog() -> None:
        with pytest.raises(ResponseError):
            other.eval("while true do end", 0)

    def ask_on() -> None:
        """Until the script has been running for longer than the threshold."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ask(store, "GET", "key")

    thread = threading.Thread(target=hog)
    thread.start()
    with pytest.raises(StoreUnavailable, match="BUSY"):
        ask_on()
    store.execute_command("SCRIPT", "KILL")
    thread.join()
    store.close()
    other.close()

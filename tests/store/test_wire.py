"""Which failures mean `ask again`, and that nothing is ever sent twice behind the caller's back."""

import os
import threading
import time

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, ResponseError

from services.store import keys, scripts
from services.store.append import apply_many
from services.store.connect import connect, patiently
from services.store.wire import StoreUnavailable, ask, ask_all, ask_many
from tests import servers
from tests.store.samples import TABLE, claim, entry, everything, position


@pytest.mark.server
def test_a_killed_server_is_unavailable_and_keeps_every_applied_command(own_server: servers.Server) -> None:
    store = connect(own_server.url)
    lease = claim(store)
    first, second = entry(position(lease, 1), 0), entry(position(lease, 2), 1)
    apply_many(store, [first])
    before = everything(store)
    own_server.kill()
    with pytest.raises(StoreUnavailable):
        apply_many(store, [second])
    own_server.start()
    assert patiently(lambda: everything(store), 60.0) == before
    assert [result.status for result in apply_many(store, [first, second])] == ["behind", "applied"]
    store.close()


@pytest.mark.server
def test_a_connection_that_broke_while_idle_is_noticed(own_server: servers.Server) -> None:
    store = connect(own_server.url)
    assert ask(store, "PING") == b"PONG"
    own_server.kill()
    own_server.start()
    time.sleep(1.1)  # Longer than a connection is trusted.
    assert ask(store, "PING") == b"PONG"
    store.close()


@pytest.mark.server
def test_a_stalled_server_is_asked_once(own_server: servers.Server) -> None:
    """The library left alone would send the write again after its time-out, and write twice."""
    store = connect(own_server.url)
    store.connection_pool.connection_kwargs["socket_timeout"] = 0.2
    other = connect(own_server.url)
    other.execute_command("CLIENT", "PAUSE", "600000", "WRITE")
    with pytest.raises(StoreUnavailable):
        ask(store, "XADD", "stalled", "*", "a", "b")
    other.execute_command("CLIENT", "UNPAUSE")
    assert patiently(lambda: ask(other, "XADD", "stalled", "*", "c", "d"), 60.0)
    assert other.xlen("stalled") <= 2
    store.close()
    other.close()


@pytest.mark.server
def test_a_full_server_is_away_and_writes_nothing(own_server: servers.Server) -> None:
    store = connect(own_server.url)
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    before = everything(store)
    store.config_set("maxmemory", "1")
    with pytest.raises(StoreUnavailable, match="memory"):
        apply_many(store, [entry(position(lease, 2), 1)])
    store.config_set("maxmemory", "0")
    assert everything(store) == before
    store.close()


@pytest.mark.server
def test_a_wrong_password_is_not_worth_waiting_for(own_server: servers.Server) -> None:
    with connect(own_server.url) as admin:
        admin.config_set("requirepass", "secret")
        stranger = connect(own_server.url.replace("unix://", "unix://:wrong@"))
        with pytest.raises(AuthenticationError):
            ask(stranger, "PING")
        stranger.close()


def test_replies_stay_apart_when_many_ask_at_once(store: Redis) -> None:
    wrong: list[object] = []

    def work(name: int) -> None:
        for count in range(40):
            told = ask_many(store, [("ECHO", f"{name}"), ("NOSUCH",), ("ECHO", f"{count}")])
            if (told[0], told[2]) != (b"%d" % name, b"%d" % count) or not isinstance(told[1], ResponseError):
                wrong.append(told)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_where_none_may_be_at_fault_the_first_that_is_is_raised(store: Redis) -> None:
    assert ask_all(store, [("ECHO", "a"), ("ECHO", "b")]) == [b"a", b"b"]
    with pytest.raises(ResponseError, match=r"(?i)first"):
        ask_all(store, [("ECHO", "a"), ("FIRST",), ("SECOND",)])
    script = scripts.load("claim")
    with pytest.raises(ResponseError):
        scripts.run_all(store, script, [scripts.Call((), ())])


@pytest.mark.server
def test_a_forked_child_does_not_talk_on_its_parents_connection(server_url: str) -> None:
    store = connect(server_url)
    mine = ask(store, "CLIENT", "ID")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"%d" % ask(store, "CLIENT", "ID"))
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reading, 20)) != mine
    assert ask(store, "CLIENT", "ID") == mine
    os.close(reading)
    os.close(writing)
    store.close()


def test_waiting_ends(store: Redis) -> None:
    def away() -> None:
        raise StoreUnavailable("never back")

    with pytest.raises(StoreUnavailable):
        patiently(away, 0.05)


def test_nothing_to_ask_is_no_round_trip(store: Redis) -> None:
    assert ask_many(store, []) == []
    assert not store.exists(keys.events(TABLE))

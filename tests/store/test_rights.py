"""Whoever takes commands in and reads views needs no right to events, snapshots or receipts: the server can tell."""

from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError, ResponseError

from services.intake import Submitted, submit
from services.store import channels, keys, leases, views
from services.store.append import apply_many
from services.store.connect import connect
from services.store.wire import ask
from tests import servers
from tests.store.samples import ANA, EVENTS, PARTITION, RECEIPTS, TABLE, claim, entry, position

# Keys are named by what may be written (~), and what may only be read (%R~).
OUTSIDE = (
    *("~m:*:cmd", "~m:*:in:*", "%R~m:*:dd:*", "%R~m:*:vw:*", "%R~m:*:fd:*", "%R~m:*:tables", "%R~m:*:st"),
    *("resetchannels", "&m:*:push", "&m:*:bell", "-@all", "+@read", "+@write", "+@pubsub", "+@connection"),
    *("+evalsha", "+script|load", "-@dangerous", "-@admin"),
)


@pytest.fixture(params=["valkey", "redis"])
def server(request: pytest.FixtureRequest) -> Iterator[servers.Server]:
    """A server of the test's own, as users of a shared one would stay behind."""
    own = servers.Server(servers.program(request.param))
    own.start()
    yield own
    own.remove()


@pytest.fixture
def owner(server: servers.Server) -> Iterator[Redis]:
    """Somebody who may do all, and has made a table."""
    client = connect(server.url)
    client.execute_command("ACL", "SETUSER", "outside", "on", ">secret", *OUTSIDE)
    apply_many(client, [entry(position(claim(client), 1, key="open"), 0)])
    yield client
    client.close()


@pytest.fixture
def outside(owner: Redis, server: servers.Server) -> Iterator[Redis]:
    """The rights of an API node."""
    client = connect(server.url.replace("unix://", "unix://outside:secret@"))
    yield client
    client.close()


def test_an_api_node_takes_commands_in_reads_views_and_listens(owner: Redis, outside: Redis) -> None:
    ears = channels.Ears(outside)
    ears.listen([keys.push(PARTITION)])
    for _ in range(2):
        taken = submit(outside, Submitted(TABLE, ANA, "", "k1", {"type": "good"}))
    assert taken.status == "dup"
    assert views.receipt(outside, TABLE, ANA, "k1") == {"s": "queued"}
    assert views.current(outside, TABLE) == views.current(owner, TABLE)
    assert views.feed(outside, TABLE, 0, 9) == views.feed(owner, TABLE, 0, 9)
    owner.publish(keys.push(PARTITION), "heard")
    assert [message.data for message in ears.hear(1.0)] == [b"heard"]
    ears.close()


FORBIDDEN = [
    pytest.param(("XRANGE", EVENTS, "-", "+"), id="read events"),
    pytest.param(("XADD", EVENTS, "9-0", "e", "[]"), id="write events"),
    pytest.param(("HGETALL", keys.snapshot(TABLE)), id="read a snapshot"),
    pytest.param(("HSET", RECEIPTS, "x", "{}"), id="write a receipt"),
    pytest.param(("HSET", keys.view(TABLE), "v", 9), id="write a view"),
    pytest.param(("HSET", keys.state(PARTITION), "cur", "9-0"), id="move the cursor"),
    pytest.param(("SADD", keys.tables(PARTITION), "t"), id="make a table up"),
    pytest.param(("SET", keys.lease(PARTITION), "1:me"), id="take a lease"),
    pytest.param(("XRANGE", keys.dead(PARTITION), "-", "+"), id="read dead letters"),
    pytest.param(("HGETALL", keys.sealed_records(TABLE)), id="read whole records"),
    pytest.param(("SUBSCRIBE", "elsewhere"), id="listen elsewhere"),
    pytest.param(("KEYS", "*"), id="list all keys"),
    pytest.param(("CONFIG", "GET", "*"), id="read the configuration"),
]


@pytest.mark.parametrize("request_", FORBIDDEN)
def test_an_api_node_cannot(outside: Redis, request_: tuple[str | int, ...]) -> None:
    with pytest.raises(NoPermissionError):
        ask(outside, *request_)


def test_a_script_gives_an_api_node_no_further_rights(owner: Redis, outside: Redis) -> None:
    digest = owner.script_load("return redis.call('XRANGE', ARGV[1], '-', '+')")
    with pytest.raises(ResponseError, match=r"permission|access"):
        ask(outside, "EVALSHA", digest, 0, EVENTS)
    stolen = leases.Lease(owner.get(keys.lease(PARTITION)).decode(), "0-0", False)
    [result] = apply_many(outside, [entry(position(stolen, 2), 1)])
    assert result.status == "broken"
    assert owner.xlen(EVENTS) == 1

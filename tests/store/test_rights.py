"""What the user of each role may do at the store: every command the server knows, on every kind of key, and no more."""

from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError, ResponseError

from services.intake import Submitted, submit
from services.store import asking, audited, channels, keys, leases, log_keys, rights, routing, views
from services.store.append import apply_many
from services.store.connect import connect
from services.store.wire import ask, ask_many
from tests import servers
from tests.store.samples import ANA, EVENTS, PARTITION, RECEIPTS, TABLE, claim, entry, position

PLAYER = "u-0a-0123456789abcdef"
KINDS = {
    "cmd": keys.commands(PARTITION), "log": keys.log(PARTITION), "due": keys.due(PARTITION),
    "tables": keys.tables(PARTITION), "lease": keys.lease(PARTITION), "st": keys.state(PARTITION),
    "dlq": keys.dead(PARTITION), "dlh": keys.ended(PARTITION), "in": keys.reservations(TABLE),
    "dd": keys.receipts(TABLE), "ev": keys.events(TABLE), "fd": keys.feed(TABLE), "vw": keys.view(TABLE),
    "sn": keys.snapshot(TABLE), "acct": keys.account(PLAYER), "tr": keys.transfers(PLAYER),
    "post": keys.postings(PLAYER), "buys": keys.buy_ins(PARTITION), "hd": keys.handled(PARTITION),
    "stuck": keys.stuck(PARTITION), "roll": keys.workers(), "fold": keys.fold(TABLE), "frozen": keys.frozen(PARTITION),
    "bank": keys.bank(TABLE), "rec": keys.records(TABLE), "sec": keys.sealed_records(TABLE),
    "score": keys.score(PLAYER), "bal": keys.balance(PLAYER), "lobby": keys.lobby(), "order": keys.lobby_order(),
    "rl": keys.rates(PARTITION), "arch": keys.archived(PARTITION), "todo": keys.unarchived(PARTITION),
    "sum": keys.tallies(), "made": keys.installation(), "seen": keys.workers_seen(), "gaps": keys.workers_gaps(),
    "versions": keys.lobby_versions(), "cp": keys.checkpoint(f"p{PARTITION}"), "lobby_cp": keys.checkpoint("lobby"),
    "hold": keys.hold(f"p{PARTITION}"), "fresh": keys.scratch(keys.bank(TABLE)), "queue": "rq:queue:bots",
    "logs": log_keys.state(), "logs_stuck": log_keys.stuck(), "leaves": log_keys.leaves(),
    "of": log_keys.table(TABLE), "nodes": log_keys.nodes(0, 0), "unl": keys.unlogged(PARTITION),
    "audited": audited.LAST, "audit_lock": audited.LOCK,
    "mark": routing.mark(f"p{PARTITION}"), "mine": "somebody:elses",
}
"""A real name of each kind of key, and one that is none of ours."""
TABLES = (
    "cmd log due tables lease st dlq dlh in rl dd ev fd vw sn arch todo unl acct tr post buys hd stuck roll sum seen"
    " gaps made mark logs logs_stuck leaves of nodes"
)
LOG = "logs logs_stuck leaves of nodes"
PROJECTED = "fold frozen bank rec sec score bal lobby order versions cp lobby_cp hold"

CLIENTS = "st dd tables vw fd"
MAY_READ = {
    "api": f"{CLIENTS} {LOG} audited lease log hd sum acct tr post roll cp fold frozen bank rec score bal lobby order",
    "push": CLIENTS,
    "worker": "",
    "projector": "ev vw tables due st audited",
    "jobs": CLIENTS,
    "archive": "tables",
    "auditor": "dlq sec ev vw arch bank rec",
    "audit": f"ev vw fd sn dd in tables arch acct tr post buys hd log {PROJECTED} {LOG}",
    "status": "log tables lease st hd cp frozen roll sum queue logs logs_stuck audited",
    "operator": f"{TABLES} audited audit_lock queue",
}
MAY_READ_AND_WRITE = {
    "api": "cmd in rl mark",
    "push": "cmd in rl mark",
    "worker": f"{TABLES} audited audit_lock",
    "projector": f"mark log hd stuck buys todo unl {LOG} arch acct tr post {PROJECTED} queue",
    "jobs": "cmd in rl queue mark",
    "archive": "mark ev sn arch todo fold hold bank rec sec",
    "auditor": "",
    "audit": "audited audit_lock mark",
    "status": "cmd",
    "operator": f"cmd in rl mark {LOG} dlq dlh arch {PROJECTED} fresh",
}
MAY_READ["front"], MAY_READ_AND_WRITE["front"] = MAY_READ["api"], MAY_READ_AND_WRITE["api"]
NO_CLIENT_READS = ("ev", "sn", "sec", "dlq", "dlh", "queue", "fresh", "due", "buys", "stuck", "arch", "unl")
DANGEROUS = (
    "keys", "flushall", "flushdb", "debug", "config|set", "shutdown", "acl|setuser", "acl|getuser", "acl|list", "save",
    "monitor", "eval", "function|load", "script|flush", "replicaof", "migrate", "restore", "dump", "sort",
    "client|kill", "psubscribe", "swapdb", "move", "cluster|failover",
)
INTAKE = "evalsha hget hset hincrby pttl pexpire sismember xlen xtrim xadd xrevrange"
QUEUE = (
    "get set setex del exists expire persist lpush rpush lpop blpop lrem llen lrange lmove blmove lpos hset hget"
    " hgetall hmget hdel hexists hincrby hsetnx sadd srem smembers scard sismember zadd zrem zscore zcard zrange"
    " zrangebyscore zremrangebyscore zremrangebyrank hincrbyfloat rename xread xlen xadd xrevrange watch"
)
PROCESSES = (
    "evalsha get set del exists hget hmget hset hdel hlen hgetall hexists hincrby hsetnx smembers xread xrange"
    " xrevrange xlen xadd xtrim zadd zrem zcard zrange zrangebyscore zrangebylex zrevrangebylex"
)
COMMANDS = {  # Those that take keys.
    "api": f"{INTAKE} hmget xrange exists get getrange hgetall hlen scard xread zrange zrangebyscore zrangebylex"
           " zrevrangebylex",
    "push": f"{INTAKE} hmget xrange",
    "worker": "evalsha get set del exists pexpire pttl lpush ltrim lrange hget hmget hset hsetnx hdel hincrby hlen"
              " hgetall hexists xadd xlen xrange xrevrange xread xtrim sadd scard sismember smembers"
              " zadd zrem zcard zrange zrangebyscore zremrangebyscore",
    "projector": f"{PROCESSES} {QUEUE} getrange setrange strlen",
    "jobs": f"{INTAKE} hmget xrange {QUEUE}",
    "archive": "evalsha exists hdel hget hgetall hset smembers xrange xrevrange xtrim zadd zrange zrem zscore",
    "auditor": "evalsha hget hmget xrange xrevrange",
    "audit": "evalsha get set del exists hget hset hmget hgetall hexists hlen hscan smembers sismember xrange xrevrange"
             " xlen zscore zcard getrange",
    "status": "evalsha get hget hlen hgetall scard srandmember xlen xrange zcard zrange llen lindex",
    "operator": f"{PROCESSES} unlink rename xdel sismember hstrlen memory|usage srandmember llen lindex"
                " getrange setrange strlen",
}
COMMON = (
    "ping select time info wait role script|load client|setname client|info command cluster|slots cluster|shards"
    " cluster|nodes readonly asking auth hello quit reset"
)
LISTEN = "publish subscribe unsubscribe spublish ssubscribe sunsubscribe"
LISTENERS = ("api", "push", "front", "worker", "auditor", "operator")
KEYLESS = {
    "projector": "publish unwatch multi exec client|list", "jobs": "publish spublish unwatch multi exec client|list",
    "status": "config|get", "audit": "scan", "operator": "scan config|get",
}
COMMANDS["front"] = COMMANDS["api"]
LOOKS = {  # Commands that only read. Of all others it is taken that they write.
    "hget", "hmget", "hgetall", "hlen", "hexists", "hstrlen", "exists", "get", "xrange", "xrevrange", "xlen", "xread",
    "scard", "sismember", "smembers", "zcard", "zrange", "zrangebyscore", "zrangebylex", "zrevrangebylex", "zscore",
    "llen", "lindex", "srandmember", "lrange", "lpos", "memory|usage", "watch", "pttl", "getrange", "strlen",
    "hscan",
}


@pytest.fixture(params=["valkey", "redis"], scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[servers.Server]:
    """A server of the test's own, as users of a shared one would stay behind."""
    own = servers.Server(servers.program(request.param))
    own.start()
    yield own
    own.remove()


@pytest.fixture(scope="module")
def owner(server: servers.Server) -> Iterator[Redis]:
    """Somebody who may do all, has made a user for each role, and a table."""
    client = connect(server.url)
    for role in (*rights.ROLES, rights.OWNER):
        client.execute_command("ACL", "SETUSER", role, *rights.words(role, "secret"))
    apply_many(client, [entry(position(claim(client), 1, key="open"), 0)])
    yield client
    client.close()


@pytest.fixture(scope="module")
def outside(owner: Redis, server: servers.Server) -> Iterator[Redis]:
    """The rights of an API node."""
    client = connect(server.url.replace("unix://", "unix://api:secret@"))
    yield client
    client.close()


def commands_of(client: Redis) -> list[str]:
    """Every command the server knows, a part of a command as `command|part`."""
    return sorted(name.decode() for name in ask(client, "COMMAND", "LIST"))


def spelt(client: Redis, names: list[str], key: str) -> dict[str, tuple[str, ...]]:
    """Each command with `key` in every place where it takes one, so that the server finds just that key in it."""
    found = {}
    for name in names:
        words = name.split("|")
        [about] = ask(client, "COMMAND", "INFO", name)
        arity = abs(about[1])
        tries = [
            (*words, *[key] * max(0, arity - len(words) + more)) for more in range(4)
        ] + [
            (*words, "x", "1", key, key), (*words, "1", key, key, key), (*words, "1", key, "LEFT"),
            (*words, "0", "1", key, "LEFT"), (*words, key, "1", key), (*words, "COUNT", "1", "STREAMS", key, "0-0"),
            (*words, "GROUP", "g", "c", "STREAMS", key, "0-0"), (*words, key, key, "1", key),
        ]
        asked = ask_many(client, [("COMMAND", "GETKEYS", *each) for each in tries])
        good = [each for each, keys_ in zip(tries, asked, strict=True)
                if isinstance(keys_, list) and set(keys_) == {key.encode()}]
        if good:
            found[name] = good[0]
    return found


def may(client: Redis, role: str, words: tuple[str, ...]) -> bool:
    return ask(client, "ACL", "DRYRUN", role, *words) == b"OK"


@pytest.fixture(scope="module")
def shapes(owner: Redis) -> dict[str, tuple[str, ...]]:
    """Every command that takes keys, with @ in the place of each."""
    return spelt(owner, commands_of(owner), "@")


def apart(role: str) -> set[tuple[str, str]]:
    """What a role may do with a kind of key by one command alone."""
    if role in ("api", "front"):
        return {("xlen", "dlq"), ("hlen", "stuck"), ("llen", "queue"), ("lindex", "queue")}
    if role == "status":
        own = set(TABLES.split()) - {"roll", "sum", "seen", "gaps", "made"} - set(LOG.split())
        return {("xlen", "dlq"), ("hlen", "stuck")} | {("memory|usage", kind) for kind in own}
    return set()


def test_no_command_on_any_key_is_allowed_beyond_the_list(owner, shapes):
    assert len(shapes) > 180
    assert {word for each in COMMANDS.values() for word in each.split()} <= set(shapes), "unknown to the server"
    for role in rights.ROLES:
        listed, reads, both = (set(each[role].split()) for each in (COMMANDS, MAY_READ, MAY_READ_AND_WRITE))
        asked = [(name, kind) for name in shapes for kind in KINDS]
        replies = ask_many(owner, [
            ("ACL", "DRYRUN", role, *(KINDS[kind] if word == "@" else word for word in shapes[name]))
            for name, kind in asked
        ])
        allowed = {each for each, reply in zip(asked, replies, strict=True) if reply == b"OK"}
        expected = {
            (name, kind) for name, kind in asked
            if name in listed and (kind in both or (kind in reads | {"made"} and name in LOOKS))
        } | apart(role)
        assert allowed == expected


def test_no_command_without_a_key_is_allowed_beyond_the_list(owner, shapes):
    known = ask_many(owner, [("COMMAND", "INFO", name) for name in commands_of(owner) if name not in shapes])
    alone = [(about[0].decode(), abs(about[1])) for [about] in known if not about[9]]  # The others have parts.
    requests = {name: [*name.split("|"), *["x"] * (arity - name.count("|") - 1)] for name, arity in alone}
    assert len(requests) > 100
    for role in rights.ROLES:
        keyless = set(COMMON.split()) | (set(LISTEN.split()) if role in LISTENERS else set())
        keyless |= set(KEYLESS.get(role, "").split())
        for name, words in requests.items():
            is_granted = name in keyless or name.partition("|")[0] in keyless
            assert may_not(owner, role, words) != is_granted, (role, name)


def may_not(client: Redis, role: str, words: list[str]) -> bool:
    """Is it the command itself that the role may not run? Its channels are looked at below."""
    return "no permissions to run" in str(ask_many(client, [("ACL", "DRYRUN", role, *words)])[0])


@pytest.mark.parametrize("role", sorted(rights.ROLES))
def test_no_role_may_do_what_ends_or_opens_the_store(role):
    granted = rights.ROLES[role].commands
    assert not granted & set(DANGEROUS)


@pytest.mark.parametrize("role", ["api", "push", "front"])
def test_who_serves_clients_reads_no_events_no_snapshots_no_sealed_records_and_no_dead_letters(owner, role):
    for kind in NO_CLIENT_READS:
        for words in (("XRANGE", KINDS[kind], "-", "+"), ("HGETALL", KINDS[kind]), ("GET", KINDS[kind])):
            assert not may(owner, role, words), (kind, words)


def test_the_owner_may_do_all_and_a_caller_without_a_name_may_only_ask_whether_it_is_there(owner):
    assert may(owner, rights.OWNER, ("FLUSHALL",))
    owner.execute_command("ACL", "SETUSER", "nobody", *rights.nobody().split(" ")[2:])
    for words in (("GET", "x"), ("INFO",), ("ACL", "WHOAMI"), ("SHUTDOWN",), ("CONFIG", "GET", "*")):
        assert not may(owner, "nobody", words)
    assert may(owner, "nobody", ("PING",))


@pytest.mark.parametrize("role", sorted(rights.ROLES))
def test_a_role_hears_and_tells_on_its_own_channels_only(owner, role):
    named = {"push": keys.push(PARTITION), "bell": keys.bell(PARTITION), "workers": keys.workers_bell(),
             "records": asking.QUESTIONS, "answers": asking.answers("ab"), "other": "elsewhere", "rq": "rq:pubsub:x"}
    own = {"api": "push bell records answers", "front": "push bell records answers", "push": "push bell",
           "worker": "push bell workers", "jobs": "bell rq", "auditor": "records answers", "operator": "bell"}
    for name, channel in named.items():
        assert may(owner, role, ("PUBLISH", channel, "x")) == (name in own.get(role, "").split()), (name, channel)


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
    owner.set(keys.lease(PARTITION), "1:me")
    stolen = leases.Lease("1:me", "0-0", False)
    [result] = apply_many(outside, [entry(position(stolen, 2), 1)])
    assert result.status == "broken"
    assert owner.xlen(EVENTS) == 1

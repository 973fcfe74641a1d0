"""Entries that say nothing of any game: the store must not care."""

from redis import Redis

from services.store import keys, leases
from services.store.append import Answer, Entry, Position

TABLE = "t-1f-00000000000a"
OTHER = "t-1f-00000000000b"  # In the same partition.
PARTITION = "1f"
ANA = "u-0a-00000000000000a1"


def claim(redis: Redis) -> leases.Lease:
    """The lease on the partition of the sample tables."""
    return leases.claim(redis, [PARTITION], "test", ms=600_000)[PARTITION]  # However slow the machine is.


def position(lease: leases.Lease, number: int, *, table: str = TABLE, key: str = "") -> Position:
    """The place of command `number`, counted from 1, of the partition."""
    previous = lease.cursor if number == 1 else command(number - 1)
    return Position(table, lease.fence, previous, command(number), ANA, key or f"k{number}", "fp")


def command(number: int) -> str:
    """The id of command `number`."""
    return f"{1000 + number}-0"


def entry(place: Position, expected: int, **changed: object) -> Entry:
    """An applied command that makes version `expected` + 1 of a table."""
    version = expected + 1
    usual = Entry(
        position=place,
        expected=expected,
        receipt=b'{"v":%d,"f":"fp","s":"applied"}' % version,
        at=1_000 + version,
        events=b'[{"type":"whole","n":%d}]' % version,
        tag="tag",
        hash="hash",
        shown=(b'[{"type":"seen"}]', (None, b'[{"type":"more"}]', None)),
        brief=b'"version":%d' % version,
        private=(b'"seat":0', b'"seat":1', b'"seat":2'),
        about=b'"word":"\xc5\xa1est"',
        who=f"{ANA}||bot:2",
        code="",
        settled=0,
        kinds="bank",
    )
    return usual._replace(**changed)


def answer(place: Position, expected: int | None, **changed: object) -> Answer:
    """A refused command."""
    receipt = b'{"v":%d,"f":"fp","s":"refused","c":"illegal_card"}' % (expected or 0)
    return Answer(place, expected, receipt)._replace(**changed)


def everything(redis: Redis) -> dict[bytes, object]:
    """All keys with their contents, but for the time that a lease has left."""
    return {key: _content(redis, key) for key in sorted(redis.keys("*"))}


def _content(redis: Redis, key: bytes) -> object:
    kind = redis.type(key)
    if kind == b"stream":
        return redis.xrange(key)
    if kind == b"hash":
        return redis.hgetall(key)
    if kind == b"zset":
        return redis.zrange(key, 0, -1, withscores=True)
    return redis.smembers(key) if kind == b"set" else redis.get(key)


RECEIPTS, EVENTS, FEED = keys.receipts(TABLE), keys.events(TABLE), keys.feed(TABLE)

"""Commands as intake wrote them, read by cursor: nothing is claimed and reading writes nothing."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from redis import Redis

from services.store import keys
from services.store.wire import Reply, Request, ask, fields_of, streams_of


class Command(NamedTuple):
    """One command of a partition. `body` is JSON; `if_version` the version its sender insists on."""

    id: str
    aggregate: str
    actor: str
    name: str
    key: str
    fingerprint: str
    body: bytes
    if_version: int | None

    @property
    def at(self) -> int:
        """When it was taken in, milliseconds since the epoch by the store's clock."""
        return int(self.id.partition("-")[0])


def read_commands(
    redis: Redis, cursors: Mapping[str, str], block_ms: int | None = None, count: int = 32
) -> dict[str, list[Command]]:
    """The commands after the cursor of each partition, at most `count` of each, in order, in one round trip.

    With `block_ms` it waits that long for the first one to come.
    """
    return parse(ask(redis, *reading(cursors, block_ms, count)))


def reading(cursors: Mapping[str, str], block_ms: int | None = None, count: int = 32) -> Request:
    """The request of `read_commands`, to be sent along with others."""
    block = () if block_ms is None else ("BLOCK", block_ms)
    return ("XREAD", "COUNT", count, *block, "STREAMS", *map(keys.commands, cursors), *cursors.values())


def parse(reply: Reply) -> dict[str, list[Command]]:
    """The reply to `reading`."""
    return {
        _partition(stream): [_command(id_, fields_of(flat)) for id_, flat in entries]
        for stream, entries in streams_of(reply)
    }


@lru_cache(maxsize=256)
def _partition(stream: bytes) -> str:
    return stream[4:6].decode()


def _command(id_: bytes, fields: dict[bytes, bytes]) -> Command:
    """A forged entry may lack fields: it is for the handler to see that, not for the reader to fall over."""
    aggregate, actor, name, key, fingerprint = (fields.get(each, b"").decode() for each in _TEXTS)
    version = fields.get(b"v")
    if_version = None if version is None else int(version)
    return Command(
        id_.decode(), aggregate, actor, name, key, fingerprint, fields.get(b"b", b""), if_version
    )


_TEXTS = (b"t", b"a", b"n", b"k", b"f")

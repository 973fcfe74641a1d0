"""Commands as intake wrote them, read by cursor: nothing is claimed and reading writes nothing."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from redis import Redis

from services.store import keys
from services.store.topology import is_cluster
from services.store.wire import Reply, Request, ask, ask_all, fields_of, streams_of


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


def read_commands(redis: Redis, cursors: Mapping[str, str], count: int = 32) -> dict[str, list[Command]]:
    """The commands after the cursor of each partition, at most `count` of each, in order, in one round trip.

    Partitions without new commands are left out.
    """
    if not is_cluster(redis):
        return _parse([ask(redis, *_reading(cursors, count))])
    # A cluster reads one slot at a time; the requests still go together.
    replies = ask_all(redis, [_reading({each: cursor}, count) for each, cursor in cursors.items()])
    return _parse(replies)


def heard(message: bytes) -> tuple[str, Command]:
    """A command as its bell tells it, and the id of the one before it in the partition ("0-0": none)."""
    previous, id_, aggregate, actor, name, key, fingerprint, body, version = message.split(b"\1")
    command = Command(
        *(id_.decode(), aggregate.decode(), actor.decode(), name.decode(), key.decode(), fingerprint.decode()),
        body,
        int(version) if version else None,
    )
    return previous.decode(), command


def _reading(cursors: Mapping[str, str], count: int) -> Request:
    return ("XREAD", "COUNT", count, "STREAMS", *map(keys.commands, cursors), *cursors.values())


def _parse(replies: Iterable[Reply]) -> dict[str, list[Command]]:
    return {
        _partition(stream): [_command(id_, fields_of(flat)) for id_, flat in entries]
        for reply in replies
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

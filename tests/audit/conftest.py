"""The town that audits are tried on, built once; what a test does to it is put right again afterwards."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from services.audit import log
from tests.audit.town import Town, built


@pytest.fixture
def growing(tmp_path: Path) -> Town:
    """Another such town, for a test that lets it go on."""
    return built(tmp_path / "archive")


Contents = dict[bytes, tuple[bytes, object]]


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """The town as it was built."""
    town = built(tmp_path_factory.mktemp("town") / "archive")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log, "PAUSE_SECONDS", 0.0)  # Nobody signs meanwhile.
        yield town
    if town.known is not None:
        town.known.close(is_done=True)


@pytest.fixture
def town(standing: Town, tmp_path: Path) -> Iterator[Town]:
    """The town, for a test that may do anything to its store and to its archive."""
    kept = contents(standing.redis)
    files = tmp_path / "kept"
    shutil.copytree(standing.archive, files)
    standing.kept_files = files
    yield standing
    put_back(standing.redis, kept)
    standing.put_files_back()


def contents(redis: Redis) -> Contents:
    """All keys, each with its type and what it holds."""
    names = [name for name in redis.keys("*") if not name.endswith(b":lease")]  # These run out by themselves.
    return {name: _content(redis, name) for name in names}


def _content(redis: Redis, name: bytes) -> tuple[bytes, object]:
    kind = redis.type(name)
    read = {
        b"stream": lambda: [(id_, list(fields.items())) for id_, fields in redis.xrange(name)],  # Order counts.
        b"hash": lambda: redis.hgetall(name),
        b"set": lambda: redis.smembers(name),
        b"zset": lambda: redis.zrange(name, 0, -1, withscores=True),
        b"string": lambda: redis.get(name),
    }
    return kind, read[kind]()


def put_back(redis: Redis, kept: Contents) -> None:
    """Every key as it was."""
    for name in redis.keys("*"):
        if name not in kept and not name.endswith(b":lease"):
            redis.delete(name)
    for name, was in kept.items():
        if not redis.exists(name) or _content(redis, name) != was:
            redis.delete(name)
            _write(redis, name, *was)


def _write(redis: Redis, name: bytes, kind: bytes, content) -> None:
    match kind:
        case b"stream":
            for id_, fields in content:
                redis.xadd(name, dict(fields), id=id_)
        case b"hash":
            redis.hset(name, mapping=content)
        case b"set":
            redis.sadd(name, *content)
        case b"zset":
            redis.zadd(name, dict(content))
        case _:
            redis.set(name, content)

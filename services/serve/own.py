"""What is asked of a store that the user brings: it must not evict and ought to write before it answers."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TypeAlias

from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

from services.serve.addresses import without_password
from services.serve.errors import CannotServe
from services.store.address import BadAddress, kind_of
from services.store.away import StoreUnavailable, named
from services.store.connect import connect
from services.store.durability import fail_over, keeps_log, power_cut
from services.store.installation import partitions_of
from services.store.topology import masters, watchers_of

OLDEST = (7, 0)
Facts: TypeAlias = Mapping[str, str]
"""Of INFO and CONFIG, by name; with _KNOWN, how many replicas the sentinels know."""

_KNOWN = "known_to_sentinels"


class UnfitStore(CannotServe):
    """The store cannot be used as it is; the message says why and what to set."""


def check(url: str, replicas: int = 0) -> list[str]:
    """The warnings about the store at `url`. Raises UnfitStore when it might lose tables or is silent."""
    try:
        found = facts(url)
    except StoreUnavailable as error:
        raise UnfitStore(
            f"The store at {without_password(url)} does not answer: {error}\n"
            "Start it, correct REDIS_URL, or unset REDIS_URL to use the embedded one."
        ) from error
    for each in found:
        refuse(url, each)
    return list(dict.fromkeys(warning for each in found for warning in (*warnings(each), *unsafe(each, replicas))))


def facts(url: str) -> list[Facts]:
    """What each master of the store at `url` says of itself.

    Raises StoreUnavailable; UnfitStore when the address makes no sense or the login is refused.
    """
    try:
        redis = connect(url)
    except BadAddress as error:
        raise UnfitStore(f"REDIS_URL={without_password(url)}: {error}") from error
    try:
        found = [_facts(each) for each in masters(redis)]
        watchers = watchers_of(redis)
        known = {} if watchers is None else {_KNOWN: str(watchers.known)}
        return [each | known for each in found]
    except (RedisError, OSError) as error:
        away = named(error)
        if isinstance(away, AuthenticationError):
            raise UnfitStore(f"The store at {without_password(url)} refused the login: {away}") from error
        raise away from error
    finally:
        redis.close()


def refuse(url: str, facts: Facts) -> None:
    """Raise UnfitStore for a store that would lose part of a table without a word, or is not what `url` says."""
    if facts.get("cluster_enabled") == "1" and kind_of(url) != "cluster":
        raise UnfitStore(
            "The store is a node of a cluster, and the address names one server.\n"
            "Set REDIS_URL=redis+cluster://host:port,host:port"
        )
    version = tuple(int(part) for part in facts.get("redis_version", "0.0").split(".")[:2])
    if version < OLDEST:
        raise UnfitStore(f"The store speaks as Redis {facts.get('redis_version')}; 7.0 or later is needed.")
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise UnfitStore(
            f"The store may evict keys (maxmemory-policy is {policy}): short of memory it would drop parts "
            "of tables.\nSet: CONFIG SET maxmemory-policy noeviction"
        )


def refuse_partitions(url: str, partitions: int) -> None:
    """Raise UnfitStore when the data were made with another number of partitions: tables would not be found."""
    with closing(connect(url)) as redis:
        found = partitions_of(redis, partitions)
    if found != partitions:
        raise UnfitStore(
            f"The data in this store have {found} partitions, and MARIAS_PARTITIONS is {partitions}: every id names"
            f" its partition.\nSet: MARIAS_PARTITIONS={found} (or use an empty store)"
        )


def warnings(facts: Facts) -> Iterator[str]:
    """What the operator should know about how much a power cut may lose."""
    return power_cut(aof=keeps_log(facts), fsync=facts.get("appendfsync"))


def unsafe(facts: Facts, replicas: int) -> Iterator[str]:
    """What the operator should know about what a fail-over may lose, or why nothing would be answered."""
    known = facts.get(_KNOWN)
    wanted = max(replicas, int(known or 0)) if replicas else 0
    return fail_over(connected=int(facts.get("connected_slaves", "0")), wanted=wanted, watched=known is not None)


def _facts(redis: Redis) -> dict[str, str]:
    facts = {name: str(value) for name, value in redis.info().items() if isinstance(value, str | int | float)}
    try:
        facts.update({str(name): str(value) for name, value in redis.config_get("appendfsync").items()})
    except NoPermissionError:
        facts["appendfsync"] = ""
    except ResponseError:  # Managed servers often forbid CONFIG; `warnings` says so.
        pass
    return facts

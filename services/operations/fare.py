"""How everything stands at one moment: the store, the workers, each partition, the queues of jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from services.store import audited, deal_log, leases, standing, tallies
from services.store.audited import Result
from services.store.deal_log import NO_LOG, State
from services.store.durability import keeps_log
from services.store.standing import Seen, Standing
from services.store.wire import StoreUnavailable, ask_many, store_ms

QUEUES = ("bots", "deals")


class Server(NamedTuple):
    """A master of the store. `fsync` "": it does not tell; `last_write_ok`: of its append-only file."""

    version: str
    aof: bool
    fsync: str
    last_write_ok: bool
    memory: int
    memory_max: int
    policy: str
    replicas: int


class Jobs(NamedTuple):
    """One queue of jobs. `oldest_ms` is how long its first job waits."""

    queue: str
    waiting: int
    oldest_ms: int
    failed: int


class Fare(NamedTuple):
    """`jobs` None: the queue's store does not answer, or the caller may not look; `tallies` are what the processes
    have counted since the data began; `log` is that of finished deals."""

    at: int
    servers: list[Server]
    workers: list[Seen]
    partitions: list[Standing]
    jobs: list[Jobs] | None
    tallies: dict[str, int]
    table_bytes: int | None
    log: State = NO_LOG
    audited: Result | None = None
    """How the last nightly audit ended; None: there was none."""


def fare(redis: Redis, jobs: Redis | None, partitions: Sequence[str], *, sampled: bool = False) -> Fare:
    """Look around. `sampled`: also at the memory of some tables. Raises StoreUnavailable."""
    at = store_ms(redis)
    return Fare(
        at,
        [_server(facts) for facts in standing.server_facts(redis)],
        [seen for seen in standing.workers(redis, at) if seen.ago_ms <= leases.ALIVE_MS],
        standing.standings(redis, partitions, at),
        None if jobs is None else _jobs(jobs, at),
        tallies.read(redis),
        standing.table_bytes(redis, partitions) if sampled else None,
        _log(redis),
        audited.last(redis),
    )


def document(found: Fare) -> dict[str, Any]:
    """`found` as JSON has it, in seconds and bytes."""
    return {
        "servers": [each._asdict() for each in found.servers],
        "workers": [each.name for each in found.workers],
        "partitions": [partition_row(each) for each in found.partitions],
        "audit": None if found.audited is None else _audit(found.audited, found.at),
        "jobs": None if found.jobs is None else [
            {"queue": each.queue, "waiting": each.waiting, "oldest_seconds": each.oldest_ms / 1000,
             "failed": each.failed} for each in found.jobs
        ],
        "table_bytes": found.table_bytes,
        "deal_log": {
            "size": found.log.size, "signed": found.log.signed, "stuck": found.log.stuck, "wrong": found.log.wrong,
            "signed_seconds_ago": max(0, found.at - found.log.at) / 1000 if found.log.signed else None,
        },
    }


def _audit(result: Result, at: int) -> dict[str, Any]:
    return {
        "night": result.night, "ended_seconds_ago": max(0, at - result.ended) / 1000, "tables": result.tables,
        "deals": result.deals, "entries": result.entries, "faults": result.faults, "first_fault": result.first,
        "not_read": result.missing, "not_checked": result.unchecked,
    }


def partition_row(each: Standing) -> dict[str, Any]:
    """One partition as JSON has it."""
    return {
        "partition": each.partition, "owned": bool(each.owner), "owner": each.owner, "waiting": each.waiting,
        "oldest_seconds": each.oldest_ms / 1000, "dead": each.dead, "tables": each.tables, "frozen": each.frozen,
        "stuck": each.stuck,
        "lag_seconds": {name: None if ms is None else ms / 1000 for name, ms in each.lag_ms.items()},
    }


def _server(facts: Mapping[str, str]) -> Server:
    kind = facts.get("server_name", "redis")
    return Server(
        f"{kind} {facts.get(f'{kind}_version', facts.get('redis_version', '?'))}",
        keeps_log(facts),
        facts.get("appendfsync", ""),
        facts.get("aof_last_write_status", "ok") == "ok",
        int(facts.get("used_memory", 0)),
        int(facts.get("maxmemory", 0)),
        facts.get("maxmemory_policy", ""),
        int(facts.get("connected_slaves", 0)),
    )


def _log(redis: Redis) -> State:
    try:
        return deal_log.state(redis)
    except ResponseError:  # A user of an earlier build may not look at it.
        return NO_LOG


def _jobs(redis: Redis, at: int) -> list[Jobs] | None:
    """rq's own names: its library would have to be loaded by everybody who looks."""
    try:
        replies = ask_many(redis, [request for name in QUEUES for request in (
            ("LLEN", f"rq:queue:{name}"), ("LINDEX", f"rq:queue:{name}", 0), ("ZCARD", f"rq:failed:{name}"),
        )])
        if any(isinstance(reply, ResponseError) for reply in replies):
            return None
        firsts = [(first or b"").decode() for first in replies[1::3]]
        since = ask_many(redis, [("HGET", f"rq:job:{first}", "enqueued_at") for first in firsts])
    except StoreUnavailable:
        return None
    return [
        Jobs(name, int(waiting), _age(began, at), int(failed))
        for name, waiting, began, failed in zip(QUEUES, replies[0::3], since, replies[2::3], strict=True)
    ]


def _age(began: Any, at: int) -> int:
    if not isinstance(began, bytes):
        return 0
    text = began.decode().replace("Z", "+00:00")
    return max(0, at - int(datetime.fromisoformat(text).timestamp() * 1000))

"""What `marias bench store` measures: entries applied, commands taken in, queues drained, partitions taken over."""

import signal
import statistics
import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from redis import Redis

from services.bench import machine
from services.bench.own_store import Store, wait_until
from services.bench.played import Chain, Played, kept_bytes, strangers_word
from services.intake import Submitted, submit_many
from services.store import history, keys, leases
from services.store.append import BATCH_MAX, Entry, Status, apply_many
from services.store.wire import ask, ask_all

LEASE_MS: Final = 600_000
NONCE: Final = "bench.1"
PLAIN: Final = "bench:plain"

T = TypeVar("T")


class Drained(NamedTuple):
    """Moves a second: taken in by us, handled by workers; CPU microseconds a move of the workers and the store."""

    taken_in: float
    handled: float
    worker_micros: float
    store_micros: float


class Owned:
    """Partitions that the bench owns itself, so that no worker touches them; used in a `with`."""

    def __init__(self, redis: Redis, partitions: Sequence[str], chance: Random) -> None:
        self.redis = redis
        self._leases = leases.claim(redis, partitions, NONCE, LEASE_MS)
        assert len(self._leases) == len(partitions), "somebody owns a partition of a fresh store"
        self.chains = [Chain(redis, each, lease, chance) for each, lease in self._leases.items()]

    def __enter__(self) -> "Owned":
        return self

    def __exit__(self, *_: object) -> None:
        leases.release(self.redis, {each: lease.fence for each, lease in self._leases.items()})
        leases.tell(self.redis)


def applied_and_plain(owned: Owned, count: int) -> tuple[float, float]:
    """Entries a second, applied to the first partition in whole batches; and plain XADDs of the same bytes."""
    entries: list[Entry] = []
    while len(entries) < count:
        played = owned.chains[0].play(apply=True)
        entries += [*played.opening, *played.moves]
    redis, kept = owned.redis, [kept_bytes(entry) for entry in entries]
    began = time.perf_counter()
    for batch in _batches(entries):
        _all_applied(redis, batch)
    between = time.perf_counter()
    for texts in _batches(kept):
        ask_all(redis, [("XADD", PLAIN, "*", "e", text) for text in texts])
    ended = time.perf_counter()
    ask(redis, "DEL", PLAIN)
    return len(entries) / (between - began), len(entries) / (ended - between)


def drained(running: Store, tables: int, workers: int, chance: Random) -> Drained:
    """Deals of fresh tables lie in the queues of all partitions, then `workers` are let at them."""
    redis = running.redis
    with Owned(redis, keys.all_partitions(), chance) as owned:
        played = [owned.chains[number % len(owned.chains)].play(apply=False) for number in range(tables)]
        for batch in _batches([entry for each in played for entry in each.opening]):
            _all_applied(redis, batch)
        sent = list(_in_turn(played))
        began = time.perf_counter()
        for moves in _batches(sent):
            taken = submit_many(redis, moves)
            assert all(each.status == "new" for each in taken), "a move was not taken in"
        taken_in = len(sent) / (time.perf_counter() - began)
        ends = _last_commands(redis)
        processes = [running.start_worker(f"drain{number}") for number in range(workers)]
        pids = {"worker": [each.pid for each in processes], "store": [running.pid]}
        used = {name: _cpu(each) for name, each in pids.items()}
        began = time.perf_counter()
    wait_until(lambda: history.cursors(redis, list(ends)) == ends)
    took = time.perf_counter() - began
    spent = {name: 1e6 * (_cpu(each) - used[name]) / len(sent) for name, each in pids.items()}
    for process in processes:
        running.end(process)
    return Drained(taken_in, len(sent) / took, spent["worker"], spent["store"])


def taken_over(running: Store, how: signal.Signals) -> list[float]:
    """Of two workers one is ended by `how` while each partition gets a command: seconds until those of the ended
    one are answered, by partition."""
    redis, partitions = running.redis, keys.all_partitions()
    ended, other = running.start_worker("ended"), running.start_worker("other")
    wait_until(lambda: len(_owned_by(redis, "ended")) == len(_owned_by(redis, "other")) == len(partitions) // 2)
    waiting = _owned_by(redis, "ended")
    before = history.cursors(redis, waiting)
    began = time.perf_counter()
    ended.send_signal(how)
    if how == signal.SIGKILL:
        ended.wait()
    submit_many(redis, [strangers_word(partition) for partition in waiting])
    answered: dict[str, float] = {}

    def all_answered() -> bool:
        now = history.cursors(redis, waiting)
        for partition in waiting:
            if now[partition] != before[partition]:
                answered.setdefault(partition, time.perf_counter() - began)
        return len(answered) == len(waiting)

    wait_until(all_answered)
    running.end(ended)
    running.end(other)
    return list(answered.values())


def p99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH_MAX):
        yield items[start : start + BATCH_MAX]


def _all_applied(redis: Redis, batch: Sequence[Entry]) -> None:
    results = apply_many(redis, batch)
    assert all(each.status is Status.APPLIED for each in results), f"not applied: {results}"


def _in_turn(played: Sequence[Played]) -> Iterator[Submitted]:
    """The first move of every table, then the second, and so on: as tables play beside each other."""
    for number in range(max(len(each.sent) for each in played)):
        yield from (each.sent[number] for each in played if number < len(each.sent))


def _last_commands(redis: Redis) -> dict[str, str]:
    """The id of the last command of each partition that has any."""
    partitions = keys.all_partitions()
    replies = ask_all(redis, [("XREVRANGE", keys.commands(each), "+", "-", "COUNT", 1) for each in partitions])
    return {each: reply[0][0].decode() for each, reply in zip(partitions, replies, strict=True) if reply}


def _owned_by(redis: Redis, family: str) -> list[str]:
    partitions = keys.all_partitions()
    fences = ask_all(redis, [("GET", keys.lease(each)) for each in partitions])
    named = f"{family}.".encode()
    return [
        partition for partition, fence in zip(partitions, fences, strict=True)
        if fence and fence.partition(b":")[2].startswith(named)
    ]


def _cpu(pids: Sequence[int]) -> float:
    return sum(map(machine.cpu_seconds_exactly, pids))  # A few moves take less than a tick of the usual count.

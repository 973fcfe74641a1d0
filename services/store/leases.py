"""Who handles a partition: a lease that runs out, and a fence that stops every late write of an old owner."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from redis import Redis

from services.store import keys, scripts
from services.store.channels import publish
from services.store.wire import ask, ask_all

LEASE_MS = 3_500
RENEW_MS = 1_000
ALIVE_MS = 3_000  # Less than a lease: once that ends, the others have shared the dead worker's part.

GAP_MS = 6_000
GAPS_MAX = 8

_CLAIM, _RENEW, _RELEASE = scripts.load("claim"), scripts.load("renew"), scripts.load("release")
_HEARTBEAT = scripts.load("heartbeat")


class Lease(NamedTuple):
    """A claimed partition. `cursor` is the id of the last command that was handled; `orphaned` says that the
    owner before did not give it back, so that the next command may be what it died of."""

    fence: str
    cursor: str
    orphaned: bool


class Gap(NamedTuple):
    """No worker saw the store between `start` and `end`, ms by its clock: it was away, or the clock put forward."""

    start: int
    end: int


class Roll(NamedTuple):
    """Who is alive, at the server's time in milliseconds since the epoch, and the last gaps in the order of time."""

    at: int
    workers: list[str]
    gaps: tuple[Gap, ...]


def claim(redis: Redis, partitions: Sequence[str], nonce: str, ms: int = LEASE_MS) -> dict[str, Lease]:
    """Those of `partitions` that nobody owned, now the caller's for `ms`; one round trip."""
    calls = [scripts.Call((keys.lease(each), keys.state(each)), (nonce, ms)) for each in partitions]
    replies = scripts.run_all(redis, _CLAIM, calls, confirmed=True)
    return {
        partition: Lease(reply[0].decode(), reply[1].decode(), reply[2] == b"1")
        for partition, reply in zip(partitions, replies, strict=True)
        if reply
    }


def renew(redis: Redis, fences: Mapping[str, str], ms: int = LEASE_MS) -> set[str]:
    """Prolong the leases on the partitions of `fences`; gives those that are lost."""
    calls = [scripts.Call((keys.lease(each),), (fence, ms)) for each, fence in fences.items()]
    replies = scripts.run_all(redis, _RENEW, calls, confirmed=True)
    return {partition for partition, kept in zip(fences, replies, strict=True) if not kept}


def release(redis: Redis, fences: Mapping[str, str]) -> None:
    """Give partitions back, so that others need not wait for the lease to run out."""
    calls = [scripts.Call((keys.lease(each), keys.state(each)), (fence,)) for each, fence in fences.items()]
    scripts.run_all(redis, _RELEASE, calls)


def heartbeat(redis: Redis, worker: str, ms: int = ALIVE_MS) -> Roll:
    """Tell that `worker` lives ("" only asks); gives all that do.

    This decides who should own what, never who may write.
    """
    named = (keys.workers(), keys.workers_seen(), keys.workers_gaps())
    at, gaps, *workers = scripts.run(redis, _HEARTBEAT, named, (worker, ms, GAP_MS, GAPS_MAX))
    return Roll(int(at), sorted(name.decode() for name in workers), tuple(map(_gap, reversed(gaps))))


def _gap(text: bytes) -> Gap:
    start, end = text.split()
    return Gap(int(start), int(end))


def sign_off(redis: Redis, worker: str) -> None:
    """Take `worker` off the roll at once."""
    ask(redis, "ZREM", keys.workers(), worker)


def tell(redis: Redis) -> None:
    """Tell the others to look who is there: one has come, or has given its partitions back."""
    ask(redis, *publish(redis, keys.workers_bell(), ""))


def bury(redis: Redis, partitions: Sequence[str], family: str) -> list[str]:
    """Free what workers named `<family>.<anything>` held, and give it; the caller knows that they are dead.

    Each partition stays marked as not given back, so that its next owner is careful.
    """
    named = f"{family}.".encode()
    leases = [("GET", keys.lease(each)) for each in partitions]
    roll, *fences = ask_all(redis, [("ZRANGE", keys.workers(), 0, -1), *leases])
    dead = [name for name in roll if name.startswith(named)]
    held = [
        partition for partition, fence in zip(partitions, fences, strict=True)
        if fence is not None and fence.partition(b":")[2].startswith(named)
    ]
    ask_all(redis, [
        *(("ZREM", keys.workers(), name) for name in dead), *(("DEL", keys.lease(each)) for each in held),
    ])
    return held

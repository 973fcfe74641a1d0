"""What of all that is wrong, in words, each with where to look."""

from collections.abc import Iterator

from services.operations.fare import Fare
from services.store.durability import power_cut, too_few

WAIT_MS_MAX = 5_000
LAG_MS_MAX = 10_000
JOB_MS_MAX = 60_000
MEMORY_PART_MAX = 0.9
HEAD_MS_MAX = 300_000
"""A head is signed each minute, if there is something new; the clocks of store and projector may differ."""


def troubles(fare: Fare, replicas: int = 0) -> list[str]:
    """Why the system is not healthy; [] when it is. `replicas` are those that must confirm a write."""
    return [*_servers(fare, replicas), *_workers(fare), *_partitions(fare), *_jobs(fare), *_log(fare), *_audit(fare)]


def warnings(fare: Fare) -> list[str]:
    """What works and may yet cost something one day."""
    said = (warning for each in fare.servers for warning in power_cut(aof=each.aof, fsync=each.fsync))
    return list(dict.fromkeys(said))


def _audit(fare: Fare) -> Iterator[str]:
    found = fare.audited
    if found is not None and found.faults:
        yield (f"the audit of {found.night} found {found.faults} faults, the first: {found.first}:"
               " look with marias audit --all")


def _servers(fare: Fare, replicas: int) -> Iterator[str]:
    for server in fare.servers:
        if server.policy not in ("", "noeviction"):
            yield f"the store may evict keys (maxmemory-policy {server.policy}): set noeviction"
        if not server.last_write_ok:
            yield "the store could not write its append-only file: look at its log and its disk"
        if server.memory_max and server.memory > MEMORY_PART_MAX * server.memory_max:
            yield f"the store is nearly full: {server.memory:,} of {server.memory_max:,} bytes"
        if server.replicas < replicas:
            yield too_few(server.replicas, replicas)


def _workers(fare: Fare) -> Iterator[str]:
    if not fare.workers:
        yield "no worker lives: commands wait"
    orphans = [each.partition for each in fare.partitions if not each.owner]
    if orphans:
        yield f"{len(orphans)} of {len(fare.partitions)} partitions have no owner: {_some(orphans)}"


def _partitions(fare: Fare) -> Iterator[str]:
    late = [each.partition for each in fare.partitions if each.oldest_ms > WAIT_MS_MAX]
    if late:
        oldest = max(each.oldest_ms for each in fare.partitions) / 1000
        yield f"commands wait for up to {oldest:.0f} s in {len(late)} partitions: {_some(late)}"
    for count, thing, what, where in (
        (sum(each.dead or 0 for each in fare.partitions), "dead letter", "", "marias dead list"),
        (sum(each.frozen or 0 for each in fare.partitions), "table", " whose projections are stopped",
         "the projector's log; a restart of it tries again"),
        (sum(each.stuck or 0 for each in fare.partitions), "payment", " that could not be posted",
         "the projector's log"),
    ):
        if count:
            yield f"{count} {thing}{'' if count == 1 else 's'}{what}: look at {where}"
    for name in fare.partitions[0].lag_ms if fare.partitions else ():
        behind = max(each.lag_ms[name] or 0 for each in fare.partitions)
        if behind > LAG_MS_MAX:
            yield f"{name} are {behind / 1000:.0f} s behind: does the projector run?"


def _jobs(fare: Fare) -> Iterator[str]:
    for each in fare.jobs or ():
        if each.oldest_ms > JOB_MS_MAX:
            yield f"jobs of the queue {each.queue} wait for {each.oldest_ms / 1000:.0f} s: does the role jobs run?"


def _log(fare: Fare) -> Iterator[str]:
    log = fare.log
    if log.wrong:
        yield log.wrong
    if log.stuck:
        yield f"the finished deals of {log.stuck} tables cannot be logged: look at the projector's log"
    if not log.wrong and log.size > log.signed > 0 and fare.at - log.at > HEAD_MS_MAX:
        yield f"the log of deals is signed no more since {(fare.at - log.at) / 1000:.0f} s: does the projector run?"


def _some(names: list[str]) -> str:
    return " ".join(names[:8]) + (" …" if len(names) > 8 else "")

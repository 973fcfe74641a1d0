"""What lies in the store, as Prometheus reads it: sums over partitions and never a table, looked at once a second."""

import time
from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from services.operations.fare import Fare
from services.operations.health import troubles
from services.store.standing import READERS
from services.store.wire import StoreUnavailable

CACHED_SECONDS = 1.0
_DECIDED = ("applied", "refused", "dead", "failed_tries", "duplicate", "fenced", "conflict", "behind", "gap", "broken")
_MS = "worker.ms."


class StoreMetrics(Collector):
    """Looks by `look` when asked, at most once in CACHED_SECONDS."""

    def __init__(self, look: Callable[[], Fare], now: Callable[[], float] = time.monotonic) -> None:
        self._look = look
        self._now = now
        self._seen: tuple[float, list[Metric]] | None = None

    def describe(self) -> list[Metric]:
        """Nothing beforehand: the store is not asked before somebody asks us."""
        return []

    def collect(self) -> list[Metric]:
        """All metrics; only `marias_store_up` while the store does not answer."""
        now = self._now()
        if self._seen is None or now - self._seen[0] >= CACHED_SECONDS:
            try:
                metrics = [*_metrics(self._look())]
            except StoreUnavailable:
                metrics = [_gauge("store_up", "1 if the store answers.", 0)]
            self._seen = (now, metrics)
        return self._seen[1]


def _metrics(fare: Fare) -> Iterator[Metric]:
    parts = fare.partitions
    yield _gauge("store_up", "1 if the store answers.", 1)
    yield _gauge("healthy", "1 if `marias status` finds no trouble.", not troubles(fare))
    yield _gauge("workers", "Workers that live.", len(fare.workers))
    yield _gauge("partitions", "Partitions.", len(parts))
    yield _gauge("partitions_orphaned", "Partitions without an owner.", sum(not each.owner for each in parts))
    yield _gauge("commands_waiting", "Commands that are not decided yet.", sum(each.waiting for each in parts))
    yield _gauge("commands_waiting_most", "The same of the partition with most.", _most(e.waiting for e in parts))
    yield _gauge("oldest_waiting_seconds", "Age of the oldest of them.", _most(e.oldest_ms for e in parts) / 1000)
    yield _gauge("dead_letters", "Commands that were given up.", sum(each.dead or 0 for each in parts))
    yield _gauge("tables", "Tables that exist.", sum(each.tables or 0 for each in parts))
    yield _gauge("tables_frozen", "Tables whose projections are stopped.", sum(each.frozen or 0 for each in parts))
    yield _gauge("payments_stuck", "Payments that could not be posted.", sum(each.stuck or 0 for each in parts))
    lag = GaugeMetricFamily("marias_log_lag_seconds", "Age of what a reader has not handled.", labels=["reader"])
    for name in READERS:
        lag.add_metric([name], _most(each.lag_ms[name] or 0 for each in parts) / 1000)
    yield lag
    memory, most = sum(each.memory for each in fare.servers), sum(each.memory_max for each in fare.servers)
    yield _gauge("store_memory_bytes", "Memory of the store, all masters.", memory)
    yield _gauge("store_memory_max_bytes", "Its limit; 0: none.", most)
    yield _gauge("deal_log_size", "Finished deals in the log.", fare.log.size)
    yield _gauge("deal_log_signed", "Those that the last signed head covers.", fare.log.signed)
    yield _gauge("deal_log_refused", "1 if no head is signed because the log is not what it was.", bool(fare.log.wrong))
    yield _gauge("deal_log_stuck", "Tables whose finished deals cannot be logged.", fare.log.stuck)
    if (audit := fare.audited) is not None:
        yield _gauge("audit_faults", "Faults that the last nightly audit found.", audit.faults)
        yield _gauge("audit_ended_seconds", "When that ended, since the epoch.", audit.ended / 1000)
        yield _gauge("audit_deals", "Deals that it decided again.", audit.deals)
        yield _gauge("audit_not_read", "Tables of which it could not read everything.", audit.missing)
    yield from _jobs(fare)
    yield from _counted(fare.tallies)


def _jobs(fare: Fare) -> Iterator[Metric]:
    if fare.jobs is None:
        return
    waiting = GaugeMetricFamily("marias_jobs_waiting", "Jobs in a queue.", labels=["queue"])
    oldest = GaugeMetricFamily("marias_jobs_oldest_seconds", "How long its first one waits.", labels=["queue"])
    failed = GaugeMetricFamily("marias_jobs_failed", "Jobs that are kept because they failed.", labels=["queue"])
    for each in fare.jobs:
        waiting.add_metric([each.queue], each.waiting)
        oldest.add_metric([each.queue], each.oldest_ms / 1000)
        failed.add_metric([each.queue], each.failed)
    yield from (waiting, oldest, failed)


def _counted(tallies: dict[str, int]) -> Iterator[Metric]:
    """What workers have counted, all together."""
    decided = CounterMetricFamily(
        "marias_worker_commands", "Commands by what became of them; all but the first three are tried again.",
        labels=["outcome"])
    for name in _DECIDED:
        decided.add_metric([name], tallies.get(f"worker.{name}", 0))
    yield decided
    yield CounterMetricFamily(
        "marias_worker_stalls", "Turns of a worker that took over a second.", value=tallies.get("worker.stalls", 0))
    ends = sorted(float(name.removeprefix(_MS)) for name in tallies if name.startswith(_MS) and name[-1].isdigit())
    buckets, total = [], 0
    for end in ends:
        total += tallies[f"{_MS}{end:.0f}"]
        buckets.append((str(end / 1000), total))
    buckets.append(("+Inf", total + tallies.get(f"{_MS}inf", 0)))
    yield HistogramMetricFamily(
        "marias_command_seconds", "From intake until it was decided and written.",
        buckets=buckets, sum_value=tallies.get(f"{_MS}sum", 0) / 1000)


def _gauge(name: str, says: str, value: float) -> Metric:
    return GaugeMetricFamily(f"marias_{name}", says, value=value)


def _most(values: Iterator[int]) -> int:
    return max(values, default=0)

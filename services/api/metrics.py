"""What the API counts, in a registry of its own for each app."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)


class Metrics:
    """Requests by route and status, how long they took, commands by what became of them, and who waits."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        requests = Counter(
            "marias_http_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry)
        seconds = Histogram(
            "marias_http_request_seconds", "Time to answer, waits included.", ("route",), buckets=SECONDS,
            registry=self.registry)
        commands = Counter(
            "marias_api_commands", "Commands by what intake said.", ("taken",), registry=self.registry)
        self.waiting = Gauge(
            "marias_api_waiting", "Requests that wait for a receipt now.", registry=self.registry)
        # Finding the counter of some labels costs more than counting.
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        self._commands = cache(commands.labels)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        self._requests(method, route, status).inc()
        self._seconds(route).observe(seconds)

    def took(self, taken: str) -> None:
        """Count one command; `taken` is the word of intake."""
        self._commands(taken).inc()

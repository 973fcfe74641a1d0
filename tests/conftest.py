"""What every test may ask for: a real store, a quick one, the cast. On CI no test is skipped."""

import os
import signal
from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis
from hypothesis import HealthCheck, settings
from redis import Redis

from tests import cast as people
from tests import servers

ON_CI = os.environ.get("CI", "").lower() in ("1", "true")

# A slow machine is no wrong rule: no time limits. On CI the same examples are tried each time.
settings.register_profile("marias", deadline=None, suppress_health_check=[HealthCheck.too_slow],
                          derandomize=ON_CI, print_blob=True)
settings.load_profile("marias")


# What a shell starts in the background ignores Ctrl-C, and so would the programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def redis() -> Iterator[FakeRedis]:
    """A quick imitation of the store. Nothing counts as verified by it alone: see `server_url`."""
    imitation = FakeRedis()
    yield imitation
    imitation.close()


@pytest.fixture(scope="session")
def running_servers() -> Iterator[dict[str, servers.Server]]:
    """The servers that some test has asked for, by kind; started once and ended with the session."""
    running: dict[str, servers.Server] = {}
    yield running
    for server in running.values():
        server.remove()


@pytest.fixture
def server(request: pytest.FixtureRequest, running_servers: dict[str, servers.Server]) -> servers.Server:
    """A real server, empty: the embedded one, or whichever kind the test is parametrised with.

    `@pytest.mark.parametrize("server", ["valkey", "redis"], indirect=True)` runs a test on both.
    """
    kind = getattr(request, "param", "valkey")
    if kind not in running_servers:
        fresh = servers.Server(servers.program(kind))
        fresh.start()
        running_servers[kind] = fresh
    with Redis.from_url(running_servers[kind].url) as client:
        client.flushall()
    return running_servers[kind]


@pytest.fixture
def server_url(server: servers.Server) -> str:
    """The address of an empty real store."""
    return server.url


@pytest.fixture
def own_server() -> Iterator[servers.Server]:
    """A server of the test's own, to be killed."""
    server = servers.Server(servers.program("valkey"))
    server.start()
    yield server
    server.remove()


@pytest.fixture
def cast() -> tuple[people.Player, ...]:
    """Ana (seat 0) deals, Bára (1) is the forehand, Cyril (2) third, Dana (no seat) watches."""
    return people.CAST


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses a real server carries the mark, so that `-m "not server"` is the quick round."""
    for item in items:
        if {"server", "server_url", "own_server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud what was not run, and which checks before the tests failed: silence looks like a pass."""
    if failed := os.environ.get("MARIAS_CHECKS_FAILED"):
        terminalreporter.section(f"FAILED BEFORE THE TESTS: {failed}", sep="!", red=True)
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        terminalreporter.section("NOT RUN", sep="!", red=True)
        for report in skipped:
            terminalreporter.line(f"{report.nodeid}: {_reason(report)}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """On CI everything runs: a skipped test fails the run, but for one that reads records we may not copy."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if ON_CI and session.exitstatus == 0 and not all("samples" in report.keywords for report in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _reason(report: pytest.TestReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)

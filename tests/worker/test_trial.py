"""What a child process dies of, and what not."""

import itertools
import os
import signal
import time
from collections.abc import Callable

import pytest

from services.store.wire import StoreUnavailable
from services.worker import trial, watchdog
from services.worker.trial import dies
from services.worker.watchdog import TookTooLong, Watchdog

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def fails(error: BaseException) -> Callable[[], None]:
    def decide() -> None:
        raise error

    return decide


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def loop_in_c() -> None:
    with Watchdog():
        sum(itertools.repeat(1))


def sleep_on() -> None:
    time.sleep(3600)


def nothing() -> None:
    pass


def test_a_child_that_is_killed_by_what_it_does_has_died() -> None:
    assert dies(kill_itself, nothing)


def test_a_child_that_computes_in_c_without_end_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "HARD_SECONDS_MAX", 0.2)
    assert dies(loop_in_c, nothing)


@pytest.mark.parametrize("decide", [
    nothing, fails(ValueError()), fails(MemoryError()), fails(TookTooLong()), fails(SystemExit(1)),
])
def test_what_a_worker_survives_is_no_death(decide: Callable[[], None]) -> None:
    assert not dies(decide, nothing)


def test_a_child_that_waits_too_long_has_proven_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "TRIAL_SECONDS_MAX", 1)
    assert not dies(sleep_on, nothing)


def test_it_must_die_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was killed from outside proves nothing."""
    real, killed = os.fork, []

    def fork() -> int:
        child = real()
        if child and not killed:
            killed.append(child)
            os.kill(child, signal.SIGKILL)
        return child

    monkeypatch.setattr(os, "fork", fork)
    assert not dies(lambda: time.sleep(0.2), nothing)
    assert killed


def test_what_is_owned_is_kept_meanwhile_and_no_child_is_left_when_that_fails(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[int] = []
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(os, "fork", noted)

    def stay() -> None:
        beats.append(1)
        if len(beats) == 3:
            raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        dies(sleep_on, stay)
    with pytest.raises(ChildProcessError):
        os.waitpid(children[0], os.WNOHANG)

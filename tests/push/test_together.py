"""Commands of one process wait for a slow store together, but not without end."""

import gevent
import pytest
from gevent.event import Event

from services.intake import Submitted, Taken
from services.push import together
from services.push.together import Together


class Told(list):
    """Remembers what it was told."""

    def taken(self, taken: Taken) -> None:
        self.append(taken.status)

    failed = list.append


def test_beyond_the_bound_commands_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Event()

    def submit_many(redis, submitted, rates):
        slow.wait()
        return [Taken("new") for _ in submitted]

    monkeypatch.setattr(together, "submit_many", submit_many)
    monkeypatch.setattr(together, "WAITING_MAX", 3)
    intake, told = Together(None), Told()
    running = gevent.spawn(intake.run)
    command = Submitted("t-01-00000000000a", "u-01-0000000000000001", "", "k", {"type": "good"})
    intake.put(command, told)
    gevent.sleep(0.01)  # It is under way.
    for _ in range(5):
        intake.put(command, told)
    gevent.sleep(0.01)
    assert told == ["busy", "busy"]
    slow.set()
    with gevent.Timeout(60):
        while len(told) < 6:
            gevent.sleep(0.001)
    assert told == ["busy", "busy", "new", "new", "new", "new"]
    running.kill()

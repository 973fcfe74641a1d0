"""Live readers hear of every version and every answer once, or are told that they missed some."""

from queue import Queue
from typing import Any

import pytest
from redis import Redis

from services.store import keys
from services.store.append import apply_many
from services.store.connect import connect
from services.store.feed import Change, Feed
from services.store.wire import StoreUnavailable
from tests.store.samples import ANA, OTHER, TABLE, answer, claim, entry, position


@pytest.fixture
def feed(store: Redis) -> Feed:
    """A reader that is stepped by hand."""
    feed = Feed(store)
    feed.read(0.0)
    yield feed
    feed.close()


def test_a_watcher_gets_each_version_as_each_seat_may_know_it(store: Redis, feed: Feed) -> None:
    lease = claim(store)
    seen: list[Change | None] = []
    stop = feed.on_version(TABLE, seen.append)
    apply_many(store, [entry(position(lease, 1), 0), answer(position(lease, 2), 1)])
    apply_many(store, [entry(position(lease, 3, table=OTHER), 0)])
    feed.read(0.5)
    [change] = seen
    assert change is not None
    assert (change.table, change.version, change.at, change.who) == (TABLE, 1, 1_001, (ANA, "", "bot:2"))
    assert (change.events[None], change.events[0], change.events[1]) == (
        b'[{"type":"seen"}]', b'[{"type":"seen"}]', b'[{"type":"more"}]'
    )
    assert change.view(2) == '{"version":1,"word":"šest","seat":2}'.encode()
    assert change.view(None) == '{"version":1,"word":"šest","seat":null,"hand":[],"legal":[]}'.encode()
    assert change.about_changed
    stop()
    apply_many(store, [entry(position(lease, 4), 1, about_changed=False)])
    feed.read(0.5)
    assert len(seen) == 1


def test_several_watch_and_one_that_fails_does_not_silence_the_others(
    store: Redis, feed: Feed, caplog: pytest.LogCaptureFixture
) -> None:
    lease = claim(store)
    seen: list[Any] = []

    def fail(change: Change | None) -> None:
        raise RuntimeError("mine alone")

    feed.on_version(TABLE, fail)
    feed.on_version(TABLE, seen.append)
    apply_many(store, [entry(position(lease, 1), 0)])
    feed.read(0.5)
    assert len(seen) == 1
    assert "mine alone" in caplog.text


def test_a_waiter_is_called_once_with_the_receipt_of_its_command(store: Redis, feed: Feed) -> None:
    lease = claim(store)
    answers: list[dict[str, Any]] = []
    feed.on_receipt(TABLE, f"{ANA}/k2", answers.append)
    stop = feed.on_receipt(TABLE, f"{ANA}/k3", answers.append)
    stop()
    batch = [entry(position(lease, 1), 0), answer(position(lease, 2), 1), answer(position(lease, 3), 1)]
    apply_many(store, batch)
    apply_many(store, [entry(position(lease, 4, key="k2"), 1)])  # A duplicate tells the stored receipt again.
    feed.read(0.5)
    assert answers == [{"v": 1, "f": "fp", "s": "refused", "c": "illegal_card"}]


def test_after_an_interruption_watchers_start_over_and_missed_answers_are_looked_up(
    store: Redis, feed: Feed
) -> None:
    lease = claim(store)
    seen: list[Change | None] = []
    answers: list[dict[str, Any]] = []
    feed.on_version(TABLE, seen.append)
    feed.on_receipt(TABLE, f"{ANA}/k1", answers.append)
    feed.on_receipt(TABLE, f"{ANA}/later", answers.append)
    feed._ears.close()
    apply_many(store, [entry(position(lease, 1), 0)])
    feed.read(0.0)
    assert seen == [None]
    assert answers == [{"v": 1, "f": "fp", "s": "applied"}]
    apply_many(store, [entry(position(lease, 2, key="later"), 1)])
    feed.read(0.5)
    assert [change and change.version for change in seen] == [None, 2]
    assert len(answers) == 2


def test_a_connection_that_the_server_ends_is_noticed(server_url: str) -> None:
    store = connect(server_url)
    feed = Feed(store)
    feed.read(0.0)
    seen: list[Change | None] = []
    feed.on_version(TABLE, seen.append)
    store.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    with pytest.raises(StoreUnavailable):
        feed.read(1.0)
    feed.read(0.0)
    assert seen == [None]
    feed.close()
    store.close()


def test_the_reader_runs_on_a_thread_of_its_own(store: Redis) -> None:
    lease = claim(store)
    heard: Queue[Change | None] = Queue()
    feed = Feed(store)
    feed.on_version(TABLE, heard.put)
    feed.start()
    assert heard.get(timeout=20) is None, "it listens: what was before must be looked up"
    apply_many(store, [entry(position(lease, 1), 0)])
    change = heard.get(timeout=20)
    assert change is not None
    assert change.version == 1
    feed.close()
    assert keys.push("1f") == "m:{p1f}:push"

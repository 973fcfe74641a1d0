"""A replay shows at every version what was shown then: the same events, the same view, to the same eyes."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from fakeredis import FakeRedis, FakeServer

from services.replay.moments import AUDITOR, Eye, Moment, moments
from services.store import views
from services.store.history import entries_after
from tests import sources
from tests.worker.house import PLAYERS, TABLE, House

EYES = (0, 1, 2, None)


class Watched(House):
    """A house that notes what each seat and a spectator could see after every command."""

    def __init__(self, redis: FakeRedis) -> None:
        super().__init__(redis)
        self.seen: dict[tuple[int, Eye], dict[str, object]] = {}

    def settle(self) -> None:
        super().settle()
        for eye in EYES:
            if (current := views.current(self.redis, TABLE)) is not None:
                self.seen[current.version, eye] = json.loads(views.view_bytes(current, eye))


@pytest.fixture(scope="module")
def house() -> Iterator[Watched]:
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    played = Watched(client)
    played.deal()
    played.play(90, seed=4)
    yield played
    client.close()


def replayed(house: Watched, eye: Eye) -> list[Moment]:
    return list(moments(TABLE, entries_after(house.redis, TABLE, 0), eye))


@pytest.mark.parametrize("eye", EYES)
def test_every_view_is_what_was_seen_then(house: Watched, eye: Eye) -> None:
    told = replayed(house, eye)
    assert [moment.version for moment in told] == list(range(1, len(told) + 1))
    seen = {version: view for (version, whose), view in house.seen.items() if whose == eye}
    assert len(seen) > 60
    assert {moment.version: moment.view for moment in told if moment.version in seen} == seen


@pytest.mark.parametrize("eye", EYES)
def test_every_event_is_what_the_feed_told(house: Watched, eye: Eye) -> None:
    told = {moment.version: moment.events for moment in replayed(house, eye)}
    feed = views.feed(house.redis, TABLE, 0, 500)
    assert feed is not None
    assert len(feed.items) > 20
    for item in feed.items:
        assert told[item.version] == json.loads(item.events[eye])


def test_an_auditor_sees_the_deck_and_every_hand(house: Watched) -> None:
    told = replayed(house, AUDITOR)
    first = next(moment for moment in told if any(event["type"] == "deal_started" for event in moment.events))
    dealt = next(event for event in first.events if event["type"] == "dealt")
    assert isinstance(dealt["deck"], list)
    assert len(dealt["deck"]) == 32
    for moment in told[first.version - 1:]:
        for eye in (0, 1, 2):
            known = house.seen.get((moment.version, eye))
            if known is not None:
                assert moment.view["seats_see"][eye]["hand"] == known["hand"]  # type: ignore[index]


def test_moves_have_their_time_and_versions_their_deal(house: Watched) -> None:
    told = replayed(house, None)
    deals = [moment.deal for moment in told]
    assert deals == sorted(deals)
    assert deals[0] == 1  # What leads to the first deal belongs to it.
    assert max(deals) >= 2
    for moment in told:
        moved = moment.actor in PLAYERS and any(
            event["type"] in ("card_played", "said_good") for event in moment.events
        )
        assert (moment.took_ms is not None) or not moved
        assert moment.took_ms is None or moment.took_ms >= 0


@pytest.mark.parametrize(("words", "says"), [
    (["t-1"], "A table is named as in"),
    (["t-00-000000000000", "--seat", "1", "--auditor"], "--seat or --auditor"),
    (["t-00-000000000000", "--seat", "3"], "0<=x<=2"),
    (["t-00-000000000000", "--data", "nowhere"], "There is no store to work with"),
])
def test_what_cannot_be_replayed_is_refused_in_words(words: list[str], says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "services.cli", "replay", *words], capture_output=True, text=True, check=False,
        timeout=180, cwd=sources.ROOT,
    )
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr

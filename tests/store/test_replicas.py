"""Where replicas must confirm, nobody hears of what only one machine knows: no answer, no news, no chips moved."""

from collections.abc import Iterator

import pytest
from redis import Redis

from services.intake import Submitted, submit
from services.store import accounts, channels, history, keys, leases, routing
from services.store.append import apply_many, tell_to_look
from services.store.connect import connect, patiently
from services.store.feed import Change, Feed
from services.store.wire import StoreUnavailable, ask_many
from services.worker.handle import Desk
from services.worker.loop import Worker
from tests import topologies
from tests.store.conftest import emptied
from tests.store.samples import ANA, PARTITION, TABLE, answer, claim, entry, position

Running = dict[str, topologies.Watched | topologies.Clustered]

pytestmark = pytest.mark.server

OPEN = Submitted(TABLE, ANA, "Ana", "k1", {"type": "open"})


@pytest.fixture(params=["sentinel", "cluster"])
def several(request: pytest.FixtureRequest, running_topologies: Running) -> topologies.Watched | topologies.Clustered:
    """An empty store of each kind with two replicas to a master."""
    if request.param not in running_topologies:
        make = {"sentinel": topologies.Watched, "cluster": topologies.Clustered}[request.param]
        running_topologies[request.param] = make(topologies.KIND)
        running_topologies[request.param].start()
    found = running_topologies[request.param]
    emptied(found.url).close()
    return found


@pytest.fixture
def store(several: topologies.Watched | topologies.Clustered) -> Iterator[Redis]:
    """A client that lets one replica confirm."""
    client = connect(several.url, replicas=1)
    everywhere = [("EXISTS", keys.state(each)) for each in keys.all_partitions()]
    patiently(lambda: ask_many(client, everywhere, confirmed=True), 60.0)  # They may still be catching up.
    yield client
    client.close()


class Silent:
    """While this lasts no replica says anything."""

    def __init__(self, several: topologies.Watched | topologies.Clustered) -> None:
        self._nodes = several.servers if isinstance(several, topologies.Watched) else several.nodes
        self._paused: list[topologies.Node] = []

    def __enter__(self) -> None:
        self._paused = [each for each in self._nodes if each.client.info("replication")["role"] == "slave"]
        for each in self._paused:
            each.pause()

    def __exit__(self, *_: object) -> None:
        for each in self._paused:
            each.pause(on=False)


@pytest.fixture
def silent(several: topologies.Watched | topologies.Clustered, monkeypatch: pytest.MonkeyPatch) -> Silent:
    """Replicas that can be silenced; they are not waited for as long as usual."""
    monkeypatch.setattr(routing, "WAIT_MS", 500)
    return Silent(several)


def test_a_command_is_taken_in_once_a_replica_has_it(store: Redis, silent: Silent) -> None:
    assert patiently(lambda: submit(store, OPEN._replace(key="k0")), 10.0).status in ("new", "dup")
    with silent:
        for _ in range(2):  # The second time it is known already, but still on one machine only.
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                submit(store, OPEN)
    assert patiently(lambda: submit(store, OPEN), 10.0).status == "dup"


def test_more_replicas_than_there_are_never_confirm(
    several: topologies.Watched | topologies.Clustered, silent: Silent
) -> None:
    demanding = connect(several.url, replicas=3)
    with pytest.raises(StoreUnavailable, match="not confirmed by 3"):
        submit(demanding, OPEN)
    demanding.close()


def test_live_readers_are_told_only_what_a_replica_has(store: Redis, silent: Silent) -> None:
    lease = claim(store)
    ears = channels.Ears(store)
    ears.listen([keys.push(PARTITION)])
    apply_many(store, [entry(position(lease, 1), 0), answer(position(lease, 2), 1)])
    told = [data.split(b"\1")[1] for _, data in ears.hear(5.0)]
    told += [] if len(told) == 2 else [data.split(b"\1")[1] for _, data in ears.hear(5.0)]
    assert told == [keys.receipt_field(ANA, key).encode() for key in ("k1", "k2")]
    with silent, pytest.raises(StoreUnavailable, match="not confirmed"):
        apply_many(store, [entry(position(lease, 3), 1)])
    assert ears.hear(0.3) == []
    assert history.load(store, TABLE, "").version == 2
    patiently(lambda: leases.renew(store, {PARTITION: lease.fence}), 10.0)
    tell_to_look(store, [PARTITION])
    assert [data for _, data in ears.hear(5.0)] == [b""]
    ears.close()


def test_the_messages_are_those_that_the_script_would_tell(
    several: topologies.Watched | topologies.Clustered, store: Redis
) -> None:
    heard = []
    for client in (connect(several.url), store):
        emptied(several.url).close()
        lease = claim(client)._replace(fence="1:test")
        ears = channels.Ears(client)
        ears.listen([keys.push(PARTITION)])
        writes = [
            entry(position(lease, 1), 0),
            answer(position(lease, 2), 1),
            answer(position(lease, 3, key="k1"), 1),
        ]
        statuses = [result.status for result in apply_many(client, writes)]
        assert statuses == ["applied", "applied", "duplicate"]
        told: list[bytes] = []
        while len(told) < 3:
            told += [data for _, data in ears.hear(5.0)]
        heard.append(told)
        ears.close()
    assert heard[0] == heard[1]


def test_chips_leave_an_account_for_good_before_a_table_gets_them(store: Redis, silent: Silent) -> None:
    patiently(lambda: accounts.open_account(store, ANA, 100), 10.0)
    with silent:
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                accounts.withdraw(store, ANA, "t1", 60, TABLE)
    patiently(lambda: accounts.withdraw(store, ANA, "t1", 60, TABLE), 10.0)
    assert accounts.balance(store, ANA) == 40


def test_a_worker_goes_on_when_replicas_come_back_and_watchers_look_again(store: Redis, silent: Silent) -> None:
    told: list[Change | None] = []
    feed = Feed(store)
    feed.on_version(TABLE, told.append)
    worker = Worker(Desk(store, _no_draw), "w", [PARTITION])
    feed.read(0.0)
    worker.turn(0.0)
    submit(store, OPEN)
    feed.read(1.0)  # The claim of the partition is news, too.
    told.clear()
    with silent, pytest.raises(StoreUnavailable, match="not confirmed"):
        _turn_and_turn(worker)
    feed.read(0.3)
    assert told == []
    patiently(lambda: worker.turn(0.1), 10.0)
    feed.read(5.0)
    assert told == [None]
    feed.close()
    worker.owned.release_all()


def _turn_and_turn(worker: Worker) -> None:
    while True:
        worker.turn(0.1)


def _no_draw() -> None:
    raise AssertionError("nothing is dealt here")

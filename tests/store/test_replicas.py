"""Where replicas must confirm, nobody hears of what only one machine knows: no answer, no news, no chips moved."""

from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import ReadOnlyError

from services.intake import Submitted, submit
from services.store import accounts, channels, history, keys, leases, outbox, rights, routing, views
from services.store.append import apply_many, tell_to_look
from services.store.connect import connect, patiently
from services.store.feed import Change, Feed
from services.store.topology import watchers_of
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
    """While this lasts no replica says anything, and none is waited for as long as usual."""

    def __init__(self, several: topologies.Watched | topologies.Clustered, patch: pytest.MonkeyPatch) -> None:
        self._nodes = several.servers if isinstance(several, topologies.Watched) else several.nodes
        self._paused: list[topologies.Node] = []
        self._patch, self._usual = patch, routing.WAIT_MS

    def __enter__(self) -> None:
        self._patch.setattr(routing, "WAIT_MS", 500)
        self._paused = [each for each in self._nodes if each.client.info("replication")["role"] == "slave"]
        for each in self._paused:
            each.pause()

    def __exit__(self, *_: object) -> None:
        for each in self._paused:
            each.pause(on=False)
        self._patch.setattr(routing, "WAIT_MS", self._usual)


@pytest.fixture
def silent(several: topologies.Watched | topologies.Clustered, monkeypatch: pytest.MonkeyPatch) -> Silent:
    """Replicas that can be silenced; until then a busy one has longer than usual, and our connections longer still."""
    monkeypatch.setattr(routing, "WAIT_MS", 4_000)
    return Silent(several, monkeypatch)


def test_a_command_is_taken_in_once_a_replica_has_it(store: Redis, silent: Silent) -> None:
    assert patiently(lambda: submit(store, OPEN._replace(key="k0")), 60.0).status in ("new", "dup")
    with silent:
        for _ in range(2):  # The second time it is known already, but still on one machine only.
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                submit(store, OPEN)
    assert patiently(lambda: submit(store, OPEN), 60.0).status == "dup"


def test_more_replicas_than_there_are_never_confirm(
    several: topologies.Watched | topologies.Clustered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "WAIT_MS", 500)
    demanding = connect(several.url, replicas=3)
    with pytest.raises(StoreUnavailable, match="not confirmed by 3"):
        submit(demanding, OPEN)
    demanding.close()


def test_what_is_read_is_shown_once_a_replica_has_it(store: Redis, silent: Silent) -> None:
    lease = claim(store)
    patiently(lambda: apply_many(store, [entry(position(lease, 1), 0)]), 60.0)
    assert patiently(lambda: views.current(store, TABLE), 60.0).version == 1
    with silent, pytest.raises(StoreUnavailable, match="not confirmed"):
        apply_many(store, [entry(position(lease, 2), 1)])
    with silent:
        for look in (
            lambda: views.current(store, TABLE), lambda: views.feed(store, TABLE, 0, 9),
            lambda: views.receipt(store, TABLE, ANA, "k2"),
        ):
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                look()
    assert patiently(lambda: views.current(store, TABLE), 60.0).version == 2


def test_nobody_acts_on_what_is_not_confirmed(store: Redis, silent: Silent) -> None:
    """Chips follow the log and the cursor: what a fail-over may undo must not have moved any."""
    lease = claim(store)
    patiently(lambda: apply_many(store, [entry(position(lease, 1), 0, kinds="chips")]), 60.0)
    [pointer] = patiently(lambda: outbox.read_log(store, {PARTITION: outbox.START}), 60.0)[PARTITION]
    with silent, pytest.raises(StoreUnavailable, match="not confirmed"):
        apply_many(store, [entry(position(lease, 2), 1, kinds="chips")])
    with silent:
        for look in (
            lambda: outbox.read_log(store, {PARTITION: pointer.id}), lambda: history.cursors(store, [PARTITION]),
            lambda: outbox.read_events(store, [outbox.Stretch(TABLE, 1, None)]),
            lambda: list(history.entries_since(store, TABLE, 0)), lambda: history.last_version(store, TABLE),
        ):
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                look()
    later = patiently(lambda: outbox.read_log(store, {PARTITION: pointer.id}), 60.0)
    assert [each.version for each in later[PARTITION]] == [2]


def test_the_users_of_roles_may_wait_for_replicas(
    several: topologies.Watched | topologies.Clustered, store: Redis
) -> None:
    masters = several.masters() if isinstance(several, topologies.Clustered) else [several.master()]
    for role in rights.ROLES.keys() - {"auditor", "status"}:
        for each in masters:
            each.client.execute_command("ACL", "SETUSER", role, *rights.words(role, "secret"))
        with connect(several.url.replace("://", f"://{role}:secret@"), replicas=1) as client:
            patiently(lambda client=client: ask_many(client, [("TIME",)], confirmed=True), 60.0)
        for each in masters:
            each.client.execute_command("ACL", "DELUSER", role)


class TestWhereSentinelsWatch:
    """All replicas must confirm, as any of them may be the next master while the last one lives on."""

    @pytest.fixture
    def watched(self, running_topologies: Running) -> topologies.Watched:
        found = running_topologies.setdefault("sentinel", topologies.Watched(topologies.KIND))
        assert isinstance(found, topologies.Watched)
        if found.servers[0].process is None:
            found.start()
        emptied(found.url).close()
        return found

    def test_one_of_two_is_not_enough(self, watched: topologies.Watched, monkeypatch: pytest.MonkeyPatch) -> None:
        with connect(watched.url, replicas=1) as client:
            assert patiently(lambda: submit(client, OPEN), 60.0).status in ("new", "dup")
            away = next(each for each in watched.servers if each is not watched.master())
            away.pause()
            monkeypatch.setattr(routing, "WAIT_MS", 500)
            try:
                with pytest.raises(StoreUnavailable, match="not confirmed by 2 replicas"):
                    submit(client, OPEN._replace(key="k2"))
            finally:
                away.pause(on=False)
                monkeypatch.undo()
            assert patiently(lambda: submit(client, OPEN._replace(key="k2")), 60.0).status == "dup"

    def test_one_that_is_gone_is_waited_for_until_the_sentinels_forget_it(
        self, watched: topologies.Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(routing, "WAIT_MS", 500)
        away = next(each for each in watched.servers if each is not watched.master())
        away.kill()
        try:
            with connect(watched.url, replicas=1) as client:
                with pytest.raises(StoreUnavailable, match="not confirmed by 2 replicas: 1 are connected"):
                    submit(client, OPEN)
                watched.forget()
                assert patiently(lambda: submit(client, OPEN), 60.0).status in ("new", "dup")
        finally:
            watched.heal()
            watched.forget()
            watched.await_known()

    def test_a_replica_more_than_the_sentinels_told_is_waited_for_as_well(self, watched: topologies.Watched) -> None:
        with connect(watched.url, replicas=1) as client:
            patiently(lambda: submit(client, OPEN), 60.0)
            watchers = watchers_of(client)
            assert watchers is not None
            watchers.known = 1
            patiently(lambda: submit(client, OPEN), 60.0)
            assert watchers.known == 2


def replied(*replicas: tuple[bytes, int], at: int = 100) -> list[object]:
    """The replies of a master at `at` to which these replicas, each by its port, are connected."""
    listed = [[b"127.0.0.1", port, b"%d" % place] for port, place in replicas]
    return [[b"master", at, []], 0, len(replicas), [b"master", at + 9, listed]]


@pytest.mark.parametrize(("replies", "connected", "confirmed"), [
    (replied((b"1", 100), (b"2", 99)), 2, 1),
    (replied((b"1", 99), (b"2", 99)), 2, 0),
    (replied((b"1", 100), (b"2", 109)), 2, 2),
    (replied((b"1", 100), (b"1", 104)), 1, 1),
    (replied((b"1", 50), (b"1", 104), (b"2", 100)), 2, 2),
], ids=["one", "none yet", "both", "one replica twice", "an old connection of one is still listed"])
def test_who_has_confirmed(replies: list[object], connected: int, confirmed: int) -> None:
    assert routing.confirmations(replies) == (connected, confirmed)


@pytest.mark.parametrize("replies", [
    [[b"master", 100, []], 0, 2, [b"slave", b"h", 1, b"connected", 200]],
    [[b"master", 100, []], ReadOnlyError("READONLY"), 2, [b"master", 100, []]],
], ids=["replaced meanwhile", "nothing could be written"])
def test_nobody_has_confirmed_what_may_not_be_the_masters(replies: list[object]) -> None:
    with pytest.raises(StoreUnavailable, match="not confirmed"):
        routing.confirmations(replies)


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
    assert len(list(history.entries_after(store, TABLE, 0))) == 2
    patiently(lambda: leases.renew(store, {PARTITION: lease.fence}), 60.0)
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
    patiently(lambda: accounts.open_account(store, ANA, 100), 60.0)
    with silent:
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="not confirmed"):
                accounts.withdraw(store, ANA, "t1", 60, TABLE)
    patiently(lambda: accounts.withdraw(store, ANA, "t1", 60, TABLE), 60.0)
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
    patiently(lambda: worker.turn(0.1), 60.0)
    feed.read(5.0)
    assert told == [None]
    feed.close()
    worker.owned.release_all()


def _turn_and_turn(worker: Worker) -> None:
    while True:
        worker.turn(0.1)


def _no_draw() -> None:
    raise AssertionError("nothing is dealt here")

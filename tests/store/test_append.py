"""One apply writes everything of a command or nothing, whatever came before it."""

import pytest
from redis import Redis

from services.store import channels, commands, history, keys, leases, views
from services.store.append import Entry, Result, Status, apply_many
from tests.store.samples import (
    ANA,
    EVENTS,
    FEED,
    OTHER,
    PARTITION,
    RECEIPTS,
    TABLE,
    answer,
    claim,
    command,
    entry,
    everything,
    position,
)


def statuses(results: list[Result]) -> list[str]:
    return [result.status.value for result in results]


def test_an_applied_command_is_in_the_stream_the_receipts_the_feed_the_view_and_the_log(store: Redis) -> None:
    lease = claim(store)
    assert statuses(apply_many(store, [entry(position(lease, 1), 0)])) == ["applied"]

    [(id_, recorded)] = store.xrange(EVENTS)
    assert id_ == b"1-0"
    assert recorded == {
        b"at": b"1001", b"a": ANA.encode(), b"k": b"k1", b"f": b"fp", b"e": b'[{"type":"whole","n":1}]', b"x": b"tag",
        b"h": b"hash",
    }
    assert views.receipt(store, TABLE, ANA, "k1") == {"v": 1, "f": "fp", "s": "applied"}
    current = views.current(store, TABLE)
    assert current is not None
    assert views.view_bytes(current, 1) == '{"version":1,"word":"šest","seat":1}'.encode()
    assert views.seat_in(current, "bot:2") == 2
    told = views.feed(store, TABLE, 0, 10)
    assert told is not None
    assert told.items[0].events == {
        None: b'[{"type":"seen"}]', 0: b'[{"type":"seen"}]', 1: b'[{"type":"more"}]', 2: b'[{"type":"seen"}]'
    }
    [(_, pointer)] = store.xrange(keys.log(PARTITION))
    assert pointer == {b"t": TABLE.encode(), b"v": b"1", b"k": b"bank"}
    assert store.smembers(keys.tables(PARTITION)) == {TABLE.encode()}
    assert history.cursors(store, [PARTITION]) == {PARTITION: command(1)}


def test_a_refused_command_leaves_a_receipt_and_no_event(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0), answer(position(lease, 2), 1)])
    assert store.xlen(EVENTS) == store.xlen(FEED) == 1
    receipt = views.receipt(store, TABLE, ANA, "k2")
    assert receipt == {"v": 1, "f": "fp", "s": "refused", "c": "illegal_card"}
    assert history.cursors(store, [PARTITION]) == {PARTITION: command(2)}


def test_an_old_owner_writes_nothing(store: Redis) -> None:
    old = claim(store)
    store.delete(keys.lease(PARTITION))
    new = claim(store)
    before = everything(store)
    assert statuses(apply_many(store, [entry(position(old, 1), 0)])) == ["fenced"]
    assert everything(store) == before
    assert statuses(apply_many(store, [entry(position(new, 1), 0)])) == ["applied"]


def test_an_owner_whose_lease_ran_out_writes_nothing_even_if_nobody_followed(store: Redis) -> None:
    lease = claim(store)
    store.delete(keys.lease(PARTITION))
    assert statuses(apply_many(store, [entry(position(lease, 1), 0)])) == ["fenced"]
    assert not store.exists(EVENTS)


def test_a_command_sent_again_under_the_cursor_is_behind(store: Redis) -> None:
    lease = claim(store)
    first = entry(position(lease, 1), 0)
    apply_many(store, [first, entry(position(lease, 2), 1)])
    before = everything(store)
    assert statuses(apply_many(store, [first])) == ["behind"]
    assert everything(store) == before


def test_a_key_that_was_answered_keeps_its_receipt_and_the_cursor_moves_on(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1, key="same"), 0)])
    [result] = apply_many(store, [entry(position(lease, 2, key="same"), 1)])
    assert result == Result(Status.DUPLICATE, b'{"v":1,"f":"fp","s":"applied"}')
    assert store.xlen(EVENTS) == 1
    assert statuses(apply_many(store, [entry(position(lease, 3), 1)])) == ["applied"]


VERSIONS = [
    pytest.param(0, id="stale: the stream has gone on"),
    pytest.param(2, id="a gap: the stream is not there yet"),
    pytest.param(9, id="far ahead"),
]


@pytest.mark.parametrize("expected", VERSIONS)
def test_only_the_next_version_is_appended(store: Redis, expected: int) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    before = everything(store)
    assert statuses(apply_many(store, [entry(position(lease, 2), expected)])) == ["conflict"]
    assert everything(store) == before


def test_what_somebody_else_has_appended_is_seen_although_the_view_does_not_tell(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    store.xadd(EVENTS, {"e": "[]"}, id="2-0")
    assert [(each.status, each.detail) for each in apply_many(store, [entry(position(lease, 2), 1)])] == [
        ("conflict", b"2")
    ]


def test_a_refusal_that_was_decided_on_another_version_is_not_written(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    before = everything(store)
    assert statuses(apply_many(store, [answer(position(lease, 2), 0)])) == ["conflict"]
    assert everything(store) == before


def test_after_a_conflict_nothing_of_the_partition_is_written_not_even_of_another_table(store: Redis) -> None:
    """Else the cursor would pass the command that failed, and it would be lost."""
    lease = claim(store)
    batch = [
        entry(position(lease, 1), 0),
        entry(position(lease, 2), 7),
        entry(position(lease, 3), 1),  # By chance at the right version, but decided after the one that failed.
        entry(position(lease, 4, table=OTHER), 0),
    ]
    assert statuses(apply_many(store, batch)) == ["applied", "conflict", "gap", "gap"]
    assert history.cursors(store, [PARTITION]) == {PARTITION: command(1)}
    assert not store.exists(keys.events(OTHER))


WRONG_TYPES = [
    pytest.param(RECEIPTS, id="receipts"),
    pytest.param(EVENTS, id="events"),
    pytest.param(FEED, id="feed"),
    pytest.param(keys.view(TABLE), id="view"),
    pytest.param(keys.snapshot(TABLE), id="snapshot"),
    pytest.param(keys.log(PARTITION), id="log"),
    pytest.param(keys.due(PARTITION), id="due"),
    pytest.param(keys.tables(PARTITION), id="tables"),
]


@pytest.mark.parametrize("key", WRONG_TYPES)
def test_a_key_of_a_wrong_type_leaves_nothing_half_done(store: Redis, key: str) -> None:
    lease = claim(store)
    full = entry(position(lease, 1), 0, due=5_000, due_changed=True, forget_at=6_000, snapshot=b"{}", feed_floor=1)
    store.set(key, "broken")
    before = everything(store)
    assert statuses(apply_many(store, [full])) == ["broken"]
    assert everything(store) == before
    store.delete(key)
    assert statuses(apply_many(store, [full])) == ["applied"]


@pytest.mark.parametrize("key", [keys.due(PARTITION), keys.dead(PARTITION)])
def test_a_refusal_checks_the_types_of_what_it_writes_too(store: Redis, key: str) -> None:
    lease = claim(store)
    store.set(key, "broken")
    before = everything(store)
    refused = answer(position(lease, 1), 0, forget_at=1, dead=("t", TABLE))
    assert statuses(apply_many(store, [refused])) == ["broken"]
    assert everything(store) == before


def test_the_clock_is_set_kept_and_cleared(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0, due=5_000, due_changed=True)])
    assert history.clock_entries(store, PARTITION) == [(TABLE, 5_000)]
    apply_many(store, [entry(position(lease, 2), 1)])
    assert history.clock_entries(store, PARTITION) == [(TABLE, 5_000)]
    apply_many(store, [entry(position(lease, 3), 2, due=None, due_changed=True, forget_at=9_000)])
    assert history.clock_entries(store, PARTITION) == [(f"{TABLE}|f|3", 9_000)]


def test_the_feed_is_cut_where_the_entry_says(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, number), number - 1) for number in range(1, 6)])
    apply_many(store, [entry(position(lease, 6), 5, feed_floor=4)])
    told = views.feed(store, TABLE, 3, 2)
    assert told is not None
    assert ([item.version for item in told.items], told.oldest, told.more, told.gone) == ([4, 5], 4, True, False)
    missed = views.feed(store, TABLE, 2, 2)
    assert missed is not None
    assert missed.gone
    latest = views.feed(store, TABLE, 6, 2)
    assert latest is not None
    assert (latest.items, latest.more, latest.gone, latest.version) == ([], False, False, 6)


def test_a_dead_letter_is_written_with_the_refusal_and_its_tries_are_forgotten(store: Redis) -> None:
    lease = claim(store)
    assert [history.count_try(store, PARTITION, command(1)) for _ in range(2)] == [1, 2]
    apply_many(store, [answer(position(lease, 1), None, dead=("t", TABLE, "error", "Traceback"))])
    [(_, letter)] = store.xrange(keys.dead(PARTITION))
    assert letter == {b"t": TABLE.encode(), b"error": b"Traceback"}
    assert store.hkeys(keys.state(PARTITION)) == [b"epoch", b"owned", b"cur"]


def test_versions_stay_exact_far_beyond_what_a_table_will_play(store: Redis) -> None:
    lease = claim(store)
    start = 2**52
    store.xadd(EVENTS, {"e": "[]"}, id=f"{start}-0")
    assert statuses(apply_many(store, [entry(position(lease, 1), start)])) == ["applied"]
    assert store.xrevrange(EVENTS, count=1)[0][0] == b"%d-0" % (start + 1)


def test_live_readers_hear_of_events_and_receipts(store: Redis) -> None:
    lease = claim(store)
    ears = channels.Ears(store)
    ears.listen([keys.push(PARTITION)])
    apply_many(store, [entry(position(lease, 1), 0), answer(position(lease, 2), 1)])
    heard = [message.data.split(b"\1") for message in ears.hear(1.0)]
    ears.close()
    assert [parts[:2] for parts in heard] == [
        [TABLE.encode(), f"{ANA}/k1".encode()], [TABLE.encode(), f"{ANA}/k2".encode()]
    ]
    assert heard[0][3] == b"1"
    assert heard[0][5].split(b"\0") == [b'"version":1', b'"seat":0', b'"seat":1', b'"seat":2']
    assert heard[0][6].split(b"\0")[0] == '"word":"šest"'.encode()
    assert len(heard[1]) == 3


def test_a_restarted_server_is_taught_the_scripts_again(store: Redis) -> None:
    lease = claim(store)
    apply_many(store, [entry(position(lease, 1), 0)])
    store.script_flush()
    batch: list[Entry] = [entry(position(lease, number), number - 1) for number in range(2, 5)]
    assert statuses(apply_many(store, batch)) == ["applied"] * 3


def test_commands_are_read_after_the_cursor_from_all_partitions_at_once(store: Redis) -> None:
    for partition in ("00", "01"):
        store.xadd(keys.commands(partition), {"t": f"t-{partition}-00000000000a", "a": ANA, "k": "1", "f": "f",
                                              "b": "{}", "v": "7"}, id="5-0")
    store.xadd(keys.commands("01"), {"forged": "yes"}, id="6-0")
    read = commands.read_commands(store, {"00": "5-0", "01": "4-0"})
    assert list(read) == ["01"]
    first, second = read["01"]
    assert (first.aggregate, first.if_version, first.at) == ("t-01-00000000000a", 7, 5)
    assert (second.aggregate, second.if_version) == ("", None)
    assert commands.read_commands(store, {"00": "5-0", "01": "6-0"}) == {}


def test_leases_are_exclusive_and_each_fence_is_new(store: Redis) -> None:
    first = leases.claim(store, ["00", "01"], "one")
    assert leases.claim(store, ["00", "01"], "two") == {}
    fences = {partition: lease.fence for partition, lease in first.items()}
    assert fences == {"00": "1:one", "01": "1:one"}
    assert leases.renew(store, fences) == set()
    leases.release(store, {"00": fences["00"]})
    assert leases.claim(store, ["00", "01"], "two")["00"].fence == "2:two"
    assert leases.renew(store, fences) == {"00"}
    leases.release(store, {"00": fences["00"]})  # An old fence releases nothing.
    assert leases.claim(store, ["00"], "three") == {}


def test_the_roll_shows_who_lives(store: Redis) -> None:
    assert leases.heartbeat(store, "a").workers == ["a"]
    assert leases.heartbeat(store, "b").workers == ["a", "b"]
    leases.sign_off(store, "a")
    roll = leases.heartbeat(store, "")
    assert roll.workers == ["b"]
    assert leases.heartbeat(store, "", ms=-1).workers == []


def test_the_roll_shows_when_no_worker_was_there(store: Redis) -> None:
    assert leases.heartbeat(store, "a").gaps == ()
    assert leases.heartbeat(store, "a").gaps == ()
    for away in range(1, leases.GAPS_MAX + 3):
        seen = int(store.get(keys.workers_seen())) - away * leases.GAP_MS - 1
        store.set(keys.workers_seen(), seen)
        roll = leases.heartbeat(store, "b")
        assert roll.gaps[-1] == (seen, roll.at)
    assert leases.heartbeat(store, "").gaps == leases.heartbeat(store, "a").gaps == roll.gaps
    assert len(roll.gaps) == leases.GAPS_MAX


def test_a_clock_that_was_put_back_keeps_no_dead_worker_alive(store: Redis) -> None:
    now = leases.heartbeat(store, "dead").at
    store.zadd(keys.workers(), {"dead": now + 3_600_000})
    store.set(keys.workers_seen(), now + 3_600_000)
    roll = leases.heartbeat(store, "a")
    assert roll.gaps == ()
    assert roll.workers == ["a", "dead"]  # It has its usual time to beat again.
    assert store.zscore(keys.workers(), "dead") <= leases.heartbeat(store, "a").at


def test_a_clock_that_was_put_back_prolongs_no_lease(store: Redis) -> None:
    leases.claim(store, ["00"], "dead", 3_600_000)
    assert leases.claim(store, ["00"], "a") == {}
    assert 0 < store.pttl(keys.lease("00")) <= leases.LEASE_MS

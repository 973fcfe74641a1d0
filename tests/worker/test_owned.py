"""Workers share the partitions among themselves and hand them over, without anybody who directs them."""

from collections import Counter

import pytest
from fakeredis import FakeRedis, FakeServer

from services.store import keys, leases
from services.worker.owned import Owned
from services.worker.share import share

ALL = keys.all_partitions()


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 64])
def test_everybody_gets_an_even_part(count: int) -> None:
    shared = share([f"w{number}" for number in range(count)], ALL)
    assert list(shared) == ALL
    assert max(Counter(shared.values()).values()) <= -(-64 // count)


def test_all_come_to_the_same_result() -> None:
    assert share(["a", "b", "c"], ALL) == share(["c", "a", "b"], ALL)


def test_nobody_there_is_nobody_to_share_with() -> None:
    assert share([], ALL) == {}


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_when_one_leaves_few_partitions_move_between_those_who_stay(count: int) -> None:
    before = share([f"w{number}" for number in range(count)], ALL)
    after = share([f"w{number}" for number in range(count - 1)], ALL)
    moved = [each for each in ALL if before[each] != after[each] and before[each] != f"w{count - 1}"]
    assert len(moved) <= 16


class Office:
    """Several workers on one store, on a clock of their own."""

    def __init__(self, redis: FakeRedis) -> None:
        self.redis = redis
        self.now = 0.0

    def owned(self, name: str) -> Owned:
        return Owned(self.redis, name, ALL, lambda: self.now)

    def look(self, *all_owned: Owned) -> None:
        self.now += 0.2
        for owned in all_owned:
            owned.look()


@pytest.fixture
def office() -> Office:
    return Office(FakeRedis(server=FakeServer(version=(7,)), protocol=2))


def test_one_alone_owns_all(office: Office) -> None:
    one = office.owned("one")
    office.look(one)
    assert sorted(one.leases) == ALL


def test_a_newcomer_gets_its_half_from_the_other(office: Office) -> None:
    one, two = office.owned("one"), office.owned("two")
    office.look(one)
    office.look(two)
    office.look(one, two)
    assert len(one.leases) == len(two.leases) == 32
    assert sorted([*one.leases, *two.leases]) == ALL


def test_one_that_leaves_hands_over_at_once(office: Office) -> None:
    one, two = office.owned("one"), office.owned("two")
    office.look(one)
    office.look(two)
    office.look(one, two)
    one.release_all()
    office.look(two)
    assert sorted(two.leases) == ALL
    assert not any(lease.orphaned for lease in two.leases.values())


def test_what_a_dead_one_owned_is_taken_over_when_its_lease_ends_and_carefully(office: Office) -> None:
    one, two = office.owned("one"), office.owned("two")
    office.look(one)
    office.redis.zrem(keys.workers(), "one")
    office.look(two)
    assert two.leases == {}
    office.redis.delete(*map(keys.lease, ALL))
    office.look(two)
    assert sorted(two.leases) == ALL
    assert all(lease.orphaned for lease in two.leases.values())


def test_one_whose_leases_ran_out_notices(office: Office) -> None:
    one = office.owned("one")
    office.look(one)
    office.redis.delete(keys.lease("07"))
    leases.claim(office.redis, ["07"], "somebody")
    one.renew()
    assert sorted(one.leases) == [each for each in ALL if each != "07"]


def test_a_claim_whose_answer_was_lost_is_repeated(office: Office) -> None:
    one = office.owned("one")
    leases.claim(office.redis, ALL, "one")
    office.look(one)
    assert {lease.fence for lease in one.leases.values()} == {"2:one"}


def test_a_shunned_partition_is_free_for_others_and_left_alone_for_a_while(office: Office) -> None:
    one = office.owned("one")
    office.look(one)
    changes = one.changes
    one.shun("07")
    office.look(one)
    assert "07" not in one.leases
    assert one.changes > changes
    assert leases.claim(office.redis, ["07"], "newer build")
    leases.release(office.redis, {"07": "2:newer build"})
    office.now += 20
    office.look(one)
    assert "07" in one.leases

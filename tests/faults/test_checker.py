"""The checker sees what it is there to see: each violation is planted in a sound world and named."""

import json
import random
from collections.abc import Callable, Iterator

import pytest
from fakeredis import FakeRedis, FakeServer

from services.processes import settlement
from services.processes.follow import Follower
from services.store import accounts, history, keys, views
from services.store.views import view_bytes
from services.worker.held import _proof
from tests.faults.checker import await_quiet, check
from tests.faults.history import History, Operation, Pushed, outcomes
from tests.faults.verdict import Verdict
from tests.worker.house import ANA, OTHER, PARTITIONS, PLAYERS, TABLE, House

HUGE = 10**12 - 7


class World:
    """A store with two played tables, and the history of those who played."""

    def __init__(self, redis: FakeRedis) -> None:
        self.redis = redis
        self.house = House(redis)
        self.history = History()
        for player in PLAYERS:
            accounts.open_account(redis, player, HUGE)
        self.house.open(TABLE, stake="bankroll", buy_in=HUGE)
        self.house.open(OTHER, auto_ready=True)
        for table in (TABLE, OTHER):
            for player in PLAYERS:
                self.say(table, player, {"type": "sit"})
            for player in PLAYERS:
                self.say(table, player, {"type": "ready"})
            self.say(table, ANA, {"type": "play", "card": "Ah"})
        chance = random.Random(1)
        while self.house.view(TABLE)["deal"] < 2:
            if self.house.view(TABLE)["phase"] == "lobby":
                for player in PLAYERS:
                    self.say(TABLE, player, {"type": "ready"})
            else:
                actor, legal = self.house.legal(TABLE)
                self.say(TABLE, actor, chance.choice(legal))
        follower = Follower(redis, settlement.PROCESS, PARTITIONS, lambda told: settlement.settlement(redis, told))
        follower.turn(None)
        follower.turn(None)

    def say(self, table: str, actor: str, body: dict) -> None:
        """A command whose outcome, and what was then pushed, goes into the history."""
        receipt = self.house.say(table, actor, **{**body, "kind": body["type"]})
        key, applied = f"k{self.house.said}", receipt["s"] == "applied"
        self.history.add(Operation(
            table, actor, key, body, 0.0, 0.1, "ok" if applied else "refused", receipt["v"] if applied else None,
            receipt.get("c"), answers=(json.dumps(receipt),),
        ))
        if applied:
            self.hear(table, actor, receipt["v"])

    def hear(self, table: str, actor: str, version: int) -> None:
        """What the socket of `actor` brings of a version."""
        current = views.current(self.redis, table)
        told = views.feed(self.redis, table, version - 1, 1)
        assert current is not None
        assert told is not None
        seat = views.seat_in(current, actor)
        # With `auto_ready` the last one to sit down is dealt to at once: then the view is of a later version.
        view = b',"view":%b' % view_bytes(current, seat) if current.version == version else b""
        text = b'{"version":%d,"events":%b%b}' % (version, told.items[0].events[seat], view)
        connection = 1 + PLAYERS.index(actor) + 10 * (TABLE, OTHER).index(table)
        self.history.push(Pushed(table, actor, version, text, connection))

    def check(self, **options: object) -> Verdict:
        """The verdict on the world as it is now."""
        return check(self.redis, PARTITIONS, self.history.operations, self.history.pushed, complete=True, **options)


@pytest.fixture
def world() -> Iterator[World]:
    redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield World(redis)
    redis.close()


def test_a_sound_world_has_no_violation_with_chips_near_a_billion_billion(world: World) -> None:
    assert await_quiet(world.redis, PARTITIONS, 5.0)
    verdict = world.check()
    assert verdict.lines()[1:] == []
    assert verdict.ok
    assert outcomes(world.history.operations)["refused"] >= 2
    assert verdict.pushed > 20
    assert verdict.linked == verdict.entries > 30


def first(world: World, outcome: str) -> tuple[int, Operation]:
    return next((n, each) for n, each in enumerate(world.history.operations) if each.outcome == outcome)


def rewrite(world: World, which: str, **changes: object) -> None:
    place, operation = first(world, which)
    world.history.operations[place] = operation._replace(**changes)


def lose(world: World) -> None:
    """A client was told of an outcome that was never written."""
    rewrite(world, "ok", key="never-written")


def double(world: World) -> None:
    """The last command of a table is appended once more."""
    name = keys.events(OTHER)
    [(id_, fields)] = world.redis.xrevrange(name, count=1)
    world.redis.xadd(name, fields, id=b"%d-0" % (int(id_.partition(b"-")[0]) + 1))


def refuse_what_was_written(world: World) -> None:
    """A client was told of a refusal, but the command was written."""
    rewrite(world, "ok", outcome="refused", code="not_your_turn")


def say_what_nobody_sent(world: World) -> None:
    """An entry of a player is in the stream who never sent it."""
    place, operation = first(world, "ok")
    del world.history.operations[place]
    assert operation.actor in PLAYERS


def answer_twice(world: World) -> None:
    """Two deliveries of a command had different answers."""
    rewrite(world, "refused", answers=("refused not_your_turn", "applied 7"))


def answer_another_version(world: World) -> None:
    """A client was told a version at which another command stands."""
    rewrite(world, "ok", version=1)


def forget_a_receipt(world: World) -> None:
    """A command was taken in and is never answered."""
    name = keys.receipts(OTHER)
    world.redis.hdel(name, next(iter(world.redis.hkeys(name))))


def make_a_hole(world: World) -> None:
    """An entry is gone."""
    world.redis.xdel(keys.events(OTHER), "3-0")


def change_a_word(world: World) -> None:
    """The key under which the last command of a table came is another."""
    name = keys.events(OTHER)
    [(id_, fields)] = world.redis.xrevrange(name, count=1)
    kept = world.redis.xrange(name, max=b"(" + id_)
    world.redis.delete(name)
    for each, what in [*kept, (id_, fields | {b"k": b"another"})]:
        world.redis.xadd(name, what, id=each)


def answer_with_another_hash(world: World) -> None:
    """A receipt names a hash that no entry has."""
    name = keys.receipts(TABLE)
    field, text = next((each, text) for each, text in world.redis.hgetall(name).items() if b'"h":"' in text)
    world.redis.hset(name, field, text.replace(b'"h":"', b'"h":"x'))


def mint_chips(world: World) -> None:
    """An account has one chip more than its postings say."""
    world.redis.hset(keys.account(ANA), "b", accounts.balance(world.redis, ANA) + 1)


def take_chips_for_no_seat(world: World) -> None:
    """A withdrawal whose seat was never taken."""
    accounts.open_account(world.redis, "u-00-00000000000000aa", 500)
    accounts.withdraw(world.redis, "u-00-00000000000000aa", f"{TABLE}.9-0", 500, TABLE)
    world.redis.delete(keys.buy_ins("00"))


def leave_a_buy_in(world: World) -> None:
    """A buy-in that is under way for ever."""
    world.redis.hset(keys.buy_ins("00"), f"{ANA}|{TABLE}|{TABLE}.9-0", 1)


def fake_a_snapshot(world: World) -> None:
    """The snapshot says something else than the events, and proves it."""
    name = keys.snapshot(TABLE)
    version, kept = int(world.redis.hget(name, "v")), world.redis.hget(name, "b")
    body = kept[8:].replace(b'"settled":', b'"settled":9')
    assert body != kept[8:]
    world.redis.hset(name, "b", _proof(version, body) + body)


def change_a_view(world: World) -> None:
    """The stored view of a seat shows another hand."""
    name = keys.view(OTHER)
    play = world.redis.hget(name, "p")
    world.redis.hset(name, "p", play.replace(b'"legal":[{', b'"legal":[{"x":1},{', 1))


def change_the_feed(world: World) -> None:
    """The feed tells other events than the stream."""
    name = keys.feed(OTHER)
    [(id_, fields)] = world.redis.xrevrange(name, count=1)
    world.redis.xdel(name, id_)
    world.redis.delete(name)
    world.redis.xadd(name, {**fields, b"e": b"[]"}, id=id_)


def push_another_view(world: World) -> None:
    """A reader was shown what is not kept."""
    place, heard = next((n, each) for n, each in enumerate(world.history.pushed) if b'"phase"' in each.text)
    world.history.pushed[place] = heard._replace(text=heard.text.replace(b'"phase":"', b'"phase":"x'))


def push_what_is_gone(world: World) -> None:
    """A reader was shown a version that the stream never got to."""
    world.history.push(world.history.pushed[-1]._replace(version=999))


def push_backwards(world: World) -> None:
    """A connection was shown an older version after a newer one."""
    world.history.push(world.history.pushed[0])


def give_up(world: World) -> None:
    """A command was given up."""
    world.redis.xadd(keys.dead("01"), {"t": TABLE, "k": "k1", "error": "ValueError: planted"})


def change_a_projection(world: World) -> None:
    """The bank of a table says something else than its events."""
    world.check()
    name = keys.bank(TABLE)
    field, value = next(iter(world.redis.hgetall(name).items()))
    world.redis.hset(name, field, value.replace(b"1", b"2").replace(b"0", b"1"))


PLANTED: list[tuple[Callable[[World], None], str]] = [
    (lose, "lost"),
    (double, "doubled"),
    (refuse_what_was_written, "ghost refusal"),
    (say_what_nobody_sent, "ghost entry"),
    (answer_twice, "other outcome"),
    (answer_another_version, "other outcome"),
    (forget_a_receipt, "unanswered"),
    (make_a_hole, "hole"),
    (change_a_word, "chain"),
    (answer_with_another_hash, "chain"),
    (mint_chips, "chips"),
    (take_chips_for_no_seat, "chips"),
    (leave_a_buy_in, "chips"),
    (fake_a_snapshot, "replay"),
    (change_a_view, "view"),
    (change_the_feed, "view"),
    (push_another_view, "taken back"),
    (push_what_is_gone, "taken back"),
    (push_backwards, "taken back"),
    (give_up, "dead letter"),
    (change_a_projection, "projection"),
]


@pytest.mark.parametrize(("plant", "kind"), PLANTED, ids=lambda each: getattr(each, "__name__", each))
def test_each_violation_is_named(world: World, plant: Callable[[World], None], kind: str) -> None:
    plant(world)
    verdict = world.check()
    assert not verdict.ok
    assert verdict.count(kind) >= 1, verdict.lines()
    assert any(kind in line for line in verdict.lines())


def test_a_dead_letter_that_was_expected_is_none(world: World) -> None:
    give_up(world)
    assert world.check(dead_letters=1).ok


def test_an_unknown_outcome_may_have_come_or_not(world: World) -> None:
    rewrite(world, "ok", outcome="unknown", answered=None, version=None)
    place, operation = first(world, "ok")
    world.history.operations.insert(place, operation._replace(key="vanished", outcome="unknown", version=None))
    verdict = world.check()
    assert verdict.ok, verdict.lines()
    assert verdict.unknown_applied == 1


def test_a_table_is_quiet_only_when_nothing_waits(world: World) -> None:
    cursor = history.cursors(world.redis, ["01"])["01"]
    world.house.send(TABLE, ANA, {"type": "good"})
    assert not await_quiet(world.redis, PARTITIONS, 0.3)
    world.house.settle()
    assert history.cursors(world.redis, ["01"])["01"] != cursor
    assert await_quiet(world.redis, PARTITIONS, 5.0)

"""The checker sees what it is there to see: each violation is planted in a sound world and named."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from fakeredis import FakeRedis, FakeServer

from engine.fairness.commitments import seed_of
from engine.shuffle import deck_from_key
from schemas.proofs import proof_of
from schemas.table import Draw
from services.audit.log import Kept
from services.processes import settlement
from services.processes.follow import Follower
from services.projections.subscription import Subscription
from services.signing import Signer
from services.store import accounts, history, keys, log_keys, views
from services.store.views import view_bytes
from services.transparency import heads
from services.transparency.heads import Head
from services.transparency.keeping import Keeper
from services.transparency.outside import InFile
from services.transparency.signing import Book, sign
from services.worker.handle import Desk
from services.worker.held import _proof
from services.worker.loop import Worker
from services.worker.seal import make_auditor_keys, read_private_key, read_public_key, seal
from tests.faults.audited import Beside
from tests.faults.checker import await_quiet, check
from tests.faults.fair import ToldProof, ended
from tests.faults.history import History, Operation, Pushed, outcomes
from tests.faults.logged import ToldHead
from tests.faults.nonces import Nonces
from tests.faults.verdict import Verdict
from tests.worker.house import ANA, BARA, OTHER, PARTITIONS, PLAYERS, TABLE, House

HUGE = 10**12 - 7


class World:
    """A store with two played tables, the history of those who played, and what was told beside."""

    def __init__(self, redis: FakeRedis, folder: Path) -> None:
        self.redis = redis
        self.house = House(redis)
        make_auditor_keys(folder)
        self.house.worker = Worker(Desk(redis, sealed_decks(folder)), "worker", PARTITIONS)
        self.history = History()
        self.signer = Signer(folder / "receipts")
        self.heads: list[ToldHead] = []
        self.proofs: list[ToldProof] = []
        kept = Kept(InFile(folder / "heads.jsonl"), self.signer.find)
        self.beside = Beside(kept, None, read_private_key(folder), self.heads, self.proofs)
        self.nonces = {player: Nonces(random.Random(player)) for player in (ANA, BARA)}
        for player in PLAYERS:
            accounts.open_account(redis, player, HUGE)
        self.house.open(TABLE, stake="bankroll", buy_in=HUGE)
        self.house.open(OTHER, auto_ready=True)
        for table in (TABLE, OTHER):
            for player in PLAYERS:
                self.say(table, player, {"type": "sit"})
            self.ready(table)
            self.say(table, ANA, {"type": "play", "card": "Ah"})
        chance = random.Random(1)
        while self.house.view(TABLE)["deal"] < 2:
            if self.house.view(TABLE)["phase"] == "lobby":
                self.ready(TABLE)
            else:
                actor, legal = self.house.legal(TABLE)
                self.say(TABLE, actor, chance.choice(legal))
        follower = Follower(redis, settlement.PROCESS, PARTITIONS, lambda told: settlement.settlement(redis, told))
        follower.turn(None)
        follower.turn(None)
        self.tell()

    def ready(self, table: str) -> None:
        """All three are, Ana and Bára with a nonce each, which they reveal."""
        for player in PLAYERS:
            nonces = self.nonces.get(player)
            self.say(table, player, {"type": "ready"} | ({"nonce_commitment": nonces.commit()} if nonces else {}))
        for player, nonces in self.nonces.items():
            if (body := nonces.reveal(self.house.view(table, PLAYERS.index(player)))) is not None:
                self.say(table, player, body)

    def tell(self) -> None:
        """The projections follow, the finished deal is logged, and a head and a proof are told."""
        projections = Subscription(self.redis, PARTITIONS)
        projections.begin()
        while projections.turn(None):
            pass
        projections.flush()
        book = Book(self.redis, self.signer, self.beside.kept.outside)
        while Keeper(book, PARTITIONS).turn():
            pass
        line = sign(book)
        assert line is not None
        self.heads.append(ToldHead(line.head, line.signed))
        [deal, *_] = ended(TABLE, list(history.entries_after(self.redis, TABLE, 0)))
        proof = proof_of((event for _, event in deal.events), 0)
        self.proofs.append(ToldProof(TABLE, deal.told.deal, msgspec.json.encode(proof)))

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
        return check(
            self.redis, PARTITIONS, self.history.operations, self.history.pushed, complete=True, beside=self.beside,
            **options,
        )


def sealed_decks(folder: Path, seed: int = 1) -> Callable[[], Draw]:
    """Deals that are the same for the same seed, their keys sealed to the auditor of `folder`."""
    chance = random.Random(seed)

    def draw() -> Draw:
        key = chance.randbytes(32)
        return Draw(chance.randrange(3), deck_from_key(key), seal(read_public_key(folder), key), seed_of(key))

    return draw


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    redis = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield World(redis, tmp_path)
    redis.close()


def test_a_sound_world_has_no_violation_with_chips_near_a_billion_billion(world: World) -> None:
    assert await_quiet(world.redis, PARTITIONS, 5.0)
    verdict = world.check()
    assert verdict.lines()[2:] == []
    assert verdict.ok
    assert outcomes(world.history.operations)["refused"] >= 2
    assert verdict.pushed > 20
    assert verdict.linked == verdict.entries > 30
    assert (verdict.deals, verdict.shuffled, verdict.proofs, verdict.leaves, verdict.heads) == (1, 1, 1, 1, 1)
    assert verdict.audited >= 1


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
    [(id_, _)] = world.redis.xrevrange(name, count=1)
    change(world, name, lambda each, fields: fields | {b"k": b"another"} if each == id_ else fields)


def change(world: World, name: str, changed: Callable[[bytes, dict], dict]) -> None:
    """Write a stream anew, with other fields in some entries."""
    kept = world.redis.xrange(name)
    world.redis.delete(name)
    for id_, fields in kept:
        world.redis.xadd(name, changed(id_, fields), id=id_)


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


def change_events(world: World, changed: Callable[[bytes], bytes]) -> None:
    """Tell the events of the table whose deal has ended in another way."""
    before = world.redis.xrange(keys.events(TABLE))
    change(world, keys.events(TABLE), lambda _, fields: fields | {b"e": changed(fields[b"e"])})
    assert world.redis.xrange(keys.events(TABLE)) != before


def shuffle_with_another_nonce(world: World) -> None:
    """The server's nonce stands in for one that was revealed."""
    revealed = next(each.body["nonce"] for each in world.history.operations if each.body["type"] == "reveal")
    change_events(world, lambda events: (
        events.replace(revealed.encode(), b"") if b'"nonces_joined"' in events else events
    ))


def forget_a_reveal(world: World) -> None:
    """A player was told that his nonce is revealed, and another one was."""
    place, operation = next((n, o) for n, o in enumerate(world.history.operations) if o.body["type"] == "reveal")
    world.history.operations[place] = operation._replace(body=operation.body | {"nonce": "00" * 32})


def reveal_elsewhere(world: World) -> None:
    """A player was told a version of his reveal at which nothing was revealed."""
    place, operation = next((n, o) for n, o in enumerate(world.history.operations) if o.body["type"] == "reveal")
    world.history.operations[place] = operation._replace(version=operation.version + 3)


def reveal_twice(world: World) -> None:
    """The nonce of one seat is that of another."""
    first, second = [o.body["nonce"] for o in world.history.operations if o.body["type"] == "reveal"][:2]
    change_events(world, lambda events: events.replace(second.encode(), first.encode()))


def open_another_card(world: World) -> None:
    """What opens a card that was played opens nothing."""
    change_events(world, lambda events: re.sub(rb'("card_opened","card":\d+,"salt":")....', rb"\g<1>0000", events))


def seal_another_key(world: World) -> None:
    """The key of the deal is sealed to somebody else."""
    change_events(world, lambda events: events.replace(b'"sealed_key":"2.', b'"sealed_key":"2.AAAA'))


def tell_another_proof(world: World) -> None:
    """A player was told a proof that says something else than the events."""
    told = world.proofs[0]
    world.proofs[0] = told._replace(text=told.text.replace(b'"present":true', b'"present":false'))


def tell_a_proof_of_a_deal_that_was_undone(world: World) -> None:
    """A player was told the proof of a finished deal that has not ended."""
    world.proofs.append(world.proofs[0]._replace(deal=7))


def drop_a_leaf(world: World) -> None:
    """A finished deal is no longer in the log."""
    world.redis.xdel(log_keys.leaves(), "1-0")


def log_a_deal_again(world: World) -> None:
    """A finished deal is in the log twice."""
    [(_, fields)] = world.redis.xrange(log_keys.leaves())
    world.redis.xadd(log_keys.leaves(), fields, id="2-0")


def log_another_end(world: World) -> None:
    """The log says that a deal ended at another version."""
    change(world, log_keys.leaves(), lambda _, fields: {b"d": fields[b"d"].replace(b'"first":1,', b'"first":2,')})


def tell_another_head(world: World) -> None:
    """A head was signed and told that the log has not grown from."""
    head = Head(1, world.heads[0].head.root.replace(world.heads[0].head.root[:2], "AA"), 1_800_000_000)
    world.heads.append(ToldHead(head, heads.sign(world.signer, head)))


def tell_a_head_of_others(world: World) -> None:
    """A head was told that somebody else has signed."""
    head = world.heads[0].head
    world.heads.append(ToldHead(head, heads.sign(Signer(Path(world.beside.kept.outside.name).parent / "theirs"), head)))


def lose_the_heads(world: World) -> None:
    """The file of heads has not the one that was told."""
    Path(world.beside.kept.outside.name).unlink()


def change_the_heads(world: World) -> None:
    """A line outside the store says something else than was signed."""
    file = Path(world.beside.kept.outside.name)
    file.write_bytes(file.read_bytes().replace(b'"size":1', b'"size":2'))


def change_a_node(world: World) -> None:
    """The tree over the log, which only the audit looks at, has another node."""
    world.redis.setrange(log_keys.nodes(0, 0), 0, b"another")


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
    (shuffle_with_another_nonce, "unfair"),
    (forget_a_reveal, "unfair"),
    (reveal_elsewhere, "unfair"),
    (reveal_twice, "unfair"),
    (open_another_card, "unfair"),
    (seal_another_key, "unfair"),
    (tell_another_proof, "unfair"),
    (tell_a_proof_of_a_deal_that_was_undone, "unfair"),
    (drop_a_leaf, "deal log"),
    (log_a_deal_again, "deal log"),
    (log_another_end, "deal log"),
    (tell_another_head, "deal log"),
    (tell_a_head_of_others, "deal log"),
    (lose_the_heads, "deal log"),
    (change_the_heads, "deal log"),
    (change_a_node, "audit"),
]


@pytest.mark.parametrize(("plant", "kind"), PLANTED, ids=lambda each: getattr(each, "__name__", each))
def test_each_violation_is_named(world: World, plant: Callable[[World], None], kind: str) -> None:
    plant(world)
    verdict = world.check()
    assert not verdict.ok
    assert verdict.count(kind) >= 1, verdict.lines()
    assert any(kind in line for line in verdict.lines())


def test_who_was_heard_late_is_sent_once_more_what_follows_on_what_he_had(world: World) -> None:
    table, actor = OTHER, PLAYERS[0]
    heard = [each for each in world.history.pushed if (each.table, each.actor) == (table, actor)]
    first, *others = [each._replace(connection=99, resumed=heard[0].version - 1) for each in heard]
    assert others
    world.history.pushed += [others[-1], first, *others]
    assert world.check().ok
    world.history.pushed += [first]
    assert "came after" in world.check().lines()[-1]


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

"""Chips pass every script unchanged: 10^12 and far beyond, round or not, on each server.

Inside the store a number is a double, and one server has been seen to write round ones with an exponent; so amounts
stay text there, or are added by the server's own integers.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from services.processes import settlement
from services.processes.follow import Follower
from services.projections.rebuild import rebuild
from services.store import accounts, keys, outputs, projected
from services.store.accounts import Origin
from services.store.connect import connect
from tests import servers
from tests.cast import ANA
from tests.worker.house import PARTITIONS, PLAYERS, TABLE, House

pytestmark = pytest.mark.server

EXACT = 2**53
EDGES = [1, 10**8, 3 * 10**8, 10**12 - 1, 10**12, 10**12 + 1, EXACT - 1, EXACT, EXACT + 1, 10**17, 10**17 + 1]
CHIPS = st.one_of(
    st.sampled_from(EDGES),
    st.builds(lambda digit, zeros: digit * 10**zeros, st.integers(1, 99), st.integers(0, 15)),
    st.integers(1, 10**12),
    st.integers(EXACT - 99, EXACT + 99),
)
BUY_IN = 10**12


@pytest.fixture(params=["valkey", "redis"])
def store(request: pytest.FixtureRequest, running_servers: dict[str, servers.Server]) -> Iterator[Redis]:
    """An empty real store of each kind."""
    if request.param not in running_servers:
        running_servers[request.param] = servers.Server(servers.program(request.param))
        running_servers[request.param].start()
    client = connect(running_servers[request.param].url)
    client.flushall()
    yield client
    client.close()


class Patient(House):
    """On a real store a bell takes a moment to be heard."""

    def settle(self) -> None:
        while True:
            self.worker.turn(0.01)
            last = self.redis.xrevrange(keys.commands("01"), count=1)
            if not last or last[0][0] == self.redis.hget(keys.state("01"), "cur"):
                return


tried = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@tried
@given(first=CHIPS, brought=CHIPS, back=CHIPS)
def test_an_account_holds_what_was_posted(store: Redis, first: int, brought: int, back: int) -> None:
    store.flushall()
    accounts.open_account(store, ANA.id, first + brought)
    accounts.withdraw(store, ANA.id, "sit", brought, TABLE)
    accounts.deposit(store, ANA.id, "back", back, Origin(TABLE, 1, 2))
    accounts.withdraw(store, ANA.id, "again", first, TABLE)
    accounts.refund(store, ANA.id, "again")
    ledger = accounts.postings(store, ANA.id, None, 10)
    assert ledger.balance == accounts.balance(store, ANA.id) == first + back
    assert [posting.chips for posting in ledger.postings] == [first + brought, -brought, back, -first, first]
    house = accounts.house_of(keys.partition_of(ANA.id))
    assert accounts.balance(store, house) == -(first + brought)


@tried
@given(won=st.lists(st.tuples(CHIPS, st.booleans()), min_size=1, max_size=8))
def test_a_score_is_the_sum_of_its_postings(store: Redis, won: list[tuple[int, bool]]) -> None:
    store.flushall()
    signed = [chips if plus else -chips for chips, plus in won]
    slot = outputs.slot_of(ANA.id)
    for number, chips in enumerate(signed):
        post = outputs.Post(ANA.id, f"id-{number}", f"{number:03}", chips, b'{"chips":%d}' % chips)
        assert outputs.commit(store, outputs.Step(slot, "00", outputs.ELSEWHERE, ""), [post, post])
    assert int(store.hget(keys.balance(ANA.id), "balance")) == sum(signed)


@pytest.mark.parametrize("buy_in", [BUY_IN, BUY_IN - 1])
def test_a_table_for_a_billion_a_deal_pays_to_the_chip(store: Redis, buy_in: int) -> None:
    """From the account to the table, through deals and the projections, and back."""
    rich = EXACT + 1
    for player in PLAYERS:
        accounts.open_account(store, player, rich)
    house = Patient(store)
    rules = {"preset": "hospoda", "cap": 10**9, "rates": {"hra": 99_999_999}}
    house.open(stake="bankroll", buy_in=buy_in, rules=rules, deals=3)
    for player in PLAYERS:
        assert house.say(TABLE, player, "sit")["s"] == "applied"
    assert [accounts.balance(store, player) for player in PLAYERS] == [rich - buy_in] * 3
    for player in PLAYERS:
        house.say(TABLE, player, "ready")
    while house.view()["phase"] != "over":
        house.play(1)
    follower = Follower(store, settlement.PROCESS, PARTITIONS, lambda told: settlement.settlement(store, told))
    follower.turn(None)
    follower.turn(None)
    rebuild(store, PARTITIONS, lambda *_: None)
    deals = projected.bank(store, TABLE, 0, 10).deals
    assert len(deals) >= 3  # A round may be extended.
    assert any(abs(paid) > 10**8 - 2 for deal in deals for paid in deal.payments)
    won = [sum(deal.payments[seat] for deal in deals) for seat in range(3)]
    assert [accounts.balance(store, player) for player in PLAYERS] == [rich + chips for chips in won]

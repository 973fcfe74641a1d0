"""A wall clock jumps by an hour while people play on time: nobody loses a turn by it, and no order changes.

Deadlines are in the store's time. The other machines' clocks decide nothing; the store's own does, so that its jump
forward is a gap in which nobody could play.
"""

import json
import time

import pytest

from services.store import keys, leases
from tests.faults.checker import check
from tests.faults.shim.rig import PARTITIONS, PLAYERS, Party, Rig
from tests.system.client import Client, register, seat_three
from tests.topologies import free_port

HOUR = 3600
TURN = 3
PATIENCE = 60.0  # For whatever must come; nothing is asserted about how soon within it.

pytestmark = pytest.mark.server


def told(rig: Rig, table: str) -> list[dict]:
    """The events of a table, each with the version it came with."""
    entries = rig.redis.xrange(keys.events(table))
    return [{**event, "version": number} for number, (_, fields) in enumerate(entries, 1)
            for event in json.loads(fields[b"e"])]


def expiries(rig: Rig, table: str) -> int:
    return sum(event["type"] == "turn_expired" for event in told(rig, table))


def await_expiries(rig: Rig, table: str, count: int) -> None:
    """The clock of a sleeping table still runs."""
    end = time.monotonic() + PATIENCE
    while expiries(rig, table) < count:
        assert time.monotonic() < end, f"the clock of {table} stands still at {told(rig, table)[-3:]}"
        time.sleep(0.1)


def move(party: Party) -> str:
    """Whoever is to act makes a move; how it was answered."""
    [seat] = party.view()["to_act"]
    said = party.say(PLAYERS[seat], party.view(seat)["legal"][0])
    return said.code or said.outcome


def seated(rig: Rig, *options: dict) -> list[Party]:
    parties = [Party(rig, number, **each) for number, each in enumerate(options)]
    for party in parties:
        party.open()
    return parties


def test_the_clock_of_a_worker_decides_nothing(tmp_path):
    with Rig(tmp_path) as rig:
        rig.start("worker")
        begun = time.monotonic()
        playing, thinking, sleeping = seated(rig, {"turn_seconds": 60}, {"turn_seconds": 60}, {"turn_seconds": TURN})
        playing.start()
        for seconds in (HOUR, -HOUR):
            rig.machines["worker"].set(clock_seconds=seconds)
            asleep = expiries(rig, sleeping.table)
            await_expiries(rig, sleeping.table, asleep + 2)  # By then it has looked at the store's clock again.
            assert expiries(rig, sleeping.table) <= (time.monotonic() - begun) / TURN + 1
            assert move(thinking) == "ok"
        assert rig.machines["worker"].read("clock_calls") > 0
        playing.stop()
        finish(rig, playing, thinking, sleeping)


def test_a_store_s_clock_that_is_put_forward_takes_nobody_s_turn(tmp_path):
    with Rig(tmp_path) as rig:
        rig.start("worker")
        playing, thinking, sleeping = seated(rig, {"turn_seconds": 60}, {"turn_seconds": 30}, {"turn_seconds": TURN})
        playing.start()
        time.sleep(leases.RENEW_MS / 1000 + 0.5)  # The owner has seen the clock as it was.
        rig.disk.set(clock_seconds=HOUR)
        assert move(thinking) == "ok"  # Before the owner was told; by the store's clock it is an hour late.
        await_gap(rig)
        await_expiries(rig, sleeping.table, 2)
        playing.stop()
        assert granted(rig, sleeping.table), "the sleeper was not given his time anew"
        finish(rig, playing, thinking, sleeping)


def test_a_store_s_clock_that_is_put_back_stops_the_clocks_but_neither_play_nor_succession(tmp_path):
    with Rig(tmp_path) as rig:
        rig.start("worker")
        playing, thinking, sleeping = seated(rig, {"turn_seconds": 60}, {"turn_seconds": 30}, {"turn_seconds": TURN})
        playing.start()
        rig.disk.set(clock_seconds=-HOUR)
        assert move(thinking) == "ok"
        rig.end("worker")
        rig.start("worker", "successor")
        before = playing.view()["version"]
        end = time.monotonic() + PATIENCE
        while playing.view()["version"] < before + 5:  # It took over, though the dead one's leases end in an hour.
            assert time.monotonic() < end, "nobody took over"
            time.sleep(0.1)
        assert move(thinking) == "ok"
        asleep = expiries(rig, sleeping.table)
        rig.disk.set(clock_seconds=0)
        await_expiries(rig, sleeping.table, asleep + 1)
        playing.stop()
        finish(rig, playing, thinking, sleeping)


def test_the_clock_of_a_front_decides_nothing(tmp_path):
    with Rig(tmp_path) as rig:
        ports = free_port(), free_port()
        rig.start("worker")
        for name, port in zip(("front", "other"), ports, strict=True):
            rig.start("front", name, "--port", str(port))
        await_ready(ports)
        for seconds in (HOUR, -HOUR):
            rig.machines["front"].set(clock_seconds=seconds)
            guest = register(ports[0], "Ana")  # By a clock that is wrong; the other front takes her as well.
            assert Client(ports[1], guest.token).ask("GET", "/v1/players/me/ledger")["balance"] == 0
            table, players = seat_three(ports[0], turn_seconds=60)
            for _ in range(6):
                acts = [player for player in players if player.view(table)["legal"]]
                for player in acts:
                    player.command(table, player.view(table)["legal"][0])
            assert expiries(rig, table) == 0
            assert all(player.refused == [] for player in players)


def await_ready(ports: tuple[int, ...]) -> None:
    end = time.monotonic() + PATIENCE
    for port in ports:
        while True:
            assert time.monotonic() < end, "not ready"
            try:
                if Client(port).call("GET", "/v1/health/ready")[0] == 200:
                    break
            except OSError:
                time.sleep(0.1)


def await_gap(rig: Rig) -> None:
    """Until a worker has told that the store's clock jumped."""
    end = time.monotonic() + PATIENCE
    while not leases.heartbeat(rig.redis, "").gaps:
        assert time.monotonic() < end, "no worker has noticed"
        time.sleep(0.05)


def granted(rig: Rig, table: str) -> bool:
    """Was a deadline set by itself, without a move?"""
    events = told(rig, table)
    alone = [event for event in events if sum(each["version"] == event["version"] for each in events) == 1]
    return any(event["type"] == "deadline_set" for event in alone)


def finish(rig: Rig, *parties: Party) -> None:
    """No player who moved lost a turn, and the store holds what everybody was told, in order."""
    for party in parties[:2]:
        assert party.failed == []
        assert expiries(rig, party.table) == 0
    for name in list(rig.processes):
        rig.end(name)
    commands = [id_.decode().split("-") for each in PARTITIONS for id_, _ in rig.redis.xrange(keys.commands(each))]
    assert commands
    operations = [each for party in parties for each in party.operations]
    verdict = check(rig.redis, PARTITIONS, operations, projections=False)
    assert verdict.ok, verdict.lines()

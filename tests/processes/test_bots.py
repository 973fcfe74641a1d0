"""Bots act as any client: asked for by the log, thinking in a job that may run twice or never."""

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer
from redis import Redis
from redis.exceptions import BusyLoadingError, ConnectionError
from rq import Queue

from engine import bots as policies
from services.config import Config
from services.jobs import bot_moves, program, store
from services.jobs.queue import QUEUE_MAX, TURNS_MAX, bots, put_bot_moves
from services.jobs.quick import QuickWorker
from services.processes import bot_turns
from services.processes.follow import Follower
from services.store import keys, views
from services.store.connect import connect
from services.store.outbox import Pointer
from tests import sources
from tests.worker.house import ANA, OTHER, PARTITIONS, PLAYERS, TABLE, House


@pytest.fixture
def house():
    """A store with one worker."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield House(client)
    client.close()


@pytest.fixture
def queue():
    """An empty queue of jobs."""
    client = FakeRedis(server=FakeServer(version=(7,)))
    yield bots(client)
    client.close()


def work(redis: Redis, queue: Queue) -> None:
    """A worker of jobs until none is left."""
    store.use(redis)
    worker = QuickWorker([queue], connection=queue.connection, serializer=queue.serializer)
    worker.work(burst=True, logging_level="WARNING")


def follower(redis: Redis, queue: Queue) -> Follower:
    """The process that asks for moves, just started."""
    return Follower(
        redis,
        bot_turns.PROCESS,
        PARTITIONS,
        lambda told: bot_turns.bot_turns(told, lambda turns: put_bot_moves(queue, turns)),
    )


def version(house: House, table: str = TABLE) -> int:
    return views.current(house.redis, table).version


def test_three_bots_play_deals_by_themselves(house: House, queue: Queue) -> None:
    house.open(bots=[0, 1, 2], deals=2)
    follow = follower(house.redis, queue)
    for _ in range(400):
        follow.turn(None)
        work(house.redis, queue)
        house.settle()
        if house.view()["phase"] == "over":
            break
    assert house.view()["phase"] == "over"
    assert house.view()["deal"] in (2, 5)
    told = house.redis.xrange(keys.events(TABLE))
    moved = {fields[b"a"] for _, fields in told}
    assert moved == {ANA.encode(), b"clock", b"bot:0", b"bot:1", b"bot:2"}
    assert not any(b"turn_expired" in fields[b"e"] for _, fields in told), "no bot was late"


def test_a_bot_plays_on_for_who_left_in_the_deal(house: House, queue: Queue) -> None:
    house.deal()
    follow = follower(house.redis, queue)
    actor, _ = house.legal()
    house.say(TABLE, actor, "leave")
    before = version(house)
    follow.turn(None)
    work(house.redis, queue)
    house.settle()
    assert version(house) == before + 1
    assert house.redis.xrevrange(keys.events(TABLE), count=1)[0][1][b"a"] == b"bot:%d" % PLAYERS.index(actor)


def test_a_job_that_runs_twice_moves_once(house: House) -> None:
    house.open(bots=[0, 1, 2])
    turn = (TABLE, version(house))
    assert [bot_moves.play(house.redis, [turn]) for _ in range(3)] == [1, 1, 1]
    house.settle()
    assert version(house) == turn[1] + 1
    assert bot_moves.play(house.redis, [turn]) == 0, "the table has gone on"


def test_a_bot_does_not_move_for_others(house: House) -> None:
    house.open(bots=[1])
    house.deal(OTHER)
    assert bot_moves.play(house.redis, [(TABLE, version(house)), (OTHER, version(house, OTHER))]) == 0
    assert bot_moves.play(house.redis, [("t-01-ffffffffffff", 1)]) == 0


def test_the_same_turn_is_the_same_choice(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.open(bots=[0, 1, 2], bot_policy="random")
    seen = []
    submit_many = bot_moves.submit_many
    monkeypatch.setattr(
        bot_moves, "submit_many", lambda redis, moves: seen.append(moves) or submit_many(redis, moves)
    )
    for _ in range(2):
        bot_moves.play(house.redis, [(TABLE, version(house))])
    assert seen[0] == seen[1]
    assert seen[0][0].if_version == version(house)


def test_a_bot_that_fails_is_left_to_the_clock_and_others_move(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    house.open(bots=[0, 1, 2], bot_policy="random")
    house.open(OTHER, bots=[0, 1, 2])

    def fail(*given: object) -> dict:
        raise LookupError("no idea")

    monkeypatch.setitem(policies.POLICIES, "random", fail)
    assert bot_moves.play(house.redis, [(TABLE, version(house)), (OTHER, version(house, OTHER))]) == 1
    assert "no idea" in caplog.text


def test_a_turn_is_put_into_the_queue_once(queue: Queue) -> None:
    assert put_bot_moves(queue, [(TABLE, 7)])
    assert not put_bot_moves(queue, [(TABLE, 7)])
    assert put_bot_moves(queue, [(TABLE, 8), (OTHER, 7)])
    assert not put_bot_moves(queue, [(TABLE, 8), (OTHER, 7)])
    assert len(queue) == 2


def test_many_turns_share_a_job_but_not_too_many(queue: Queue) -> None:
    put_bot_moves(queue, [(TABLE, number) for number in range(TURNS_MAX + 1)])
    assert [len(job.args[0]) for job in queue.jobs] == [TURNS_MAX, 1]


def test_jobs_are_json_so_that_the_queue_is_no_way_in(queue: Queue) -> None:
    put_bot_moves(queue, [(TABLE, 7)])
    [job] = queue.jobs
    data = zlib.decompress(queue.connection.hget(job.key, "data"))
    assert json.loads(data) == ["services.jobs.bot_moves.bot_moves", None, [[[TABLE, 7]]], {}]
    assert 0 < queue.connection.ttl(job.key) <= 5, "a late move is worth nothing"


def test_a_queue_that_nobody_works_on_does_not_grow(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.jobs.queue.PATIENCE_SECONDS", 0.0)
    queue.connection.rpush(queue.key, *(f"job-{number}" for number in range(QUEUE_MAX)))
    assert not put_bot_moves(queue, [(TABLE, 7)])
    assert len(queue) == QUEUE_MAX


def test_only_the_last_turn_of_a_table_is_asked_for() -> None:
    asked: list[list[tuple[str, int]]] = []
    told = [
        Pointer("1-0", TABLE, 3, frozenset({"bot"})),
        Pointer("2-0", OTHER, 9, frozenset({"bank", "record"})),
        Pointer("3-0", TABLE, 4, frozenset({"bot", "lobby"})),
        Pointer("4-0", OTHER, 10, frozenset({"bot"})),
    ]
    bot_turns.bot_turns(told, asked.append)
    assert asked == [[(TABLE, 4), (OTHER, 10)]]


def test_the_clock_plays_on_when_the_queue_is_away(house: House, caplog: pytest.LogCaptureFixture) -> None:
    away = bots(connect("redis://127.0.0.1:1"))
    house.open(bots=[0, 1, 2])
    follower(house.redis, away).turn(None)
    assert "the queue of jobs is away" in caplog.text


def test_a_bot_whose_job_was_lost_is_asked_for_again(house: House, queue: Queue) -> None:
    house.open(bots=[0, 1, 2])
    asked: list[list[tuple[str, int]]] = []
    bot_turns.forgotten(house.redis, PARTITIONS, asked.append)
    assert asked == [], "there is time yet"
    house.redis.zadd(keys.due("01"), {TABLE: 5})
    bot_turns.forgotten(house.redis, PARTITIONS, asked.append)
    assert asked == [[(TABLE, version(house))]]


def test_a_job_that_fails_is_gone_and_the_next_one_runs(house: House, queue: Queue, caplog) -> None:
    house.open(bots=[0, 1, 2])
    queue.enqueue_call("services.jobs.bot_moves.bot_moves", args=(["nonsense"],), timeout=5)
    before = version(house)
    put_bot_moves(queue, [(TABLE, before)])
    work(house.redis, queue)
    house.settle()
    assert version(house) == before + 1
    assert "failed" in caplog.text
    assert queue.connection.keys("rq:job:*") == []
    assert queue.connection.llen(queue.intermediate_queue_key) == 0


def test_a_worker_that_is_told_to_leave_as_it_begins_signs_off(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuickWorker, "_install_signal_handlers", lambda _: sys.exit(0))
    worker = QuickWorker([queue], connection=queue.connection, serializer=queue.serializer)
    with pytest.raises(SystemExit):
        worker.work(logging_level="WARNING")
    assert queue.connection.smembers("rq:workers") == set()


RUN = """
import dataclasses, sys
from services.config import Config
from services.serve.role import run_role
run_role("jobs", dataclasses.replace(Config(), redis_url=sys.argv[1], jobs_redis_url=sys.argv[2]))
"""


def test_the_role_stops_at_once_when_told_to(server) -> None:
    command = [sys.executable, "-c", RUN, server.url, server.jobs_url]
    process = subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=str(sources.ROOT)))
    client = Redis.from_url(server.jobs_url)
    try:
        end = time.monotonic() + 60
        while not client.smembers("rq:workers:bots"):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert client.smembers("rq:workers:bots") == set(), "it has signed off"
    finally:
        process.kill()
        process.wait()
        client.close()


def test_the_role_outlives_a_store_that_is_gone_when_it_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun = []

    class Worker:
        is_told_to_stop = True

        def __init__(self, *given: object, **more: object) -> None:
            begun.append(self)
            if len(begun) < 3:
                raise ConnectionError("it is not there yet")

        def work(self, **given: object) -> None:
            if len(begun) < 4:
                raise BusyLoadingError("it still reads its log")

    monkeypatch.setattr(program, "QuickWorker", Worker)
    monkeypatch.setattr(program, "PAUSE_SECONDS", 0.0)
    nowhere = f"unix://{tmp_path}/nobody"
    program.run(Config(redis_url=nowhere, jobs_redis_url=nowhere))
    assert len(begun) == 4

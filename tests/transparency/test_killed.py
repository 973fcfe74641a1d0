"""kill -9 of whoever keeps the log, at each step and anywhere: each deal is logged once, no head is forked."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from services.store import deal_log
from services.store.connect import connect
from services.transparency import heads
from services.transparency.keeping import Keeper
from services.transparency.leaves import read
from services.transparency.signing import sign
from tests import sources
from tests.transparency.conftest import Logged, sat
from tests.worker.house import OTHER, PARTITIONS, TABLE

pytestmark = [pytest.mark.server, pytest.mark.slow]

DEALS = 4
KILLS = int(os.environ.get("MARIAS_TEST_LOG_KILLS", "3"))
KEEPER = """
import os, signal, sys
from pathlib import Path
from services.signing import Signer
from services.store import deal_log
from services.store.connect import connect
from services.transparency import outside
from services.transparency.keeping import Keeper
from services.transparency.signing import Book, sign
from tests.worker.house import PARTITIONS

url, home, dies = sys.argv[1:]
home = Path(home)

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def half(file, line):
    os.write(file._number, line[: len(line) // 2])
    die()

if dies == "before a deal is logged":
    deal_log.grow = die
elif dies == "before its table is off the list":
    deal_log.take_off = die
elif dies == "before a line is on the disk":
    outside._OpenFile.append = half
elif dies == "before a head is told":
    deal_log.keep_head = die
redis = connect(url)
redis.ping()
book = Book(redis, Signer(home / "keys"), outside.InFile(home / "heads.jsonl"))
keeper = Keeper(book, PARTITIONS)
print("begins", flush=True)
while keeper.turn():
    sign(book)
sign(book)
"""
STEPS = ("before a deal is logged", "before its table is off the list", "before a line is on the disk",
         "before a head is told")


def started(url, house, dies):
    process = subprocess.Popen([sys.executable, "-c", KEEPER, url, str(house.home), dies], cwd=sources.ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    return process


def whole(house):
    """What is outside is proven and the beginning of what is in the store, where no deal is twice; gives its size."""
    lines = list(heads.all_checked(house.signer.find, house.kept.lines()))
    logged = deal_log.leaves(house.redis, 0, 1_000)
    outside = [leaf.encode() for line in lines for leaf in line.leaves]
    assert outside == logged[: len(outside)]
    deals = [(read(leaf).table, read(leaf).deal) for leaf in logged]
    assert len(set(deals)) == len(deals) == deal_log.state(house.redis).size
    for table in (TABLE, OTHER):
        own = [deal for name, deal in deals if name == table]
        assert own == list(range(1, len(own) + 1))
    return len(deals)


@pytest.fixture
def played(server_url, tmp_path):
    """Two tables with finished deals that nobody has logged."""
    redis = connect(server_url)
    made = Logged(redis, tmp_path)
    sat(made, TABLE, OTHER)
    made.play_deals(DEALS)
    made.play_deals(DEALS, OTHER)
    made.follow()
    yield made
    redis.close()


def test_a_kill_at_each_step_leaves_what_the_next_one_goes_on_with(played, server_url):
    for dies in STEPS:
        process = started(server_url, played, dies)
        _, said = process.communicate(timeout=180)
        assert process.returncode == -signal.SIGKILL, (dies, said.decode())
        whole(played)
    assert deal_log.state(played.redis).head == b""
    Keeper(played.book, PARTITIONS).turn()
    told = sign(played.book)
    assert told is not None
    assert whole(played) == told.size == 2 * DEALS
    assert json.loads(deal_log.state(played.redis).head)["signed"] == told.signed
    assert deal_log.unlogged(played.redis, PARTITIONS, 9) == {}


def test_kills_anywhere_and_two_at_once(played, server_url):
    chance, kills = random.Random(13), 0
    while True:
        for table in (TABLE, OTHER):
            deal_log.add_unlogged(played.redis, [(table, 0)])
        both = [started(server_url, played, "") for _ in range(2)]
        time.sleep(chance.uniform(0.0, 0.01 + 0.02 * kills))
        done = [process.poll() is not None for process in both]
        for process in both:
            process.kill()
            process.communicate()
        kills += 1
        whole(played)
        if all(done) or kills == KILLS:
            break
    while Keeper(played.book, PARTITIONS).turn():
        pass
    sign(played.book)
    assert whole(played) == 2 * DEALS

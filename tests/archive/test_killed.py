"""kill -9 of whoever archives, anywhere: no deal is lost, none is noted that is not there."""

import random
import subprocess
import sys
import time

import pytest

from services.archive import folder
from services.store import cold, keys
from services.store.connect import connect
from tests import sources
from tests.archive.conftest import Archived
from tests.worker.house import PLAYERS, TABLE

pytestmark = [pytest.mark.server, pytest.mark.slow]

DEALS = 12
ARCHIVER = """
import sys
from pathlib import Path
from services.archive.make import archive
from services.store.connect import connect
redis = connect(sys.argv[1])
redis.ping()
print("begins", flush=True)
archive(redis, Path(sys.argv[2]), sys.argv[3], 10_000)
"""


def killed(url: str, place, seconds: float) -> bool:
    """Archive in a process that is killed after so long; False when it was done before."""
    process = subprocess.Popen([sys.executable, "-c", ARCHIVER, url, str(place), TABLE], cwd=sources.ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    time.sleep(seconds)
    is_done = process.poll() is not None
    process.kill()
    _, said = process.communicate()
    assert not is_done or process.returncode == 0, said.decode()
    return not is_done


def test_no_deal_is_lost_and_none_noted_that_is_not_there(server_url, tmp_path):
    redis = connect(server_url)
    house = Archived(redis, tmp_path / "archive")
    house.open()
    for player in PLAYERS:
        house.say(TABLE, player, "sit")
    house.play_deals(DEALS)
    house.follow()
    whole = [(id_, [part for pair in fields.items() for part in pair])
             for id_, fields in redis.xrange(keys.events(TABLE))]

    chance, kills = random.Random(13), 0
    while killed(server_url, house.archive, chance.uniform(0.0, 0.02 + 0.02 * kills)):
        kills += 1
        mark = cold.marks(redis, [TABLE])[0]
        assert folder.entries(house.archive, TABLE, 1, mark.version) == whole[: mark.version]
        assert list(folder.faults(house.archive)) == []
    assert kills

    files = folder.files(house.archive, TABLE)
    assert [file.deal for file in files] == list(range(1, DEALS + 1))
    assert folder.entries(house.archive, TABLE, 1, files[-1].last) == whole[: files[-1].last]
    assert redis.xlen(keys.events(TABLE)) == 1
    redis.close()

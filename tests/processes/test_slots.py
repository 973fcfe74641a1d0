"""Every script touches keys of one slot only, so that it also runs on a cluster; the imitation would not tell."""

import pytest
from redis import Redis
from redis.crc import key_slot

from services.processes import settlement
from services.projections.rebuild import rebuild
from services.store import accounts, scripts
from services.store.accounts import Origin
from tests.cast import ANA
from tests.projections.tables import PARTITIONS, Tables, follow


def test_every_script_stays_in_one_slot(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    run_many, seen = scripts.run_many, set()

    def watch(store: Redis, script: scripts.Script, calls: list[scripts.Call], **more: bool) -> list:
        for call in calls:
            slots = {key_slot(str(name).encode()) for name in call.keys}
            assert len(slots) == 1, call.keys
            seen.add(script.text.partition("\n")[0])
        return run_many(store, script, calls, **more)

    monkeypatch.setattr(scripts, "run_many", watch)
    tables = Tables(redis, seed=2)
    reader = follow(redis)
    for _ in tables.wander(120):
        reader.turn(None)
    rebuild(redis, PARTITIONS, lambda *_: None)
    accounts.open_account(redis, ANA.id)
    accounts.withdraw(redis, ANA.id, "t", 1, "t-1f-000000000000")
    accounts.lend(redis, "t2", 1, Origin("t-1f-000000000000", None, 1))
    settlement.forgotten(redis, "0a", 0)
    assert len(seen) == 4, seen

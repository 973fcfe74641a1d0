"""`marias bench store` in small: it fills queues, drains them, and says what it saw. No figure is judged here."""

import json
from random import Random

import pytest
from click.testing import CliRunner

from services.bench import store as bench
from services.bench.own_store import own_store
from services.bench.queues import Owned, drained
from services.store import history, views


@pytest.mark.server
@pytest.mark.slow
def test_a_small_bench_tells_every_figure() -> None:
    done = CliRunner().invoke(
        bench.store, ["--rounds", "1", "--entries", "64", "--tables", "5", "--trials", "0", "--json"]
    )
    assert done.exit_code == 0, done.output
    rows = {row["name"]: row["median"] for row in json.loads(done.output)["rows"]}
    assert len(rows) == 9
    assert all(figure > 0 for figure in rows.values()), rows


@pytest.mark.server
def test_deals_are_the_same_for_the_same_seed_and_end_where_they_should() -> None:
    with own_store("everysec") as running:
        with Owned(running.redis, ["07"], Random(3)) as owned:
            played = owned.chains[0].play(apply=False)
        with Owned(running.redis, ["07"], Random(3)) as owned:
            assert owned.chains[0].play(apply=False).sent == played.sent
        assert played.moves[-1].settled == 8 + len(played.moves)


@pytest.mark.server
@pytest.mark.slow
def test_what_is_drained_was_played_to_the_end() -> None:
    with own_store("everysec") as running:
        figures = drained(running, 3, 2, Random(5))
        assert min(figures) > 0
        tables = [each for partition in ("00", "01", "02") for each in history.tables_of(running.redis, partition)]
        found = views.current_many(running.redis, tables)
        assert [table is not None and table.settled == table.version for table in found] == [True] * 3

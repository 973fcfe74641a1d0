"""The bench of growth plays, measures both conditions, and weighs a table in a deal and at rest."""

import json

import pytest
from click.testing import CliRunner

from services.bench.growth import growth

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_it_measures_old_tables_and_tables_at_rest():
    options = ["--rounds", "1", "--moves", "30", "--idle", "3", "--idle", "20", "--deals", "1", "--deals", "3"]
    result = CliRunner().invoke(growth, [*options, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert [row["what"] for row in found["idle"]] == ["3 tables at rest", "20 tables at rest"]
    assert [row["what"] for row in found["age"]] == ["deal 1", "deal 3"]
    assert all(row["cpu_seconds_per_1000"] > 0 for row in (*found["idle"], *found["age"]))
    starts = (*found["idle_starts"], *found["age_starts"])
    assert all(row["worker_ms"] > 0 and row["projector_ms"] > 0 for row in starts)
    rest, play = found["memory"]["at rest"], found["memory"]["in a deal"]
    assert rest["receipts"] == rest["reservations"] == 0
    assert 0 < rest["events"] < play["events"]
    assert sum(rest.values()) < 8_000

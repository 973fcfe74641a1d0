"""`marias bench engine` measures what it says, with and without its peer. No figure is judged here."""

import json

import pytest
from click.testing import CliRunner

from services.bench import engine as bench


def measure(*words):
    return CliRunner().invoke(bench.engine, ["--rounds", "2", "--deals", "3", *words])


def test_the_figures_are_a_table():
    result = measure()
    assert result.exit_code == 0
    assert "deal run --jsonl" in result.stdout


def test_and_json_with_every_round():
    figures = json.loads(measure("--json").stdout)
    assert figures["machine"]
    assert all(len(row["rounds"]) == 2 and row["median"] > 0 for row in figures["rows"])


def test_a_missing_peer_is_said_and_the_rest_is_measured(monkeypatch):
    monkeypatch.setattr(bench, "_skat", lambda: None)
    result = measure()
    assert result.exit_code == 0
    assert "pip install open_spiel" in result.stderr
    assert "OpenSpiel" not in result.stdout


def test_the_long_deals_are_played_to_their_last_card():
    _, moves = bench._deals(bench._to_the_last_card, 5, seed=1)
    assert moves >= 36


@pytest.mark.parametrize("choose", [bench._any_move, bench._to_the_last_card])
def test_the_same_seed_measures_the_same_deals(choose):
    assert bench._deals(choose, 4, seed=3)[1] == bench._deals(choose, 4, seed=3)[1]

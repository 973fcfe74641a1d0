"""Records go round through every reader and writer and come back as the same bytes.

`MARIAS_TEST_ROUND_TRIPS` is how many deals of each set of rules are sent round.
"""

import io
import json
import os
import subprocess
import sys
from random import Random

import msgspec
import pytest

from engine.games.voleny.rules import PRESETS
from schemas.random_records import random_records
from schemas.records import canonical, run_record
from services.exchange.files import import_lines
from tests import sources

DEALS = int(os.environ.get("MARIAS_TEST_ROUND_TRIPS", "4"))
OVERRIDES = (
    {}, {"allow_blind": False}, {"forbid_trump_in_talon": True}, {"sto_marriage": "highest"},
    {"sto_proti_needs_marriage": False}, {"flek_levels_max": 0}, {"flek_levels_max": 6}, {"hearts_double": False},
    {"cap": 0}, {"cap": 1}, {"play_balanced": True}, {"rates": {"sto": 0, "betl": 1_000_000}},
)
RULES = [{"preset": preset, **more} for preset in PRESETS for more in OVERRIDES]


def written(value):
    return msgspec.json.encode(value) + b"\n"


def rows_of(data):
    return list(import_lines("-", io.BytesIO(data)))


def come_back(data):
    return b"".join(written(row.record) for row in rows_of(data))


@pytest.mark.parametrize("rules", RULES, ids=json.dumps)
@pytest.mark.parametrize("policy", ["random", "bot"])
def test_finished_deals_come_back_byte_for_byte(rules, policy):
    deals = list(random_records("voleny", 7, DEALS if policy == "random" else 1, policy, rules))
    data = b"".join(map(written, deals))
    assert come_back(data) == data
    for row, record in zip(rows_of(data), deals, strict=True):
        assert row.status == "accepted"
        assert run_record(row.record) == run_record(record)


@pytest.mark.parametrize("preset", PRESETS)
def test_positions_come_back_byte_for_byte(preset):
    chance = Random(preset)
    for whole in random_records("voleny", 8, DEALS, "random", {"preset": preset}):
        moves = whole["moves"][: chance.randrange(len(whole["moves"]))]
        position = {name: value for name, value in whole.items() if name != "result"} | {"moves": moves}
        [row] = rows_of(written(position))
        assert (row.status, written(row.record)) == ("partial", written(position))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_result_that_is_left_out_comes_back_as_it_was(preset):
    for whole in random_records("voleny", 9, DEALS, "random", {"preset": preset}):
        bare = {name: value for name, value in whole.items() if name != "result"}
        assert come_back(written(bare)) == written(whole)


def shuffled(chance, value):
    """The same with its fields in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(chance, value[name]) for name in names}
    return value


def test_the_same_said_otherwise_comes_back_as_we_say_it():
    chance = Random(1)
    for whole in random_records("voleny", 10, 3 * DEALS, "random", {"preset": "hospoda"}):
        other = json.loads(json.dumps(shuffled(chance, whole)))
        other["rules"] = whole["rules"]
        for move in other["moves"]:
            for name in ("cards", "raise", "announce", "contract"):
                if name in move:
                    move[name] = move[name][::-1]
        other["result"]["parts"] = other["result"]["parts"][::-1]
        text = json.dumps(other, indent=" ").replace("\n", "").replace("marias", "\\u006darias") + "\n"
        assert come_back(text.encode()) == written(whole)
        assert written(canonical(other, whole["result"])) == written(whole)


def piped(command, given=b""):
    """The standard output of a pipe of commands as somebody types it; each of them must succeed."""
    bound = f'set -o pipefail; marias() {{ "{sys.executable}" -m services.cli "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", bound], input=given, capture_output=True, check=False, timeout=120,
                          cwd=sources.ROOT)
    assert (done.returncode, done.stderr) == (0, b""), (done.returncode, done.stderr)
    return done.stdout


def test_pipes():
    assert json.loads(piped("marias deal random --seed 5 | marias import - | marias deal run -"))["finished"]
    deals = piped("marias deal random --seed 5 --count 40 --rules '{\"preset\": \"csm\", \"cap\": 30}'")
    assert piped("marias import - | marias import - | cat", deals) == deals
    answers = piped("marias import - | marias deal run - --jsonl", deals)
    assert answers == piped("marias deal run - --jsonl", deals)
    assert answers.count(b'"finished":true') == 40


def test_files(tmp_path):
    deals = piped("marias deal random --seed 6 --count 20")
    (tmp_path / "in.jsonl").write_bytes(deals)
    command = f"marias import {tmp_path}/in.jsonl --records {tmp_path}/out.jsonl"
    assert piped(command).endswith(b"1 file: 20 accepted, 0 partial, 0 refused\n")
    assert (tmp_path / "out.jsonl").read_bytes() == deals
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "out.jsonl"}

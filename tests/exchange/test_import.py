"""`marias import`: what it says of each deal, and that our own records pass it unchanged."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from schemas.random_records import random_records
from services.exchange.files import RECORD_BYTES_MAX, import_file

RULES = {"preset": "hospoda"}


def deals(count: int) -> bytes:
    return b"".join(
        msgspec.json.encode(record) + b"\n" for record in random_records("voleny", 3, count, "random", RULES)
    )


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "services.cli", "import", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)


def test_our_own_records_come_out_as_they_went_in(tmp_path: Path) -> None:
    (tmp_path / "deals.jsonl").write_bytes(deals(20))
    done = run(str(tmp_path), "--records", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("1 file: 20 accepted, 0 partial, 0 refused\n")
    assert (tmp_path / "out").read_bytes() == deals(20)


def test_each_refusal_names_its_place_and_the_rest_goes_on(tmp_path: Path) -> None:
    first, second = deals(2).splitlines()
    wrong = json.loads(second)
    wrong["moves"][0]["seat"] = (wrong["moves"][0]["seat"] + 1) % 3
    (tmp_path / "deals.jsonl").write_bytes(b"\n".join((b"{", json.dumps(wrong).encode(), first)))
    (tmp_path / "empty.hra").write_bytes(b"")
    done = run(str(tmp_path), "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [row["code"] for row in rows] == ["bad_record", "not_your_turn", "", "bad_file"]
    assert rows[1]["place"].endswith("deals.jsonl:2")
    assert rows[1]["message"].startswith("move 0")


def test_a_result_is_added_where_it_was_left_out(tmp_path: Path) -> None:
    record = json.loads(deals(1))
    result = record.pop("result")
    (tmp_path / "deal.json").write_text(json.dumps(record))
    [row] = import_file(tmp_path / "deal.json")
    assert row.record is not None
    assert row.record["result"] == result


def test_a_line_of_100_megabytes_is_refused_without_being_held(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "long.jsonl"
    with path.open("wb") as out:
        for _ in range(100):
            out.write(b"[" * 1_000_000)
        out.write(b"\n" + deals(1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = list(import_file(path))
    assert [row.status for row in rows] == ["refused", "accepted"]
    assert str(RECORD_BYTES_MAX) in rows[0].message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "deal.txt"
    path.write_text("x")
    assert [row.code for row in import_file(path)] == ["unknown_format"]

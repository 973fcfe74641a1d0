"""`marias deal`: documents in, answers out, one by one, and an exit status that says whether all were ok."""

import io
import json

import pytest
from click.testing import CliRunner

from services.cli import deal as command
from services.cli.deal import RECORD_BYTES_MAX, deal
from services.exchange.files import record_lines


def run(*words, text=""):
    return CliRunner().invoke(deal, words, input=text)


def answers(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def lines():
    made = run("random", "--seed", "4", "--count", "8")
    assert made.exit_code == 0
    return made.stdout.splitlines()


def test_what_random_makes_run_takes(lines):
    result = run("run", "-", "--jsonl", text="\n".join(lines) + "\n")
    assert result.exit_code == 0
    assert [answer["ok"] for answer in answers(result)] == [True] * 8


def test_the_last_line_needs_no_end(lines):
    assert len(answers(run("run", "-", "--jsonl", text="\n".join(lines)))) == 8


def test_one_document_may_be_written_over_many_lines(lines, tmp_path):
    file = tmp_path / "deal.json"
    file.write_text(json.dumps(json.loads(lines[0]), indent=2), encoding="utf-8")
    result = run("run", str(file))
    assert result.exit_code == 0
    assert answers(result)[0]["result"] == json.loads(lines[0])["result"]


BROKEN = [
    pytest.param("", id="an empty line"),
    pytest.param("{", id="half a document"),
    pytest.param("null", id="null"),
    pytest.param('{"format": NaN}', id="a number that JSON does not know"),
    pytest.param('{"format": "marias-deal/1", "format": "marias-deal/1"}', id="a repeated name"),
    pytest.param("[" * 5_000, id="deep nesting"),
    pytest.param('"' + "x" * (2 * RECORD_BYTES_MAX + 7) + '"', id="a line longer than any record"),
    pytest.param('"\\ud800"', id="half a surrogate pair"),
    pytest.param("1" * 5_000, id="a number of five thousand digits"),
]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_answered_and_the_next_is_run(line, lines):
    result = run("run", "-", "--jsonl", text=f"{lines[0]}\n{line}\n{lines[1]}\n")
    assert result.exit_code == 1
    first, broken, last = answers(result)
    assert first["ok"]
    assert last["ok"]
    assert (broken["ok"], broken["code"]) == (False, "bad_record")


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_document_is_answered(line):
    result = run("run", "-", text=line)
    assert result.exit_code == 1
    assert answers(result)[0]["code"] == "bad_record"


def test_bytes_that_are_no_text_are_a_broken_record():
    result = run("run", "-", "--jsonl", text=b"\xff\xfe{}\n")
    assert (result.exit_code, answers(result)[0]["code"]) == (1, "bad_record")


def test_a_refused_move_is_not_ok(lines):
    record = json.loads(lines[0])
    record["moves"][0]["seat"] = (record["moves"][0]["seat"] + 1) % 3
    result = run("run", "-", text=json.dumps(record))
    assert result.exit_code == 1
    assert answers(result)[0] == {"ok": False, "move": 0, "code": "not_your_turn", "detail": {}}


def test_each_answer_is_given_before_the_next_line_is_read(lines, monkeypatch):
    """So a million records need no more memory than one."""
    log = []

    class Source(io.BytesIO):
        def readline(self, size=-1):
            log.append("read")
            return super().readline(size)

    monkeypatch.setattr(command, "_write", lambda answer: log.append("answered"))
    source = Source("\n".join(lines).encode())
    with pytest.raises(SystemExit):
        deal.commands["run"].callback(source, True)
    assert log == ["read", "answered"] * 8 + ["read"]


def test_a_line_without_end_is_not_held_in_memory():
    largest = 0

    class Endless(io.RawIOBase):
        left = 40

        def readline(self, size=-1):
            nonlocal largest
            largest = max(largest, size)
            self.left -= 1
            return b"x" * size if self.left > 0 else b""

    assert [len(line) for line in record_lines(Endless())] == [RECORD_BYTES_MAX + 1]
    assert largest == RECORD_BYTES_MAX + 1


def test_without_a_seed_the_deals_are_others_each_time():
    assert run("random").stdout != run("random").stdout


def test_the_same_seed_makes_the_same_deals(lines):
    assert run("random", "--seed", "4", "--count", "3").stdout.splitlines() == lines[:3]
    assert run("random", "--seed", "5", "--count", "3").stdout.splitlines() != lines[:3]


def test_rules_may_be_given_and_are_checked():
    made = run("random", "--seed", "1", "--rules", '{"preset": "csm", "cap": 0}')
    assert answers(made)[0]["rules"] == {"preset": "csm", "cap": 0}
    wrong = run("random", "--seed", "1", "--rules", '{"preset": "x"}')
    assert wrong.exit_code == 2
    assert "--rules" in wrong.output


def test_a_missing_file_is_a_plain_message():
    result = run("run", "nowhere.json")
    assert result.exit_code == 2
    assert "nowhere.json" in result.output


def test_several_records_at_once_are_told_to_be_lines(lines):
    assert "take --jsonl" in run("run", "-", text="\n".join(lines)).output

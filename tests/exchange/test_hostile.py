"""Files that are no deals, or pretend to be: refused with the reason, status 1, no traceback, and no memory.

`MARIAS_TEST_HOSTILE=1` tries every kind of long line, and makes the folder of bad files five times as large.
"""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import msgspec
import pytest

from schemas.random_records import random_records
from schemas.records import run_record
from services.exchange.files import RECORD_BYTES_MAX, import_file
from tests import sources
from tests.weighed import GROWTH_MIB_MAX, is_refused, marias

HEAVY = bool(os.environ.get("MARIAS_TEST_HOSTILE"))
MIB = 1024 * 1024
LINE_MIB = 100
[RECORD] = random_records("voleny", 3, 1, "random", {"preset": "hospoda"})
TEXT = msgspec.json.encode(RECORD)


def one(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    [row] = import_file(path)
    return row


def replaced(old, new):
    assert TEXT.count(old) >= 1
    return TEXT.replace(old, new, 1)


BAD = {
    "nothing": (b"", "Not JSON"),
    "PNG": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "UTF-8"),
    "ZIP": (b"PK\x03\x04\x14\0\0\0", "Not JSON"),
    "gzip": (b"\x1f\x8b\x08\0\0\0\0\0", "UTF-8"),
    "zstd": (b"\x28\xb5\x2f\xfd\x20\x01\x09", "UTF-8"),
    "UTF-16": (TEXT.decode().encode("utf-16"), "UTF-8"),
    "UTF-32": (TEXT.decode().encode("utf-32"), "UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf" + TEXT, "Not JSON"),
    "XML": (b"<Hra/>", "Not JSON"),
    "cut off": (TEXT[:-1], "Not JSON"),
    "two records": (TEXT + TEXT, "Extra data"),
    "a list": (b"[" + TEXT + b"]", "Not a valid object"),
    "a number": (b"7", "Not a valid object"),
    "too long": (TEXT + b" " * RECORD_BYTES_MAX, "Longer than"),
    "nested without end": (b"[" * 200_000, "Nested deeper"),
    "nested": (b'{"moves":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "Nested deeper"),
    "a huge number": (replaced(b'"dealer":', b'"dealer":' + b"9" * 5000), "Not JSON"),
    "a large number": (replaced(b'"dealer":', b'"dealer":' + b"9" * 4000), "dealer: Must be from 0 to 2"),
    "a float": (replaced(b'"dealer":', b'"dealer":0.'), "dealer: Not a valid integer"),
    "infinite": (replaced(b'"dealer":', b'"dealer":1e9999'), "dealer: Not a valid integer"),
    "NaN": (replaced(b'"payments":[', b'"payments":[NaN,'), "NaN is not a number"),
    "-Infinity": (replaced(b'"payments":[', b'"payments":[-Infinity,'), "-Infinity is not a number"),
    "a name twice": (replaced(b'"game":"voleny"', b'"game":"voleny","game":"voleny"'), "a name is repeated"),
    "a name twice within": (replaced(b'"seat":0', b'"seat":0,"seat":0'), "a name is repeated"),
    "half a pair": (replaced(b'"voleny"', b'"\\ud83d"'), "UTF-8"),
    "half a pair as a name": (replaced(b'"game"', b'"\\ude00"'), "UTF-8"),
    "NUL": (replaced(b'"voleny"', b'"vol\0eny"'), "Not JSON"),
    "NUL escaped": (replaced(b'"voleny"', b'"vol\\u0000eny"'), "game: Must be one of"),
    "an unknown field": (replaced(b'"game"', b'"' + b"x" * 200_000 + b'":1,"game"'), "xxxxxxxx"),
    "another format": (replaced(b"marias-deal/1", b"marias-deal/2"), "format: Must be one of: marias-deal/1"),
    "31 cards": (replaced(b'"deck":[', b'"deck":[],"x":['), "deck: Must hold 32 cards"),
    "a card twice": (TEXT.replace(json.dumps(RECORD["deck"][0]).encode(), json.dumps(RECORD["deck"][1]).encode(), 1),
                     "deck: Repeats a card"),
    "an unknown preset": (replaced(b'"hospoda"', b'"kasino"'), "rules"),
    "moves that are none": (replaced(b'"moves":[', b'"moves":[5,'), "move 0: Not a valid object"),
}


@pytest.mark.parametrize(("data", "told"), BAD.values(), ids=BAD)
def test_what_is_no_record_is_refused_with_the_reason(tmp_path, data, told):
    row = one(tmp_path, "bad.json", data)
    assert (row.status, row.record) == ("refused", None)
    assert told in row.message
    assert len(row.message) < 500


def test_every_truncation_of_a_record_is_refused(tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(b"\n".join(TEXT[:length] for length in range(1, len(TEXT))))
    rows = list(import_file(tmp_path / "bad.jsonl"))
    assert len(rows) == len(TEXT) - 1
    assert {(row.status, row.code) for row in rows} == {("refused", "bad_record")}


def test_a_changed_result_is_refused_with_the_right_one(tmp_path):
    paid = json.dumps(RECORD["result"]["payments"], separators=(",", ":")).encode()
    row = one(tmp_path, "bad.json", replaced(paid, b"[7,7,-14]"))
    assert row.code == "result_mismatch"
    assert str(RECORD["result"]["payments"]) in row.message


@pytest.mark.parametrize("result", [
    "[]", "7", '{"payments":' + "9" * 4000 + "}", '{"payments":' + "[" * 900 + "]" * 900 + "}",
])
def test_a_strange_result_is_none(tmp_path, result):
    bare = {name: value for name, value in RECORD.items() if name != "result"}
    row = one(tmp_path, "bad.json", msgspec.json.encode(bare)[:-1] + b',"result":' + result.encode() + b"}")
    assert row.code in ("bad_record", "result_mismatch")


def test_what_is_no_file_is_refused_and_nothing_is_waited_for(tmp_path):
    folder = tmp_path / "deals"
    (folder / "below.json").mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "loop.hra").symlink_to("loop.hra")
    (folder / "gone.json").symlink_to("nowhere")
    (folder / "round").symlink_to(folder)
    (folder / "notes.txt").write_text("not read")
    (folder / "below.json" / "good.json").write_bytes(TEXT)
    ended = marias(tmp_path, "import", str(folder))
    assert is_refused(ended, "pipe.jsonl  (unreadable: It is no regular file.)", "loop.hra  (unreadable: Too many",
                      "gone.json  (unreadable: No such file", "4 files: 1 accepted, 0 partial, 3 refused; 1 of other")
    for name in ("pipe.jsonl", "below.json"):
        [row] = import_file(folder / name)
        assert row.code == "unreadable"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up its rights")
def test_what_may_not_be_read_is_refused(tmp_path):
    for name in ("file.json", "folder/good.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(TEXT)
    (tmp_path / "file.json").chmod(0)
    (tmp_path / "folder").chmod(0)
    for each in (tmp_path, *(each for each in tmp_path.parents if each.stat().st_mode & 0o055 == 0)):
        each.chmod(0o755)
    code = "import os, sys; os.setgid(65534); os.setuid(65534)\n" \
           "from pathlib import Path\nfrom services.exchange.files import files_of, import_file\n" \
           "found = files_of(map(Path, sys.argv[1:]))\n" \
           "print(found.faults, [list(import_file(path)) for path in found.files])"
    done = subprocess.run([sys.executable, "-c", "from services.exchange import files, hra\n" + code,
                           str(tmp_path), str(tmp_path / "folder" / "good.json")],
                          capture_output=True, text=True, check=False, timeout=180, cwd=sources.ROOT)
    (tmp_path / "folder").chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("code='unreadable', message='Permission denied.'") == 3


def test_names_that_are_no_text_are_shown_harmless(tmp_path):
    for name in (b"\xff\xfe.json", b"\x1b[2J\r.json", "Ž\u202e.json".encode(), b"new\nline.hra"):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_bytes(b"{")
    for words in (("--json",), ()):
        ended = marias(tmp_path, "import", str(tmp_path / "."), *words)
        assert is_refused(ended, r"\udcff", r"\x1b[2J", r"\u202e.json", r"\nline.hra")
        lines = ended.out.splitlines()
        assert len(lines) == (4 if words else 7)
        assert all(line.isprintable() for line in lines)


def test_an_archive_is_no_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "deals.zip", "w") as packed:
        packed.writestr("deal.json", TEXT)
    ended = marias(tmp_path, "import", str(tmp_path / "deals.zip"))
    assert is_refused(ended, "unknown_format: The name ends in none of .hra .json .jsonl.")


def long_line(path, before=b"", byte=b" ", after=b""):
    with path.open("wb") as file:
        file.write(before)
        for _ in range(LINE_MIB):
            file.write(byte * MIB)
        file.write(after)


LONG = {
    "spaces.jsonl": (TEXT[:-1], b" ", b"}\n"),
    "lists.jsonl": (b"", b"[", b""),
    "text.json": (b'{"format":"', b"x", b'"}'),
    "digits.json": (b'{"dealer":', b"9", b"}"),
    "zeros.json": (b"", b"\0", b""),
    "spaces.hra": (b"<Hra>", b" ", b"</Hra>"),
    "name.hra": (b"<Hra ", b"x", b"='1'/>"),
    "value.hra": (b"<Hra Voli='", b"x", b"'/>"),
    "zeros.hra": (b"", b"\0", b""),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_lines_of_100_megabytes_do_not_weigh(tmp_path):
    idle = marias(tmp_path, "import", "--help")
    folder = tmp_path / "deals"
    folder.mkdir()
    for name, parts in list(LONG.items())[:: 1 if HEAVY else 5]:
        long_line(folder / name, *parts)
        ended = marias(tmp_path, "import", str(folder))
        assert is_refused(ended, name)
        assert ended.mib - idle.mib < GROWTH_MIB_MAX, (name, ended.mib, idle.mib)
        for words in ([], ["--jsonl"])[: 2 if HEAVY else 1]:
            ended = marias(tmp_path, "deal", "run", *words, str(folder / name))
            assert is_refused(ended, "bad_record")
            assert ended.mib - idle.mib < GROWTH_MIB_MAX, (words, ended.mib, idle.mib)
        ended = marias(tmp_path, "import", "-", stdin=folder / name)
        assert is_refused(ended, "refused")
        assert ended.mib - idle.mib < GROWTH_MIB_MAX, (name, ended.mib, idle.mib)
        (folder / name).unlink()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_folder_of_bad_files_weighs_no_more_than_a_few(tmp_path):
    bombs = [
        b'<!DOCTYPE Hra [<!ENTITY a "' + b"a" * 50_000 + b'">]><Hra>' + b"&a;" * 50_000 + b"</Hra>",
        b"<Hra>" + b"<a>" * 80_000, b"[" * 250_000, b'{"a":' * 40_000,
        b"<Hra>" + b"<a>" * 30_000 + b"</a>" * 30_000 + b"</Hra>", b'"' + b"\\u0041" * 40_000 + b'"',
        b"<Hra " + b" ".join(b"a%d='x'" % number for number in range(20_000)) + b"/>",
    ]
    weights = []
    for count in (4, 60 if HEAVY else 24):
        folder = tmp_path / f"{count}"
        folder.mkdir()
        for number in range(count):
            for place, bomb in enumerate(bombs):
                (folder / f"{number}-{place}.{'hra' if bomb.startswith(b'<') else 'json'}").write_bytes(bomb)
        ended = marias(tmp_path, "import", str(folder))
        assert is_refused(ended, f"{count * len(bombs)} files: 0 accepted, 0 partial, {count * len(bombs)} refused")
        weights.append(ended.mib)
    assert weights[1] - weights[0] < 30, weights  # The bytes of the files alone are more.


def test_ctrl_c_leaves_no_file_of_records(tmp_path):
    out = tmp_path / "out.jsonl"
    running = subprocess.Popen([sys.executable, "-m", "services.cli", "import", "-", "--records", str(out)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=sources.ROOT)
    assert running.stdin is not None
    running.stdin.write((TEXT + b"\n") * 200)
    running.stdin.flush()
    end = time.monotonic() + 120
    while not list(tmp_path.iterdir()) and time.monotonic() < end:
        time.sleep(0.02)
    assert [path.name.startswith(".out.jsonl") for path in tmp_path.iterdir()] == [True]
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=180)
    assert (running.returncode, said) == (130, b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("to", ["folder", "nowhere/out", "/dev/null/out"])
def test_a_place_that_cannot_be_written_is_told(tmp_path, to):
    (tmp_path / "folder").mkdir()
    (tmp_path / "deal.json").write_bytes(TEXT)
    ended = marias(tmp_path, "import", str(tmp_path / "deal.json"), "--records", str(tmp_path / to))
    assert ended.status in (1, 2)
    assert "Error" in ended.err
    assert "Traceback" not in ended.err


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "out")
    (tmp_path / "deal.json").write_bytes(TEXT)
    ended = marias(tmp_path, "import", str(tmp_path / "deal.json"), "--records", str(tmp_path / "out"))
    assert is_refused(ended, "is there and is no file")
    assert (tmp_path / "out").is_fifo()


def test_the_record_of_these_tests_is_one():
    assert run_record(RECORD)["ok"]

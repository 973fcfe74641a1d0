"""Exports of a running system, by pipes and into files, and back again."""

import csv
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import msgspec
import pytest
import zstandard

from services.store import chain
from services.store.history import recorded
from tests import sources
from tests.program.running import Running, until
from tests.weighed import GROWTH_MIB_MAX, is_refused
from tests.weighed import marias as weighed

pytestmark = [pytest.mark.server, pytest.mark.slow]

DEALS = 4
ALL_IN_THE_LOG = r"(\d+) of \1 deals in the log"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("export") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def table(server):
    """A table at which Ana plays with bots, and leaves it to them after the first deal."""
    _, player = server.call("POST", "/v1/players", {"name": "=Ana"})
    bearer = {"Authorization": f"Bearer {player['token']}"}
    opening = {"game": "voleny", "bots": [1, 2], "auto_ready": True, "deals": DEALS, "turn_seconds": 1}
    _, opened = server.call("POST", "/v1/tables", opening, **bearer)
    path = f"/v1/tables/{opened['table']}"
    for number, body in enumerate(({"type": "sit", "seat": 0}, {"type": "ready"}, {"type": "leave"})):
        server.call("POST", f"{path}/commands", body, Idempotency_Key=f"k{number}", Prefer="wait=20", **bearer)
        if number == 1:
            until(lambda: play_one(server, path, bearer))
    until(lambda: server.call("GET", path, **bearer)[1]["phase"] == "lobby")  # And so it stays: a seat is free.
    server.ask("GET", "/v1/players/me/ledger", **bearer)  # All of it is booked.
    return {"id": opened["table"], "player": player["player"], "bearer": bearer}


def play_one(server, path, bearer):
    """Play a legal move if it is our turn; whether the first deal is over."""
    _, view = server.call("GET", path, **bearer)
    if view["legal"]:
        key = f"m{view['version']}"
        server.call("POST", f"{path}/commands", view["legal"][0], Idempotency_Key=key, Prefer="wait=20", **bearer)
    return view["deal"] > 1 or (view["phase"] == "lobby" and view["deal"] == 1)


@pytest.fixture(scope="module")
def auditor(server):
    token = piped(server, "marias token --role auditor").decode().strip()
    return {"Authorization": f"Bearer {token}"}


def bound(server, command):
    return f'set -o pipefail; marias() {{ "{sys.executable}" -m services.cli "$@"; }}; {command}'


def environment(server):
    return {**server.environment, "MARIAS_DATA": str(server.data)}


def piped(server, command, status=0):
    """The standard output of a pipe of commands."""
    done = subprocess.run(["bash", "-c", bound(server, command)], capture_output=True, check=False, timeout=120,
                          cwd=sources.ROOT, env=environment(server), stdin=subprocess.DEVNULL)
    assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def deals_of(server, table, reader):
    found = []
    while True:
        status, record = server.ask("GET", f"/v1/tables/{table['id']}/deals/{len(found) + 1}", **reader)
        if status != 200:
            return found
        found.append(msgspec.json.encode(record))


def test_records_leave_whole_and_come_back_through_pipes(server, table, auditor):
    exported = piped(server, f"marias export deals {table['id']}")
    told = deals_of(server, table, auditor)
    assert exported.splitlines()[: len(told)] == told
    assert len(told) >= 1
    one = f"marias export deals {table['id']} --deal 1"
    assert piped(server, f"{one} | marias import -") == told[0] + b"\n"
    answer = msgspec.json.decode(piped(server, f"{one} | marias import - | marias deal run -"))
    assert answer["result"] == msgspec.json.decode(told[0])["result"]
    assert told[0] in piped(server, "marias export deals --all")


def test_records_as_somebody_may_know_them(server, table):
    [first] = piped(server, f"marias export deals {table['id']} --deal 1 --seat 0").splitlines()
    assert first == deals_of(server, table, table["bearer"])[0]
    [seen] = piped(server, f"marias export deals {table['id']} --deal 1 --spectator").splitlines()
    assert msgspec.json.decode(seen)["deck"] == ["??"] * 32
    refused = f"marias export deals {table['id']} --deal 1 --spectator | marias import -"
    assert piped(server, refused, status=1) == b""


def test_a_table_is_one_file_that_is_proven_and_goes_elsewhere(server, table, tmp_path):
    file, other = tmp_path / "table.jsonl.zst", tmp_path / "other"
    piped(server, f"marias export table {table['id']} --out {file}")
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert piped(server, f"marias archive verify {file}").startswith(f"{table['id']} is whole in {file}: ".encode())
    assert piped(server, f"marias export table {table['id']} | cat").startswith(b"\x28\xb5\x2f\xfd")
    added = piped(server, f"marias archive add {file} --to {other}").decode()
    assert f"deals of {table['id']} added to {other}" in added
    assert piped(server, f"marias archive verify {other}").endswith(f"of 1 table whole in {other}\n".encode())


@pytest.fixture(scope="module")
def proven(server, table, tmp_path_factory):
    """The table in a file, written once all of its deals are in a signed head, and the keys as they are served."""
    folder = tmp_path_factory.mktemp("proven")
    served = server.call("GET", "/v1/.well-known/jwks.json")[1]
    (folder / "jwks.json").write_bytes(msgspec.json.encode(served))

    def is_exported():
        server.call("GET", "/v1/log/head?now=true", **table["bearer"])
        (folder / "table").unlink(missing_ok=True)
        piped(server, f"marias export table {table['id']} --out {folder / 'table'}")
        return re.search(ALL_IN_THE_LOG, verified(server, folder / "table", folder / "jwks.json"))

    until(is_exported)
    return folder


def verified(server, file, keys, status=0):
    """What is said of a table's file, held against keys that were fetched."""
    command = f"marias archive verify {file} --keys {keys} 2>&1"
    return piped(server, command, status).decode()


def frames_of(packed):
    """The frames of a file, unpacked."""
    found = []
    while packed:
        reader = zstandard.ZstdDecompressor().decompressobj()
        found.append(reader.decompress(packed))
        packed = reader.unused_data
    return found


def packed_again(frames):
    return b"".join(map(zstandard.ZstdCompressor().compress, frames))


def test_a_file_of_a_served_table_is_proven_by_the_served_keys_alone(server, table, proven, tmp_path):
    told = verified(server, proven / "table", proven / "jwks.json")
    assert re.search(rf"{ALL_IN_THE_LOG} .*keys of {proven / 'jwks.json'}", told), told
    other = {"keys": [each for each in msgspec.json.decode((proven / "jwks.json").read_bytes())["keys"]
                      if not each["kid"].startswith("receipts.")]}
    (tmp_path / "other.json").write_bytes(msgspec.json.encode(other))
    assert "the head of the log is not signed" in verified(server, proven / "table", tmp_path / "other.json", 1)


def written_anew(frames):
    """The last deal with another key of a command, and every hash after it made to fit."""
    header, *lines = map(msgspec.json.decode, frames[-2].splitlines())
    lines[1]["k"] = "another"
    previous = chain.digest(header["previous"])
    for line in lines:
        flat = [part.encode() for name, value in line.items() if name != "id" for part in (name, value)]
        previous = chain.link(previous, header["table"], recorded((line["id"].encode(), flat)))
        line["h"] = chain.text(previous)
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    header |= {"head": chain.text(previous), "sha256": hashlib.sha256(body).hexdigest()}
    end = msgspec.json.decode(frames[-1]) | {"head": chain.text(previous)}
    return [*frames[:-2], msgspec.json.encode(header) + b"\n" + body, msgspec.json.encode(end) + b"\n"]


def other_path(frames):
    end = msgspec.json.decode(frames[-1])
    first = end["proof"]["deals"][0]
    first["path"] = ["A" * 43 for _ in first["path"]]
    return [*frames[:-1], msgspec.json.encode(end) + b"\n"]


def later_head(frames):
    end = msgspec.json.decode(frames[-1])
    end["proof"]["at"] += 1
    return [*frames[:-1], msgspec.json.encode(end) + b"\n"]


@pytest.mark.parametrize(("change", "says"), [
    (written_anew, "is not leaf"),
    (other_path, "deal 1 is not leaf"),
    (later_head, "signed was"),
    (lambda frames: [frames[0], *frames[2:]], "deal 1 from version 1 on is missing"),
    (lambda frames: frames[:-1], "it is cut off"),
    (lambda frames: [*frames[:1], frames[1].replace(b"deal_ended", b"deal_Ended", 1), *frames[2:]], "SHA-256"),
])
def test_a_changed_copy_of_it_is_refused_with_the_reason(server, proven, tmp_path, change, says):
    frames = frames_of((proven / "table").read_bytes())
    (tmp_path / "same").write_bytes(packed_again(frames))
    assert "is whole in" in verified(server, tmp_path / "same", proven / "jwks.json")
    (tmp_path / "changed").write_bytes(packed_again(change(frames)))
    told = verified(server, tmp_path / "changed", proven / "jwks.json", 1)
    assert says in told
    assert "Traceback" not in told


def test_ledgers_say_what_the_api_says(server, table):
    rows = {
        words: list(csv.DictReader(io.StringIO(piped(server, f"marias export ledger {words}").decode(), newline="")))
        for words in (f"--player {table['player']}", f"--table {table['id']}", "--all", "--all --account chips")
    }
    own, seats, everybody, chips = rows.values()
    assert [row for row in everybody if row["player"] == table["player"]] == own
    assert [row for row in everybody if row["account"] == "chips"] == chips
    assert {row["name"] for row in own} == {"'=Ana"}
    assert {row["name"] for row in seats} == {"'=Ana", "bot rule"}
    for account in ("score", "chips"):
        _, told = server.ask("GET", f"/v1/players/me/ledger?account={account}", **table["bearer"])
        mine = [row for row in own if row["account"] == account]
        assert [(row["id"], int(row["chips"]), row["at"]) for row in mine] == [
            (posting["id"], posting["chips"], posting["at"]) for posting in told["postings"]
        ]
        assert int(mine[-1]["balance"]) == told["balance"]
    asked = urllib.request.Request(f"{server.http}/v1/players/me/ledger", headers={"Accept": "text/csv",
                                                                                  **table["bearer"]})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        over_http = list(csv.DictReader(io.StringIO(answer.read().decode(), newline="")))
    assert over_http == [row for row in own if row["account"] == "score"]


@pytest.mark.parametrize(("words", "told"), [
    ("deals t-00-000000000000", "There is no finished deal at t-00-000000000000"),
    ("table t-00-000000000000", "There is no table t-00-000000000000"),
    ("ledger --table t-00-000000000000", "There is no table t-00-000000000000"),
    ("ledger --player u-00-0000000000000000", "There is no player u-00-0000000000000000"),
])
def test_what_is_not_there_is_told_and_leaves_no_file(server, tmp_path, words, told):
    ended = weighed(tmp_path, "export", *words.split(), "--out", str(tmp_path / "out"), environment=environment(server))
    assert is_refused(ended, told)
    assert [path.name for path in tmp_path.iterdir()] == ["peak"]


def test_without_a_store_it_says_how_to_name_one(tmp_path):
    nowhere = {"MARIAS_DATA": str(tmp_path / "nothing"), "REDIS_URL": ""}
    ended = weighed(tmp_path, "export", "deals", "--all", environment=nowhere)
    assert is_refused(ended, "There is no store to work with")


def test_ctrl_c_leaves_nothing_half(server, table, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", "import services.exchange.deals as deals, time, sys\n"
               "whole = deals.records\n"
               "def slow(*words, **more):\n"
               "    for each in whole(*words, **more):\n"
               "        yield each\n"
               "        time.sleep(60)\n"
               "deals.records = slow\n"
               "from services.cli import main\nsys.exit(main())", "export", "deals", table["id"], "--out", str(out)]
    running = subprocess.Popen(command, cwd=sources.ROOT, env=environment(server), stderr=subprocess.PIPE)
    until(lambda: list(tmp_path.iterdir()))
    time.sleep(0.5)
    assert [path.name.startswith(".out.") for path in tmp_path.iterdir()] == [True]
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=90)
    assert (running.returncode, said) == (130, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_table_file_that_is_none_is_refused_and_does_not_weigh(server, table, tmp_path):
    file = tmp_path / "table.jsonl.zst"
    piped(server, f"marias export table {table['id']} --out {file}")
    whole = file.read_bytes()
    idle = weighed(tmp_path, "archive", "--help")
    for data, told in (
        (whole[:-20], "cut off"), (whole + b"\0", "not packed with zstd"), (b"\x89PNG\r\n\x1a\n", "not packed"),
        (b"", "it is empty"), (b"\x28\xb5\x2f\xfd\x00\x58" + b"\x02\x00\x10\x00" * 100_000, "packed tighter"),
    ):
        file.write_bytes(data)
        for words in (("verify", str(file)), ("add", str(file), "--to", str(tmp_path / "other"))):
            ended = weighed(tmp_path, "archive", *words)
            assert is_refused(ended, f"{file}: ", told)
            assert ended.mib - idle.mib < GROWTH_MIB_MAX
    os.unlink(file)
    os.mkfifo(file)
    assert is_refused(weighed(tmp_path, "archive", "verify", str(file)), "It is no regular file")
    assert not (tmp_path / "other").exists()

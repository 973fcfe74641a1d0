"""A table in one file, and that its deals are in the log that the service has signed."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator

import jwt
import msgspec
import pytest
import zstandard
from click.testing import CliRunner
from fakeredis import FakeRedis, FakeServer

from services.archive.table_file import packed_table, parts
from services.cli.archive import archive
from services.exchange.proofs import BadProof, Ended, checked, proof_of
from services.signing import Signer, published
from services.store import history
from services.transparency import signing
from services.transparency.heads import BadHeads, all_checked
from services.transparency.outside import LINE_MAX, PIECE, InFile
from tests import sources
from tests.transparency.conftest import Logged, sat
from tests.weighed import GROWTH_MIB_MAX, is_refused, marias
from tests.worker.house import OTHER, TABLE

DEALS = 3


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[Logged]:
    """Two tables whose deals are logged under one signed head; then one more deal, which no head covers."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    made = Logged(client, tmp_path_factory.mktemp("proofs"))
    sat(made, TABLE, OTHER)
    for table in (TABLE, OTHER, TABLE):
        made.play_deals(1, table)
    made.log()
    signing.sign(made.book)
    made.play_deals(1, TABLE)
    yield made
    client.close()


@pytest.fixture(scope="module")
def data(house):
    """The file of the first table."""
    version = history.last_version(house.redis, TABLE)
    keys = house.signer.jwks()
    entries = history.raw_after(house.redis, TABLE, 0)
    return b"".join(packed_table(TABLE, version, entries, lambda deals: proof_of(house.redis, TABLE, deals, keys)))


def ended_of(data):
    *found, end = parts(io.BytesIO(data))
    return end, {part.deal.deal: Ended(part.deal.first, part.deal.last, part.deal.head) for part in found}


def test_the_deals_under_the_last_head_are_proven(house, data):
    end, ended = ended_of(data)
    proof = checked(end.proof, TABLE, ended, house.signer.find)
    assert (end.deals, proof.size, [each.deal for each in proof.deals]) == (DEALS, 3, [1, 2])
    assert checked(end.proof, TABLE, ended, published({"keys": end.proof["keys"]})) == proof


def test_a_table_of_which_no_deal_is_logged_has_no_proof(tmp_path):
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    assert proof_of(client, TABLE, 3, []) is None
    client.close()


def test_other_keys_do_not_do(house, data, tmp_path):
    end, ended = ended_of(data)
    with pytest.raises(BadProof, match="is not signed"):
        checked(end.proof, TABLE, ended, Signer(tmp_path).find)


def changed(proof, **fields):
    return {**proof, **fields}


def other_signature(house, proof):
    """The right head of another log, with its own root."""
    from services.transparency.heads import Head, sign

    return sign(house.signer, Head(proof["size"], "A" * 43, proof["at"]))


FORGED = {
    "nothing": (lambda house, proof: {}, "cannot be read"),
    "a list": (lambda house, proof: [], "cannot be read"),
    "a huge size": (lambda house, proof: changed(proof, size=10**40), "cannot be read|signed was"),
    "another size": (lambda house, proof: changed(proof, size=4), "signed was"),
    "another root": (lambda house, proof: changed(proof, root="A" * 43), "signed was"),
    "no root": (lambda house, proof: changed(proof, root="x"), "cannot be read"),
    "another time": (lambda house, proof: changed(proof, at=1), "signed was"),
    "no signature": (lambda house, proof: changed(proof, signed=""), "is not signed"),
    "a signature of nobody": (
        lambda house, proof: changed(proof, signed=jwt.encode({}, "x" * 32, algorithm="HS256")), "is not signed",
    ),
    "an unsigned statement": (
        lambda house, proof: changed(proof, signed=jwt.encode({}, None, algorithm="none")), "is not signed",
    ),
    "a receipt": (
        lambda house, proof: changed(proof, signed=house.signer.sign("marias-receipt+jws", {"size": 3})),
        "is not signed",
    ),
    "the head of another log": (
        lambda house, proof: changed(proof, signed=other_signature(house, proof)), "signed was",
    ),
    "the head of another log, with its root": (
        lambda house, proof: changed(proof, root="A" * 43, signed=other_signature(house, proof)), "deal 1 is not leaf",
    ),
    "another place": (
        lambda house, proof: changed(proof, deals=[changed(each, index=each["index"] ^ 1) for each in proof["deals"]]),
        "is not leaf",
    ),
    "a place before all": (
        lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], index=-1)]), "deal 1 is not leaf -1",
    ),
    "the path of another deal": (
        lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], path=proof["deals"][1]["path"])]),
        "deal 1 is not leaf",
    ),
    "no path": (lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], path=[])]), "deal 1 is not leaf"),
    "a long path": (
        lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], path=["A" * 43] * 1000)]), "1000 nodes",
    ),
    "a path of noise": (
        lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], path=["?"])]), "the path of deal 1",
    ),
    "a deal that is not there": (
        lambda house, proof: changed(proof, deals=[changed(proof["deals"][0], deal=99)]), "deal 99, which is not there",
    ),
}


@pytest.mark.parametrize(("forge", "told"), FORGED.values(), ids=FORGED)
def test_a_forged_proof_is_refused(house, data, forge, told):
    end, ended = ended_of(data)
    with pytest.raises(BadProof, match=told):
        checked(forge(house, end.proof), TABLE, ended, house.signer.find)


def test_the_proof_of_another_table_is_foreign(house, data):
    end, ended = ended_of(data)
    with pytest.raises(BadProof, match="deal 1 is not leaf"):
        checked(proof_of(house.redis, OTHER, 1, []), TABLE, ended, house.signer.find)
    with pytest.raises(BadProof, match="deal 1 is not leaf"):
        checked(end.proof, OTHER, ended, house.signer.find)


def with_proof(data, change):
    """The file with another last frame."""
    *_, end = parts(io.BytesIO(data))
    text = msgspec.json.encode(msgspec.structs.replace(end, proof=change(end.proof)))
    return data[: data.rindex(zstandard.FRAME_HEADER)] + zstandard.ZstdCompressor().compress(text + b"\n")


@pytest.fixture
def verify(tmp_path, monkeypatch):
    """`marias archive verify` in this process; the exit status and what was said."""
    monkeypatch.setenv("MARIAS_DATA", str(tmp_path / "nowhere"))

    def run(*words):
        done = CliRunner().invoke(archive, ["verify", *map(str, words)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


def test_the_command_says_whose_keys_it_took(house, data, tmp_path, verify):
    file, keys = tmp_path / "table", tmp_path / "keys.json"
    file.write_bytes(data)
    keys.write_text(json.dumps({"keys": house.signer.jwks()}))
    status, said = verify(file)
    assert status == 0
    assert "2 of 3 deals in the log of 3 deals" in said
    assert "by keys that only the file itself names" in said
    assert f"(keys of {keys})" in verify(file, "--keys", keys)[1]
    keys.write_text(json.dumps({"keys": Signer(tmp_path / "other").jwks()}))
    status, said = verify(file, "--keys", keys)
    assert status == 1
    assert said.startswith(f"Error: {file}: the head of the log is not signed")
    for wrong in (b"", b"[]", b"7", b'{"keys": 5}', b'{"keys": [5]}', b'{"keys": [{"kty": "OKP", "crv": 5}]}',
                  b'{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": 5}]}', b"\xff", b"[" * 70_000, b"[" * 9_000):
        keys.write_bytes(wrong)
        status, said = verify(file, "--keys", keys)
        assert status == 1, wrong
        assert "keys cannot be read" in said or "the head of the log is not signed" in said


def test_a_file_whose_proof_was_changed_is_refused(data, tmp_path, verify):
    file = tmp_path / "table"
    for change, told in (
        (lambda proof: changed(proof, size=4), "signed was"), (lambda proof: 5, "cannot be read"),
        (lambda proof: changed(proof, keys=[{}]), "keys cannot be read"),
        (lambda proof: changed(proof, keys=[]), "is not signed"),
    ):
        file.write_bytes(with_proof(data, change))
        status, said = verify(file)
        assert status == 1
        assert said.startswith(f"Error: {file}: ")
        assert told in said
    file.write_bytes(with_proof(data, lambda proof: None))
    status, said = verify(file)
    assert (status, said.splitlines()[-1]) == (0, "no deal was in a signed log when it was written")


@pytest.mark.parametrize("line", [
    b"[" * 300_000, b"\x89PNG\r\n\x1a\n" * 40_000, b"\0" * 5_000_000, b'{"size":1e999}\n', b"\n",
])
def test_heads_that_are_none_are_refused_by_their_line(house, tmp_path, line):
    path = tmp_path / "heads.jsonl"
    path.write_bytes(house.kept.path.read_bytes() + line + b"\n")
    with pytest.raises(BadHeads, match="line 2"):
        list(all_checked(house.signer.find, InFile(path).lines()))
    with InFile(path).opened() as file:
        assert len(file.last()) <= LINE_MAX + PIECE


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_long_proof_or_head_does_not_weigh(tmp_path):
    path = tmp_path / "long"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"[" * 1_000_000)
    code = "import runpy, sys\n" \
           "sys.argv = sys.argv[1:]\n" \
           "try: runpy.run_path(sys.argv[0], run_name='__main__')\n" \
           "finally: print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    alone = subprocess.run([sys.executable, "-c", code, str(sources.ROOT / "deploy" / "verify_deal.py"), str(path)],
                           capture_output=True, text=True, check=False, timeout=300)
    assert alone.returncode == 1
    assert alone.stderr.startswith(f"{path}: cannot be read as JSON: ")
    assert int(alone.stdout.split()[1]) / 1024 < GROWTH_MIB_MAX
    nowhere = {"MARIAS_DATA": str(tmp_path / "nowhere")}
    idle = marias(tmp_path, "log", "--help")
    for words in (("log", "check", str(path)), ("verify", str(path))):
        ended = marias(tmp_path, *words, environment=nowhere)
        assert is_refused(ended, str(path))
        assert ended.mib - idle.mib < GROWTH_MIB_MAX

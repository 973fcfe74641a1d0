"""`marias verify`: what it says of good proofs, of broken ones and of files that are none."""

import json

import pytest
from click.testing import CliRunner

from schemas.proofs import proof_of
from services.cli.verify import verify
from services.key_pairs import make_pair
from services.worker.seal import PRIVATE, PUBLIC, read_public_key, seal
from tests.cast import SEATED
from tests.table.fairly import KEY, whole

EVENTS = whole(*SEATED)


def run(*arguments, told=None):
    return CliRunner().invoke(verify, list(map(str, arguments)), input=told)


@pytest.fixture
def files(tmp_path):
    for holder in (0, 1, 2, None, "auditor"):
        (tmp_path / f"{holder}.json").write_text(json.dumps(proof_of(EVENTS, holder)))
    return tmp_path


def test_a_good_proof(files):
    told = run(files / "0.json")
    assert told.exit_code == 0
    assert "fair: table t-1f-0a1b2c3d4e5f, deal 1\n" in told.output
    assert "its player, its player, its player" in told.output


def test_three_proofs_show_the_whole_deck(files):
    told = run(*(files / f"{seat}.json" for seat in range(3)), "--json")
    assert told.exit_code == 0
    found = json.loads(told.output)
    assert (found["ok"], found["whole"], len(found["proofs"])) == (True, True, 3)


def test_a_proof_from_the_standard_input(files):
    assert run("-", told=(files / "None.json").read_bytes()).exit_code == 0


def test_a_broken_proof_is_named_by_its_place(files):
    bad = json.loads((files / "1.json").read_text())
    bad["nonces"][2] = "00" * 32
    (files / "bad.json").write_text(json.dumps(bad))
    told = run(files / "bad.json")
    assert (told.exit_code, told.output) == (1, "unfair: 1: nonces[2] is not what the seat had committed to\n")
    found = json.loads(run(files / "0.json", files / "bad.json", "--json").output)
    assert (found["ok"], found["field"]) == (False, "2: nonces[2]")


@pytest.mark.parametrize("text", [b"", b"no", b"[" * 100_000, b'{"a": NaN}', b" " * 300_000, bytes(50)])
def test_a_file_that_is_none_is_refused_with_its_name(files, text):
    (files / "none.json").write_bytes(text)
    told = run(files / "none.json")
    assert told.exit_code == 1
    assert "none.json" in told.output
    assert not isinstance(told.exception, RecursionError)


def test_an_auditor_checks_from_the_deal_key_on(files, tmp_path):
    make_pair(tmp_path / PUBLIC, tmp_path / PRIVATE)
    document = json.loads((files / "auditor.json").read_text())
    document["sealed_key"] = seal(read_public_key(tmp_path), KEY)
    (files / "sealed.json").write_text(json.dumps(document))
    told = run(files / "sealed.json", "--keys", tmp_path)
    assert told.exit_code == 0
    assert "sealed deal key: yes" in told.output
    assert "sealed deal key: not checked" in run(files / "sealed.json").output
    assert "--keys was not needed" in run(files / "0.json", "--keys", tmp_path).output
    document["sealed_key"] = seal(read_public_key(tmp_path), bytes(32))
    (files / "other.json").write_text(json.dumps(document))
    assert "seed does not come from the deal key" in run(files / "other.json", "--keys", tmp_path).output
    assert "sealed_key is not sealed to this auditor" in run(files / "auditor.json", "--keys", tmp_path).output


def test_a_refusal_kept_by_mistake_is_told_with_its_remedy(files):
    refusal = {"status": 401, "detail": "The caller is not known.", "remedy": "Send the header."}
    (files / "refusal.json").write_text(json.dumps(refusal))
    told = run(files / "refusal.json")
    assert told.exit_code == 1
    assert "refusal.json: is a refusal: The caller is not known. Send the header." in told.output


def test_an_auditor_who_names_a_folder_without_the_key_is_told_where_it_lies(files, tmp_path):
    assert "holds no auditor.key" in run(files / "auditor.json", "--keys", tmp_path).output

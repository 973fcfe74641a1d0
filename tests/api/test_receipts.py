"""Receipts that can be kept: signed, told apart from tokens, and held against what the table's past says later."""

import json
import os
import time
from functools import reduce
from itertools import takewhile

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from services import receipts, rings
from services.receipts import Receipt, read
from services.signing import RECEIPT, TREE_HEAD, BadSignature, Signer, opened, published
from services.store import chain, history, keys
from services.written import Written


@pytest.fixture
def find(house):
    """The keys as anybody may fetch them."""
    return published(house.call("GET", "/v1/.well-known/jwks.json").json)


def entries_of(house, table):
    return list(history.entries_after(house.redis, table, 0))


def test_a_receipt_that_is_fetched_is_signed(house, trio, find):
    ana, table = trio[0], trio[0].open()
    ana.command(table, {"type": "sit"}, key="k")
    told = ana.get(f"/v1/tables/{table}/receipts/k").json
    said = read(find, told["signed"])
    assert (told["status"], told["version"], told["hash"]) == ("applied", said.version, said.hash)
    assert (said.table, said.player, said.key, said.status) == (table, ana.id, "k", "applied")
    assert abs(time.time() - said.at) < 60
    assert said.hash == entries_of(house, table)[-1].hash
    assert Written(table, entries_of(house, table)).denies(said) is None


def test_an_answer_is_signed_when_that_is_asked_for(house, trio, find):
    ana, table = trio[0], trio[0].open()
    answer = ana.command(table, {"type": "sit"}, key="k", Prefer="wait=5, receipt=signed")
    assert answer.headers["Preference-Applied"] == "wait=5, receipt=signed"
    assert read(find, answer.json["signed"]).hash == answer.json["hash"]
    assert "signed" not in ana.command(table, {"type": "sit"}, key="k").json


def test_a_refusal_is_signed_too(house, trio, find):
    ana, table = trio[0], trio[0].open()
    ana.command(table, {"type": "sit"})
    answer = ana.command(table, {"type": "sit"}, key="again", Prefer="receipt=signed, wait=5")
    said = read(find, answer.json["signed"])
    assert (answer.status_code, said.status, said.code, said.hash) == (409, "refused", "already_seated", "")


def test_what_is_only_queued_is_signed_as_such(house, trio, find):
    ana, table = trio[0], trio[0].open()
    house.open = False
    answer = ana.post(f"/v1/tables/{table}/commands", {"type": "sit"}, Idempotency_Key="k", Prefer="receipt=signed")
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (202, "receipt=signed")
    said = read(find, answer.json["signed"])
    assert (said.status, said.key, said.version) == ("queued", "k", 0)
    assert Written(table, entries_of(house, table)).denies(said) is None


def test_a_token_is_no_receipt_and_a_receipt_no_token(house, trio, find):
    ana, table = trio[0], trio[0].open()
    ana.command(table, {"type": "sit"}, key="k")
    signed = ana.get(f"/v1/tables/{table}/receipts/k").json["signed"]
    with pytest.raises(BadSignature, match="typ"):
        read(find, ana.token)
    assert house.call("GET", "/v1/tables", token=signed).status_code == 401
    with pytest.raises(BadSignature, match="typ"):
        opened(find, TREE_HEAD, signed)


def test_keys_come_and_go_and_what_they_signed_stays_good(tmp_path, monkeypatch):
    monkeypatch.setattr(rings, "LOOK_SECONDS", -1.0)
    signer = Signer(tmp_path)
    old = signer.sign(RECEIPT, {"table": "t"})
    key = Ed25519PrivateKey.generate()
    (tmp_path / "k2.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    later = time.time() + 1
    os.utime(tmp_path / "k2.pem", (later, later))
    new = signer.sign(RECEIPT, {"table": "t"})
    assert [jwt.get_unverified_header(each)["kid"] for each in (old, new)] == ["receipts.k1", "receipts.k2"]
    first = rings._read(tmp_path)["k1"]
    half = first.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "k1.public").write_bytes(half)
    (tmp_path / "k1.public").replace(tmp_path / "k1.pem")
    for ring in (signer, Signer(tmp_path)):
        assert opened(ring.find, RECEIPT, old) == opened(ring.find, RECEIPT, new) == {"table": "t"}
        assert {each["kid"] for each in ring.jwks()} == {"receipts.k1", "receipts.k2"}
        assert jwt.get_unverified_header(ring.sign(RECEIPT, {}))["kid"] == "receipts.k2"
    (tmp_path / "k1.pem").unlink()
    with pytest.raises(BadSignature, match=r"receipts\.k1"):
        opened(signer.find, RECEIPT, old)


def forged(signer, change):
    """A receipt with something changed after it was signed."""
    head, body, seal = signer.sign(RECEIPT, {"table": "t-01-00000000000a", "version": 1}).split(".")
    return change(head, body, seal)


@pytest.mark.parametrize("change", [
    lambda head, body, seal: f"{head}.{body[:-2]}AA.{seal}",
    lambda head, body, seal: f"{head}.{body}.{'A' * len(seal)}",
    lambda head, body, seal: f"{head}.{body}.",
    lambda head, body, seal: f"{head}.{body}",
    lambda head, body, seal: "",
    lambda head, body, seal: "x" * 5000,
    lambda head, body, seal: "ž.ž.ž",
    lambda head, body, seal: f"{jwt.utils.base64url_encode(json.dumps({'alg': 'none'}).encode()).decode()}.{body}.",
])
def test_what_was_not_signed_is_refused(tmp_path, change):
    signer = Signer(tmp_path)
    with pytest.raises(BadSignature):
        read(signer.find, forged(signer, change))


def test_another_key_under_the_same_id_is_refused(tmp_path):
    ours, theirs = Signer(tmp_path / "ours"), Signer(tmp_path / "theirs")
    with pytest.raises(BadSignature, match="not signed by the key"):
        read(ours.find, theirs.sign(RECEIPT, {"table": "t"}))
    with pytest.raises(BadSignature, match="no receipt"):
        read(ours.find, ours.sign(RECEIPT, {"table": "t"}))


@pytest.mark.parametrize("wrong", [{}, {"keys": [{"kty": "x"}]}, {"keys": 3}, {"keys": [7]}])
def test_what_is_no_set_of_keys_is_refused(wrong):
    with pytest.raises(BadSignature, match="set of keys"):
        published(wrong)


@pytest.fixture
def played(house, trio, find):
    """A table, its entries, and the receipts of all that was applied."""
    table = trio[0].open()
    for guest in trio:
        guest.command(table, {"type": "sit"})
    for guest in trio:
        guest.command(table, {"type": "ready"})
    entries = entries_of(house, table)
    kept = []
    for entry in entries:
        stored = json.loads(house.redis.hget(keys.receipts(table), f"{entry.actor}/{entry.key}"))
        said = receipts.receipt_of(table, entry.actor, entry.key, stored, at=1)
        kept.append(read(find, receipts.signed(house.app.extensions["marias"].signer, said)))
    return table, entries, kept


def test_the_entries_do_not_deny_what_was_told_of_them(played):
    table, entries, kept = played
    assert len(entries) == len(kept) > 6
    assert [Written(table, entries).denies(each) for each in kept] == [None] * len(kept)


REWRITTEN = {
    "the end is lost": (lambda told: told[:4], 5, "version"),
    "all is lost": (lambda told: [], 1, "version"),
    "the events are others": (lambda told: at(told, 3, events=b"[]"), 3, "hash"),
    "the time is another": (lambda told: at(told, 2, at=1), 2, "hash"),
    "somebody else did it": (lambda told: at(told, 3, actor="u-00-0000000000000000"), 3, "actor"),
    "it was another command": (lambda told: at(told, 3, key="other"), 3, "key"),
    "it was another body": (lambda told: at(told, 3, fingerprint="f" * 24), 3, "fingerprint"),
    "one is missing": (lambda told: renumbered([*told[:2], *told[3:]]), 3, "actor"),
    "one came between": (lambda told: renumbered([*told[:2], told[1]._replace(key="x"), *told[2:]]), 3, "actor"),
    "two are swapped": (lambda told: renumbered([*told[:2], told[3], told[2], *told[4:]]), 3, "actor"),
}


def at(told, version, **changed):
    return [entry._replace(**changed) if entry.version == version else entry for entry in told]


def renumbered(told):
    return [entry._replace(version=number) for number, entry in enumerate(told, 1)]


@pytest.mark.parametrize("change", REWRITTEN)
def test_a_past_that_was_written_anew_is_denied_by_every_receipt_from_there_on(played, change):
    """Whoever does it also makes all hashes of the stream fit: only the receipts know better."""
    table, entries, kept = played
    rewrite, version, field = REWRITTEN[change]
    denied = [Written(table, rewrite(entries)).denies(each) for each in kept]
    assert len(list(takewhile(lambda each: each is None, denied))) == version - 1
    assert None not in denied[version - 1 :]
    first = denied[version - 1]
    assert (first.table, first.version, first.field) == (table, version, field)
    assert kept[version - 1].key in first.reason


def test_a_refused_command_that_is_written_all_the_same_is_denied(played):
    table, entries, kept = played
    refused = Receipt(table, kept[2].player, kept[2].key, "refused", 1, version=1, code="not_your_turn")
    assert Written(table, entries).denies(refused).field == "status"
    assert Written(table, entries).denies(refused._replace(key="never")) is None
    assert Written(table, entries).denies(refused._replace(table="t-00-00000000000b")).field == "table"


def test_a_receipt_of_a_build_that_told_no_hash_is_held_against_the_rest(played):
    table, entries, kept = played
    assert Written(table, entries).denies(kept[3]._replace(hash="", mark="")) is None
    assert Written(table, entries[:3]).denies(kept[3]._replace(hash="", mark="")).field == "version"
    assert kept[-1].hash == chain.text(reduce(lambda head, entry: chain.link(head, table, entry), entries, b""))

"""The log of finished deals over HTTP: whoever keeps a head can prove a deal, and that nothing was taken back."""

import json
from dataclasses import replace
from functools import partial

import pytest

from engine import merkle
from services.api.backend import EXTENSION
from services.records import answer
from services.signing import published
from services.store import chain, deal_log
from services.store.keys import all_partitions
from services.transparency import heads
from services.transparency.keeping import Keeper
from services.transparency.outside import InFile
from services.transparency.signing import Book, sign
from tests.api.conftest import PARTITIONS, play_deal

ANY = "t-00-00000000000a"


@pytest.fixture
def book(house, tmp_path):
    """What it takes to sign heads; the API can ask for one."""
    backend = house.app.extensions[EXTENSION]
    made = Book(house.redis, backend.signer, InFile(tmp_path / "heads.jsonl"))
    partitions = all_partitions(PARTITIONS)
    confide = partial(answer, house.redis, house.ring, partitions, sign=partial(sign, made))
    house.app.extensions[EXTENSION] = replace(backend, confide=confide)
    return made


@pytest.fixture
def play(house, trio, table, book):
    """Play a deal at the table to its end and log it."""
    keeper = Keeper(book, all_partitions(PARTITIONS))

    def played():
        if trio[0].view(table)["phase"] == "lobby":
            for guest in trio:
                guest.command(table, {"type": "ready"})
            house.work()
        play_deal(trio, table)
        deal_log.add_unlogged(house.redis, [(table, 0)])
        keeper.turn()

    return played


def test_before_anything_was_signed_there_is_no_head(trio, book, table):
    for path in ("/v1/log/head", "/v1/log/head?now=true", f"/v1/log/inclusion?table={table}&deal=1",
                 "/v1/log/consistency?first=1"):
        assert trio[0].get(path).status_code == 404


def test_a_player_proves_that_a_deal_is_in_the_log_and_that_it_ends_with_his_receipt(house, trio, table, play):
    ana = trio[0]
    find = published(house.call("GET", "/v1/.well-known/jwks.json").json)
    play()
    head = ana.get("/v1/log/head?now=true").json
    assert heads.read(find, head["signed"]) == (head["size"], head["root"], head["at"]) == (1, head["root"], head["at"])
    proof = ana.get(f"/v1/log/inclusion?table={table}&deal=1").json
    leaf = json.dumps(proof["leaf"], sort_keys=True, separators=(",", ":")).encode()
    path = [chain.digest(each) for each in proof["path"]]
    assert merkle.verify_inclusion(
        merkle.leaf_hash(leaf), proof["index"], proof["size"], path, chain.digest(head["root"])
    )
    assert (proof["leaf"]["table"], proof["leaf"]["deal"], proof["leaf"]["first"]) == (table, 1, 1)
    assert proof["leaf"]["last"] == ana.view(table)["version"]
    last = house.redis.xrevrange(f"m:{{p{table[2:4]}}}:ev:{table}", count=1)[0][1]
    assert proof["leaf"]["head"] == last[b"h"].decode()


def test_two_heads_are_proven_consistent(trio, table, play):
    ana, kept = trio[0], []
    for _ in range(3):
        play()
        kept.append(ana.get("/v1/log/head?now=true").json)
    assert [head["size"] for head in kept] == [1, 2, 3]
    for first in kept:
        for second in kept[first["size"] - 1 :]:
            proof = ana.get(f"/v1/log/consistency?first={first['size']}&second={second['size']}").json
            path = [chain.digest(each) for each in proof["path"]]
            roots = chain.digest(first["root"]), chain.digest(second["root"])
            assert merkle.verify_consistency(proof["first"], proof["second"], path, *roots)
            assert first == second or not merkle.verify_consistency(proof["first"], proof["second"], path, *roots[::-1])
    assert ana.get("/v1/log/consistency?first=2").json["second"] == 3
    older = ana.get(f"/v1/log/inclusion?table={table}&deal=1&size=2").json
    assert len(older["path"]) == 1
    assert ana.get(f"/v1/log/inclusion?table={table}&deal=3&size=2").status_code == 404


def test_what_was_not_signed_yet_is_not_proven(trio, table, play):
    play()
    trio[0].get("/v1/log/head?now=true")
    play()
    assert trio[0].get(f"/v1/log/inclusion?table={table}&deal=1").status_code == 200
    assert trio[0].get(f"/v1/log/inclusion?table={table}&deal=2").status_code == 404
    assert trio[0].get("/v1/log/head").json["size"] == 1


SENSELESS = [
    ("head?now=yes", 422), ("head?x=1", 422), ("inclusion", 422), ("inclusion?table=x&deal=1", 404),
    (f"inclusion?table={ANY}&deal=1", 404), ("inclusion?table=x&deal=0", 422), (f"inclusion?table={ANY}&deal=d", 422),
    (f"inclusion?table={ANY}&deal=1&size=9", 422), ("consistency", 422), ("consistency?first=0", 422),
    ("consistency?first=2", 422), ("consistency?first=1&second=5", 422),
    ("consistency?first=1&second=" + "9" * 15, 422),
]


def test_what_makes_no_sense_is_refused(trio, play):
    play()
    trio[0].get("/v1/log/head?now=true")
    for path, status in SENSELESS:
        assert trio[0].get(f"/v1/log/{path}").status_code == status, path


def test_every_role_may_read_it_and_nobody_without_a_token(house, trio, table, play):
    play()
    for role in ("operator", "auditor"):
        assert house.staff(role).get("/v1/log/head?now=true").json["size"] == 1
        assert house.staff(role).get(f"/v1/log/inclusion?table={table}&deal=1").status_code == 200
    for path in ("head", f"inclusion?table={table}&deal=1", "consistency?first=1"):
        assert house.call("GET", f"/v1/log/{path}").status_code == 401


def test_operators_see_how_the_log_stands(house, table, play):
    play()
    told = house.staff("operator").get("/v1/operations").json["deal_log"]
    assert told == {"size": 1, "signed": 0, "stuck": 0, "wrong": "", "signed_seconds_ago": None}
    deal_log.set_wrong(house.redis, "the log of finished deals is forked")
    told = house.staff("operator").get("/v1/operations").json
    assert "the log of finished deals is forked" in told["troubles"]
    metrics = house.call("GET", "/metrics").text
    assert "marias_deal_log_refused 1.0" in metrics

"""Guests and their ledgers (contract §3)."""

import csv
import io
from itertools import accumulate

import pytest

from services.store import accounts
from tests.api.conftest import play_deal


def test_a_guest_gets_an_id_a_token_and_an_account(house):
    answer = house.call("POST", "/v1/players", json={"name": "Ana"})
    assert answer.status_code == 201
    assert answer.json.keys() == {"player", "token"}
    assert house.ring.verify(answer.json["token"]) == (answer.json["player"], "Ana", "player")
    assert accounts.balance(house.redis, answer.json["player"]) == 10_000


def test_a_guest_need_not_wait_for_the_account(house, monkeypatch):
    monkeypatch.setattr("services.api.players.ACCOUNT_SECONDS_MAX", 0.01)
    house.open = False
    assert house.call("POST", "/v1/players", json={"name": "Ana"}).status_code == 201


@pytest.mark.parametrize(("given", "kept"), [
    pytest.param("  Ana\t", "Ana", id="trimmed"),
    pytest.param("Ba\u0301ra", "Bára", id="composed"),
    pytest.param("x" * 40, "x" * 40, id="forty characters"),
    pytest.param("e\u0301" * 40, "é" * 40, id="forty characters once composed"),
    pytest.param("Řehoř Ž. 2", "Řehoř Ž. 2", id="letters, a dot, a space, a digit"),
    pytest.param("金 🂡", "金 🂡", id="any script and symbol"),
])
def test_names(street, given, kept):
    answer = street.call("POST", "/v1/players", json={"name": given})
    assert street.ring.verify(answer.json["token"]).name == kept


@pytest.mark.parametrize("name", [
    pytest.param("", id="empty"), pytest.param(" \n", id="only space"), pytest.param("x" * 41, id="too long"),
    pytest.param("a\x00b", id="a control character"), pytest.param("a\nb", id="two lines"),
    pytest.param("a\u202eb", id="text turned round"), pytest.param("a\u200bb", id="an invisible space"),
    pytest.param("a\ue000", id="a private character"),
    pytest.param(None, id="null"), pytest.param(5, id="a number"), pytest.param(["Ana"], id="a list"),
])
def test_no_names(street, name):
    answer = street.call("POST", "/v1/players", json={"name": name})
    assert (answer.status_code, answer.json["code"]) == (422, "malformed")
    assert answer.json["errors"].keys() == {"name"}


def test_the_score_is_what_the_deals_paid(trio, table):
    play_deal(trio, table)
    [deal] = trio[0].get(f"/v1/tables/{table}/bank").json["deals"]
    for guest, chips in zip(trio, deal["payments"], strict=True):
        ledger = guest.get("/v1/players/me/ledger").json
        [posting] = ledger["postings"]
        assert ledger["balance"] == posting["chips"] == chips
        assert (posting["table"], posting["deal"]) == (table, 1)
        assert posting["at"].endswith("Z")
        assert ledger["next"] is None


def test_the_chips_begin_with_the_opening_grant(house):
    ana = house.guest("Ana")
    ledger = ana.get("/v1/players/me/ledger?account=chips").json
    assert (ledger["balance"], [posting["chips"] for posting in ledger["postings"]]) == (10_000, [10_000])
    assert ledger["postings"][0]["table"] is None


def test_the_chips_tell_of_a_buy_in_and_its_return(house):
    ana = house.guest("Ana")
    table = ana.open(stake="bankroll", buy_in=1000)
    assert ana.command(table, {"type": "sit"}).status_code == 200
    path = "/v1/players/me/ledger?account=chips"
    assert ana.get(path).json["balance"] == 9_000
    page = ana.get(f"{path}&limit=1").json
    rest = ana.get(f"{path}&limit=1&after={page['next']}").json
    assert [line["chips"] for line in page["postings"] + rest["postings"]] == [10_000, -1_000]
    assert (rest["postings"][0]["table"], rest["next"]) == (table, None)


def play_deals(trio, table, deals):
    play_deal(trio, table)
    for _ in range(deals - 1):
        for guest in trio:
            assert guest.command(table, {"type": "ready"}).status_code == 200
        trio[0].house.work()
        play_deal(trio, table)


def in_csv(guest, path):
    answer = guest.get(path, Accept="text/csv")
    assert answer.status_code == 200, answer.json
    assert answer.headers["Content-Type"].startswith("text/csv")
    return answer.headers, list(csv.DictReader(io.StringIO(answer.get_data(as_text=True), newline="")))


def test_a_ledger_as_csv_says_the_same_with_running_balances(trio, table):
    play_deals(trio, table, 3)
    for guest in trio:
        told = guest.get("/v1/players/me/ledger").json
        headers, rows = in_csv(guest, "/v1/players/me/ledger")
        assert "Link" not in headers
        assert len(rows) == 3
        assert [row["id"] for row in rows] == [posting["id"] for posting in told["postings"]]
        assert [int(row["chips"]) for row in rows] == [posting["chips"] for posting in told["postings"]]
        assert list(accumulate(int(row["chips"]) for row in rows)) == [int(row["balance"]) for row in rows]
        assert int(rows[-1]["balance"]) == told["balance"]
        assert {(row["player"], row["account"], row["table"]) for row in rows} == {(guest.id, "score", table)}
        assert [row["at"] for row in rows] == [posting["at"] for posting in told["postings"]]


def test_a_page_of_csv_leads_to_the_next(trio, table):
    play_deals(trio, table, 3)
    path, rows = "/v1/players/me/ledger?limit=1", []
    while path:
        headers, page = in_csv(trio[0], path)
        rows += page
        link = headers.get("Link", "")
        path = f"{link[1:link.index('>')]}&limit=1" if link else ""
    assert rows == in_csv(trio[0], "/v1/players/me/ledger")[1]
    assert len(rows) == 3
    refused = trio[0].get("/v1/players/me/ledger?after=nothing", Accept="text/csv")
    assert (refused.status_code, refused.json["errors"].keys()) == (422, {"after"})


def test_a_name_is_no_formula(house):
    ana = house.guest("=1+1")
    [row] = in_csv(ana, "/v1/players/me/ledger?account=chips")[1]
    assert (row["name"], row["chips"], row["balance"], row["table"]) == ("'=1+1", "10000", "10000", "")


@pytest.mark.parametrize(("accept", "kind"), [
    ("*/*", "application/json"), ("application/json, text/csv;q=0.5", "application/json"),
    ("text/csv;q=0", "application/json"), ("text/html, text/csv;q=0.9, */*;q=0.1", "text/csv"),
])
def test_what_is_asked_for_is_sent(house, accept, kind):
    answer = house.guest("Ana").get("/v1/players/me/ledger", Accept=accept)
    assert answer.headers["Content-Type"].startswith(kind)


@pytest.mark.parametrize("account", ["score", "chips"])
def test_a_page_after_a_posting_that_does_not_exist_is_malformed(house, account):
    answer = house.guest("Ana").get(f"/v1/players/me/ledger?account={account}&after=nothing")
    assert (answer.status_code, answer.json["errors"].keys()) == (422, {"after"})


def test_a_ledger_is_its_players_and_the_auditors(house):
    ana, bara = house.guest("Ana"), house.guest("Bára")
    path = f"/v1/players/{ana.id}/ledger?account=chips"
    assert ana.get(path).json["balance"] == 10_000
    assert house.staff("auditor").get(path).json["balance"] == 10_000
    assert bara.get(path).json["code"] == "forbidden"
    assert house.staff("operator").get(path).json["code"] == "forbidden"
    assert house.staff("auditor").get("/v1/players/me/ledger").json["code"] == "forbidden"
    assert house.staff("auditor").get("/v1/players/x/ledger").json["code"] == "not_found"

"""From any balance to its postings, to the deal, to the event: every link leads there."""

import pytest

from services.processes.settlement import settlement
from services.store import keys
from services.store.outbox import read_log
from tests.api.conftest import all_ready, begun, play_deal


@pytest.fixture(scope="module")
def played(neighbours):
    """A table after two deals, between which Cyril gave his seat to Dana."""
    table = begun(neighbours)
    play_deal(neighbours, table)
    assert neighbours[2].command(table, {"type": "leave"}).status_code == 200
    dana = neighbours[0].house.guest("Dana")
    assert dana.command(table, {"type": "sit", "seat": 2}).status_code == 200
    others = [*neighbours[:2], dana]
    all_ready(others, table)
    play_deal(others, table)
    return table


def follow(reader, links):
    """What is at each link."""
    found = {name: reader.get(path) for name, path in links.items()}
    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(links, 200)
    return {name: answer.json for name, answer in found.items()}


def ended(event):
    return next(each for each in event["events"] if each["type"] == "deal_ended")


def test_a_line_of_the_bank_leads_to_record_replay_and_event(neighbours, played):
    bank = neighbours[0].get(f"/v1/tables/{played}/bank").json
    assert [paid["deal"] for paid in bank["deals"]] == [1, 2]
    for paid in bank["deals"]:
        found = follow(neighbours[0], paid["links"])
        assert found["record"]["result"]["payments"] == paid["payments"]
        assert found["replay"]["moments"][-1]["version"] == paid["version"]
        assert found["event"]["version"] == paid["version"]
        assert found["event"]["at"] == paid["at"]
        assert ended(found["event"])["payments"] == paid["payments"]
    assert bank["balances"] == list(map(sum, zip(*(paid["payments"] for paid in bank["deals"]), strict=True)))


def test_a_posting_of_a_ledger_leads_to_its_deal_and_event(neighbours, played):
    ledger = neighbours[0].get("/v1/players/me/ledger").json
    assert ledger["balance"] == sum(posting["chips"] for posting in ledger["postings"])
    for posting in ledger["postings"]:
        found = follow(neighbours[0], posting["links"])
        assert ended(found["event"])["payments"][0] == posting["chips"] == found["record"]["result"]["payments"][0]


def test_chips_that_came_back_from_a_table_lead_to_their_event(street, neighbours):
    table = neighbours[0].open(stake="bankroll", buy_in=1_000)
    for body in ({"type": "sit"}, {"type": "leave"}):
        assert neighbours[0].command(table, body).status_code == 200
    [pointers] = read_log(street.redis, {table[2:4]: "0-0"}).values()
    settlement(street.redis, pointers)
    grant, brought, returned = neighbours[0].get("/v1/players/me/ledger?account=chips").json["postings"]
    assert grant["links"] == {}
    assert brought["links"] == {"table": f"/v1/tables/{table}"}, "the account is told before the table decides"
    event = follow(neighbours[0], returned["links"])["event"]
    assert {"type": "chips_returned", "seat": 0, "player": neighbours[0].id, "chips": 1_000} in event["events"]


def test_the_chips_of_a_table_deal_by_deal(neighbours, played):
    chips = neighbours[0].get(f"/v1/tables/{played}/chips").json
    bank = neighbours[0].get(f"/v1/tables/{played}/bank").json
    first, second = chips["deals"]
    assert first["balances"] == first["payments"]
    assert second["balances"] == [a + b for a, b in zip(first["balances"], second["payments"], strict=True)]
    assert second["balances"] == bank["balances"]
    assert [seat["name"] for seat in first["seats"]] == ["Ana", "Bára", "Cyril"]
    assert [seat["name"] for seat in second["seats"]] == ["Ana", "Bára", "Dana"]
    assert first["at"] < second["at"]
    pages = [neighbours[0].get(f"/v1/tables/{played}/chips?limit=1&after={after}").json for after in (0, 1)]
    assert [page["deals"] for page in pages] == [[first], [second]]
    assert [page["next"] for page in pages] == [1, None]


def test_a_deal_that_an_earlier_build_booked_has_its_payments_alone(street, neighbours, played):
    kept = street.redis.hgetall(keys.bank(played))
    noted = [field for field in kept if field[:2] in (b"d:", b"s:")]
    street.redis.hdel(keys.bank(played), *noted)
    for path in ("chips", "bank"):
        for paid in neighbours[0].get(f"/v1/tables/{played}/{path}").json["deals"]:
            assert (paid["version"], paid["at"]) == (None, None)
            assert paid["links"].keys() == {"table", "record", "replay"}
            assert sum(paid["payments"]) == 0
            assert paid.get("balances") is None
    assert neighbours[0].get(f"/v1/tables/{played}/deals/2/replay").json["finished"]
    street.redis.hset(keys.bank(played), mapping=kept)


def test_an_auditor_reads_any_ledger_and_others_their_own(street, neighbours, played):
    own = neighbours[0].get("/v1/players/me/ledger").json
    auditor = street.staff("auditor")
    assert auditor.get(f"/v1/players/{neighbours[0].id}/ledger").json == own
    assert follow(auditor, own["postings"][0]["links"])["record"]["deck"].count("??") == 0
    for reader in (neighbours[1], street.staff("operator")):
        assert reader.get(f"/v1/players/{neighbours[0].id}/ledger").json["code"] == "forbidden"


def test_a_version_shows_its_public_part_and_all_of_it_to_an_auditor(street, neighbours, played):
    moments = neighbours[0].get(f"/v1/tables/{played}/deals/1/replay?seat=spectator").json["moments"]
    auditor = street.staff("auditor")
    hidden = 0
    for moment in moments:
        path = f"/v1/tables/{played}/versions/{moment['version']}"
        for reader in neighbours:
            assert reader.get(path).json["events"] == moment["events"]
        whole = auditor.get(path).json
        assert [each["type"] for each in whole["events"]] == [each["type"] for each in moment["events"]]
        hidden += whole["events"] != moment["events"]
    assert hidden > 2, "an auditor is told more of the deal, of trumps and of the talon"
    assert street.staff("operator").get(path).json["code"] == "forbidden"


@pytest.mark.parametrize("version", ["0", "-1", "x", "01", "999999999", "9999999999999999999999", "1.0"])
def test_a_version_that_there_is_not_is_not_found(neighbours, played, version):
    answer = neighbours[0].get(f"/v1/tables/{played}/versions/{version}")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_a_private_table_shows_versions_and_chips_to_who_knows_its_code(street, neighbours):
    opened = neighbours[0].post("/v1/tables", {"game": "voleny", "private": True}).json
    table, code = opened["table"], opened["code"]
    for path in (f"/v1/tables/{table}/versions/1", f"/v1/tables/{table}/chips"):
        assert neighbours[1].get(path).json["code"] == "code_wrong"
        told = neighbours[1].get(f"{path}?code={code}")
        assert told.status_code == 200
        assert code not in told.text

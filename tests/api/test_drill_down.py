"""From any balance to its postings, to the deal, to the event: every link leads there."""

import pytest

from services.processes.settlement import settlement
from services.store import keys
from services.store.outbox import read_log
from tests.api.conftest import built, play_deal


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with built(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture(scope="module")
def trio(house):
    return [house.guest(name) for name in ("Ana", "Bára", "Cyril")]


@pytest.fixture(scope="module")
def played(trio):
    """A table after two deals, between which Cyril gave his seat to Dana."""
    table = trio[0].open()
    for guest in trio:
        assert guest.command(table, {"type": "sit"}).status_code == 200
    for guest in trio:
        assert guest.command(table, {"type": "ready"}).status_code == 200
    play_deal(trio, table)
    assert trio[2].command(table, {"type": "leave"}).status_code == 200
    dana = trio[0].house.guest("Dana")
    assert dana.command(table, {"type": "sit", "seat": 2}).status_code == 200
    for guest in (*trio[:2], dana):
        assert guest.command(table, {"type": "ready"}).status_code == 200
    play_deal([*trio[:2], dana], table)
    return table


def follow(reader, links):
    """What is at each link."""
    found = {name: reader.get(path) for name, path in links.items()}
    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(links, 200)
    return {name: answer.json for name, answer in found.items()}


def ended(event):
    return next(each for each in event["events"] if each["type"] == "deal_ended")


def test_a_line_of_the_bank_leads_to_record_replay_and_event(trio, played):
    bank = trio[0].get(f"/v1/tables/{played}/bank").json
    assert [paid["deal"] for paid in bank["deals"]] == [1, 2]
    for paid in bank["deals"]:
        found = follow(trio[0], paid["links"])
        assert found["record"]["result"]["payments"] == paid["payments"]
        assert found["replay"]["moments"][-1]["version"] == paid["version"]
        assert found["event"]["version"] == paid["version"]
        assert found["event"]["at"] == paid["at"]
        assert ended(found["event"])["payments"] == paid["payments"]
    assert bank["balances"] == list(map(sum, zip(*(paid["payments"] for paid in bank["deals"]), strict=True)))


def test_a_posting_of_a_ledger_leads_to_its_deal_and_event(trio, played):
    ledger = trio[0].get("/v1/players/me/ledger").json
    assert ledger["balance"] == sum(posting["chips"] for posting in ledger["postings"])
    for posting in ledger["postings"]:
        found = follow(trio[0], posting["links"])
        assert ended(found["event"])["payments"][0] == posting["chips"] == found["record"]["result"]["payments"][0]


def test_chips_that_came_back_from_a_table_lead_to_their_event(house, trio):
    table = trio[0].open(stake="bankroll", buy_in=1_000)
    for body in ({"type": "sit"}, {"type": "leave"}):
        assert trio[0].command(table, body).status_code == 200
    [pointers] = read_log(house.redis, {table[2:4]: "0-0"}).values()
    settlement(house.redis, pointers)
    grant, brought, returned = trio[0].get("/v1/players/me/ledger?account=chips").json["postings"]
    assert grant["links"] == {}
    assert brought["links"] == {"table": f"/v1/tables/{table}"}, "the account is told before the table decides"
    event = follow(trio[0], returned["links"])["event"]
    assert {"type": "chips_returned", "seat": 0, "player": trio[0].id, "chips": 1_000} in event["events"]


def test_the_chips_of_a_table_deal_by_deal(trio, played):
    chips = trio[0].get(f"/v1/tables/{played}/chips").json
    bank = trio[0].get(f"/v1/tables/{played}/bank").json
    first, second = chips["deals"]
    assert first["balances"] == first["payments"]
    assert second["balances"] == [a + b for a, b in zip(first["balances"], second["payments"], strict=True)]
    assert second["balances"] == bank["balances"]
    assert [seat["name"] for seat in first["seats"]] == ["Ana", "Bára", "Cyril"]
    assert [seat["name"] for seat in second["seats"]] == ["Ana", "Bára", "Dana"]
    assert first["at"] < second["at"]
    pages = [trio[0].get(f"/v1/tables/{played}/chips?limit=1&after={after}").json for after in (0, 1)]
    assert [page["deals"] for page in pages] == [[first], [second]]
    assert [page["next"] for page in pages] == [1, None]


def test_a_deal_that_an_earlier_build_booked_has_its_payments_alone(house, trio, played):
    kept = house.redis.hgetall(keys.bank(played))
    noted = [field for field in kept if field[:2] in (b"d:", b"s:")]
    house.redis.hdel(keys.bank(played), *noted)
    for path in ("chips", "bank"):
        for paid in trio[0].get(f"/v1/tables/{played}/{path}").json["deals"]:
            assert (paid["version"], paid["at"]) == (None, None)
            assert paid["links"].keys() == {"table", "record", "replay"}
            assert sum(paid["payments"]) == 0
            assert paid.get("balances") is None
    assert trio[0].get(f"/v1/tables/{played}/deals/2/replay").json["finished"]
    house.redis.hset(keys.bank(played), mapping=kept)


def test_an_auditor_reads_any_ledger_and_others_their_own(house, trio, played):
    own = trio[0].get("/v1/players/me/ledger").json
    auditor = house.staff("auditor")
    assert auditor.get(f"/v1/players/{trio[0].id}/ledger").json == own
    assert follow(auditor, own["postings"][0]["links"])["record"]["deck"].count("??") == 0
    for reader in (trio[1], house.staff("operator")):
        assert reader.get(f"/v1/players/{trio[0].id}/ledger").json["code"] == "forbidden"


def test_a_version_shows_its_public_part_and_all_of_it_to_an_auditor(house, trio, played):
    moments = trio[0].get(f"/v1/tables/{played}/deals/1/replay?seat=spectator").json["moments"]
    auditor = house.staff("auditor")
    hidden = 0
    for moment in moments:
        path = f"/v1/tables/{played}/versions/{moment['version']}"
        for reader in trio:
            assert reader.get(path).json["events"] == moment["events"]
        whole = auditor.get(path).json
        assert [each["type"] for each in whole["events"]] == [each["type"] for each in moment["events"]]
        hidden += whole["events"] != moment["events"]
    assert hidden > 2, "an auditor is told more of the deal, of trumps and of the talon"
    assert house.staff("operator").get(path).json["code"] == "forbidden"


@pytest.mark.parametrize("version", ["0", "-1", "x", "01", "999999999", "9999999999999999999999", "1.0"])
def test_a_version_that_there_is_not_is_not_found(trio, played, version):
    answer = trio[0].get(f"/v1/tables/{played}/versions/{version}")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_a_private_table_shows_versions_and_chips_to_who_knows_its_code(house, trio):
    opened = trio[0].post("/v1/tables", {"game": "voleny", "private": True}).json
    table, code = opened["table"], opened["code"]
    for path in (f"/v1/tables/{table}/versions/1", f"/v1/tables/{table}/chips"):
        assert trio[1].get(path).json["code"] == "code_wrong"
        told = trio[1].get(f"{path}?code={code}")
        assert told.status_code == 200
        assert code not in told.text

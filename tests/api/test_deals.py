"""Records of deals, as far as a reader may know them, and the bank of a table (contract §3, §2)."""

import pytest

from schemas.records import run_record
from tests.api.conftest import play_deal

UNKNOWN = "??"


@pytest.fixture
def played(trio, table):
    """The table after its first deal."""
    play_deal(trio, table)
    return table


def deal(reader, table, number=1):
    answer = reader.get(f"/v1/tables/{table}/deals/{number}")
    assert answer.status_code == 200, answer.text
    return answer.json


def test_a_player_finds_his_own_cards_in_the_record(trio, played):
    decks = [deal(guest, played)["deck"] for guest in trio]
    known = [{place for place, card in enumerate(deck) if card != UNKNOWN} for deck in decks]
    assert sorted(map(len, known)) == [10, 10, 12]
    assert set.union(*known) == set(range(32))
    assert sum(map(len, known)) == 32


def test_a_watcher_finds_no_card_in_the_deck(house, played):
    assert deal(house.guest("Dana"), played)["deck"] == [UNKNOWN] * 32


def test_an_auditor_finds_all_of_it(house, played):
    record = deal(house.staff("auditor"), played)
    assert UNKNOWN not in record["deck"]
    answer = run_record(record)
    assert (answer["ok"], answer["finished"], answer["result"]) == (True, True, record["result"])


def test_a_record_goes_by_who_held_the_seat_in_that_deal(house, trio, played):
    own = deal(trio[0], played)
    trio[0].command(played, {"type": "leave"})
    dana = house.guest("Dana")
    assert dana.command(played, {"type": "sit", "seat": 0}).status_code == 200
    assert deal(dana, played)["deck"] == [UNKNOWN] * 32
    assert deal(trio[0], played) == own


def test_a_deal_that_has_not_ended_is_not_found(trio, played):
    for number in ("2", "0", "-1", "x", "01", "1.0", "99999999999999999999", "1%20"):
        answer = trio[0].get(f"/v1/tables/{played}/deals/{number}")
        assert (answer.status_code, answer.json["code"]) == (404, "not_found"), number


def test_a_running_deal_has_no_record(house, trio, table):
    for reader in (trio[0], house.staff("auditor")):
        assert reader.get(f"/v1/tables/{table}/deals/1").json["code"] == "not_found"


def test_the_bank_adds_up(trio, played):
    bank = trio[0].get(f"/v1/tables/{played}/bank").json
    assert bank["balances"] == bank["deals"][0]["payments"] == trio[0].view(played)["bank"]
    assert sum(bank["balances"]) == 0
    assert bank["next"] is None


def test_the_bank_comes_in_pages(trio, played):
    for guest in trio:
        guest.command(played, {"type": "ready"})
    play_deal(trio, played)
    path = f"/v1/tables/{played}/bank"
    first, second = (trio[0].get(f"{path}?limit=1&after={after}").json for after in (0, 1))
    assert [paid["deal"] for paid in first["deals"] + second["deals"]] == [1, 2]
    assert (first["next"], second["next"]) == (1, None)


def test_a_reader_is_never_shown_books_older_than_the_view(house, trio, table, monkeypatch):
    """The projector is stopped before the last move: no answer is better than an old one."""
    monkeypatch.setattr("services.api.projections.BEHIND_SECONDS_MAX", 0.02)
    monkeypatch.setattr(house.projector, "turn", lambda block: False)
    play_deal(trio, table)
    for path in (f"/v1/tables/{table}/bank", f"/v1/tables/{table}/deals/1", "/v1/players/me/ledger"):
        assert trio[0].get(path).json["code"] == "unavailable"
    monkeypatch.undo()
    while house.projector.turn(None):
        pass
    assert trio[0].get(f"/v1/tables/{table}/bank").json["deals"]


def test_a_record_is_read_with_the_eyes_that_are_asked_for(house, trio, played):
    auditor, dana = house.staff("auditor"), house.guest("Dana")

    def read(reader, query):
        answer = reader.get(f"/v1/tables/{played}/deals/1{query}")
        return answer.json if answer.status_code == 200 else answer.json["code"]

    public = read(dana, "")
    for seat, guest in enumerate(trio):
        assert read(auditor, f"?seat={seat}") == read(guest, "") == read(guest, f"?seat={seat}")
        assert read(guest, "?seat=spectator") == public
        assert read(guest, f"?seat={(seat + 1) % 3}") == "forbidden"
    assert read(auditor, "?seat=spectator") == public
    assert read(auditor, "") != public
    assert read(dana, "?seat=0") == "forbidden"
    assert read(trio[0], "?seat=3") == read(trio[0], "?seat=") == "malformed"


def test_a_running_deal_has_no_record_of_a_seat_either(house, trio, table):
    for reader in (trio[0], house.staff("auditor")):
        assert reader.get(f"/v1/tables/{table}/deals/1?seat=0").json["code"] == "not_found"

"""Replays over HTTP: every moment of a deal as one saw it then, and nobody with the eyes of another."""

import gzip
import json
import re

import pytest

from engine.notation import CODES
from tests.api.conftest import begun, built, play_deal, three
from tests.system.leak import MOVE_EVENTS, leaks

CARD = re.compile(r'"([789TJQKA][hdcs])"')


def replay(reader, table, number=1, query=""):
    answer = reader.get(f"/v1/tables/{table}/deals/{number}/replay{query}")
    assert answer.status_code == 200, answer.text
    return answer.json


def refusal(reader, table, number=1, query=""):
    answer = reader.get(f"/v1/tables/{table}/deals/{number}/replay{query}")
    return answer.status_code, answer.json["code"]


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    """A house in which a deal has been played by three; tests change nothing there."""
    with built(tmp_path_factory.mktemp("street")) as made:
        people = three(made)
        table = begun(people)
        play_deal(people, table)
        yield made, people, table


def test_a_player_sees_the_deal_as_he_saw_it(trio, table):
    views = {}
    while (view := trio[0].view(table))["phase"] != "lobby":
        for seat, guest in enumerate(trio):
            views[view["version"], seat] = guest.view(table)
        actor = trio[view["to_act"][0]]
        assert actor.command(table, actor.view(table)["legal"][0]).status_code == 200
    for seat, guest in enumerate(trio):
        told = replay(guest, table)
        assert (told["seat"], told["finished"], told["deal"]) == (seat, True, 1)
        shown = {(moment["version"], seat): moment["view"] for moment in told["moments"]}
        then = {place: view for place, view in views.items() if place[1] == seat}
        assert len(then) > 5  # Whoever is dealt a bare hand may end the deal before a card is played.
        assert {place: shown[place] for place in then} == then


def test_only_an_auditor_takes_the_eyes_of_another(street):
    house, trio, played = street
    dana = house.guest("Dana")
    assert refusal(trio[0], played, query="?seat=1") == (403, "forbidden")
    assert refusal(dana, played, query="?seat=0") == (403, "forbidden")
    assert refusal(house.staff("operator"), played) == (403, "forbidden")
    auditor = house.staff("auditor")
    chosen, own = (replay(reader, played, query="?seat=1")["moments"] for reader in (auditor, trio[1]))
    begins = next(place for place, moment in enumerate(own) if moment["view"]["phase"] == "choose_trump")
    assert chosen[begins:] == own[begins:]
    assert replay(dana, played) == replay(trio[0], played, query="?seat=spectator")
    assert replay(auditor, played)["seat"] == "auditor"


def test_nobody_is_shown_a_card_that_he_could_not_know_then(street):
    house, trio, played = street
    auditor = house.staff("auditor")
    record = auditor.get(f"/v1/tables/{played}/deals/1").json
    readers = {0: trio[0], 1: trio[1], 2: trio[2], None: house.guest("Dana")}
    for seat, reader in readers.items():
        moments = replay(reader, played)["moments"]
        made = [moment["version"] for moment in moments if MOVE_EVENTS & {each["type"] for each in moment["events"]}]
        told = [(moment["version"], json.dumps(moment).encode()) for moment in moments]
        assert leaks(record, made, told, seat) == []
    every = [(moment["version"], json.dumps(moment).encode()) for moment in replay(auditor, played)["moments"]]
    assert leaks(record, made, every, 0), "the referee sees nothing"


def test_the_running_deal_is_told_up_to_now(trio, table):
    told = replay(trio[0], table)
    assert not told["finished"]
    assert told["moments"][-1]["view"] == trio[0].view(table)
    assert len(CARD.findall(json.dumps(replay(trio[0], table, query="?seat=spectator")))) == 0


def test_who_has_left_does_not_see_what_is_done_with_his_cards_until_he_is_back(trio, table):
    forehand = trio[0].view(table)["to_act"][0]
    left = trio[forehand]
    assert left.command(table, {"type": "leave"}).status_code == 200
    left.house.work()
    away = replay(left, table, query=f"?seat={forehand}")["moments"]
    assert away[-1]["view"] == left.view(table)
    assert away[-1]["view"]["hand"] == []
    assert away[-2]["view"]["hand"] != []
    assert left.command(table, {"type": "sit"}).status_code == 200
    back = replay(left, table)["moments"]
    assert back[-1]["view"] == left.view(table)
    assert back[: len(away)] == away


def test_a_seat_goes_by_who_held_it_in_that_deal(house, trio, table):
    play_deal(trio, played := table)
    before = replay(trio[0], played)
    assert trio[0].command(played, {"type": "leave"}).status_code == 200
    dana = house.guest("Dana")
    assert dana.command(played, {"type": "sit", "seat": 0}).status_code == 200
    assert refusal(dana, played, query="?seat=0") == (403, "forbidden")
    assert replay(dana, played)["seat"] is None
    assert replay(trio[0], played) == before


def test_a_private_table_is_replayed_to_who_sits_there_or_knows_its_code(house, trio):
    opened = trio[0].post("/v1/tables", {"game": "voleny", "private": True}).json
    table, code = opened["table"], opened["code"]
    for guest in trio:
        assert guest.command(table, {"type": "sit", "code": code}).status_code == 200
    for guest in trio:
        assert guest.command(table, {"type": "ready"}).status_code == 200
    dana = house.guest("Dana")
    assert refusal(dana, table) == (403, "code_wrong")
    assert refusal(dana, table, query="?code=XXXXXXXX") == (403, "code_wrong")
    assert replay(dana, table, query=f"?code={code}")["seat"] is None
    assert replay(trio[1], table)["seat"] == 1
    assert replay(house.staff("auditor"), table)["moments"]
    assert code not in json.dumps(replay(dana, table, query=f"?code={code}"))


@pytest.mark.parametrize(("number", "query", "code"), [
    ("2", "", "not_found"), ("0", "", "not_found"), ("x", "", "not_found"), ("99999999999999", "", "not_found"),
    ("1", "?seat=3", "malformed"), ("1", "?seat=", "malformed"), ("1", "?seat=auditor", "malformed"),
    ("1", "?seat=0&seat=1", "malformed"), ("1", "?lang=de", "malformed"), ("1", "?what=1", "malformed"),
])
def test_what_is_asked_wrongly_is_refused(street, number, query, code):
    _, trio, played = street
    assert refusal(trio[0], played, number, query)[1] == code


def test_every_moment_is_told_in_both_languages(street):
    _, trio, played = street
    for lang, says in (("en", "is the forehand"), ("cs", "forhont je")):
        told = replay(trio[0], played, query=f"?lang={lang}")
        lines = [line for moment in told["moments"] for line in moment["text"]]
        assert any(says in line for line in lines)
        assert not [code for line in lines for code in CODES if re.search(rf"\b{code}\b", line)]


def test_a_replay_comes_packed_to_who_can_unpack_it(street):
    _, trio, table = street
    path = f"/v1/tables/{table}/deals/1/replay"
    plain = trio[0].get(path)
    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in trio[0].get(path, Accept_Encoding="br, gzip;q=0").headers
    packed = trio[0].get(path, Accept_Encoding="br, gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert 5 * len(packed.data) < len(plain.data)

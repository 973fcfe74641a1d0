"""Opening tables, the lobby, the view and the feed (contract §3)."""

import pytest

from services.store import keys, views
from tests.api.conftest import play_deal

FULL = {
    "game": "voleny", "rules": {"preset": "csm", "cap": 100}, "deals": 9, "bots": [2], "bot_policy": "random",
    "auto_ready": True, "turn_seconds": 30, "private": False, "stake": "free",
}


def test_an_opened_table_has_a_place_and_no_code(trio):
    answer = trio[0].post("/v1/tables", {"game": "voleny"})
    assert answer.status_code == 201
    assert answer.json.keys() == {"table"}
    assert answer.headers["Location"] == f"/v1/tables/{answer.json['table']}"
    assert trio[0].view(answer.json["table"])["version"] == 1


def test_whoever_opens_a_table_does_not_sit(trio):
    view = trio[0].view(trio[0].open())
    assert (view["seat"], view["phase"], view["hand"], view["legal"]) == (None, "lobby", [], [])


def test_a_table_opens_with_all_its_options(trio):
    view = trio[0].view(trio[0].open(**FULL))
    assert view["rules"]["rates"]["betl"] == 15
    assert view["rules"]["cap"] == 100
    assert view["seats"] == [None, None, {"bot": "random"}]
    assert (view["deals"], view["auto_ready"], view["turn_seconds"]) == (9, True, 30)


def test_a_table_that_is_not_opened_in_time_is_unavailable(house, trio, monkeypatch):
    monkeypatch.setattr("services.api.tables.OPEN_SECONDS_MAX", 0.01)
    house.open = False
    answer = trio[0].post("/v1/tables", {"game": "voleny"})
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "1"


def test_the_lobby_shows_public_tables_with_their_full_rules(trio):
    table = trio[0].open(**FULL)
    trio[0].open(private=True)
    [row] = trio[1].get("/v1/tables").json["tables"]
    assert row["table"] == table
    assert row["rules"]["hearts_double"] is True
    assert row["seats"] == [None, None, {"bot": "random"}]


def test_the_lobby_comes_in_pages(trio):
    tables = {trio[0].open() for _ in range(5)}
    seen, path = [], "/v1/tables?limit=2"
    for _ in range(3):
        page = trio[0].get(path).json
        seen += [row["table"] for row in page["tables"]]
        path = f"/v1/tables?limit=2&after={page['next']}"
    assert page["next"] is None
    assert len(seen) == 5
    assert set(seen) == tables


def test_the_view_carries_its_version_as_etag(trio, table):
    answer = trio[0].get(f"/v1/tables/{table}")
    assert answer.headers["ETag"] == f'"{answer.json["version"]}"'
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers.getlist("Vary") == ["Authorization", "Origin"]


def test_a_known_view_is_not_sent_again(trio, table):
    tag = trio[0].get(f"/v1/tables/{table}").headers["ETag"]
    again = trio[0].get(f"/v1/tables/{table}", If_None_Match=f'"1", W/{tag}')
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    play = trio[trio[0].view(table)["to_act"][0]]
    play.command(table, play.view(table)["legal"][0])
    assert trio[0].get(f"/v1/tables/{table}", If_None_Match=tag).status_code == 200


def test_a_seat_sees_its_own_hand_and_moves_only(trio, table):
    views = [guest.view(table) for guest in trio]
    forehand = views[0]["to_act"][0]
    assert [view["seat"] for view in views] == [0, 1, 2]
    assert [len(view["hand"]) for view in views] == [7 if seat == forehand else 10 for seat in range(3)]
    assert [bool(view["legal"]) for view in views] == [seat == forehand for seat in range(3)]
    cards = [card for view in views for card in view["hand"]]
    assert len(set(cards)) == len(cards) == 27


def test_a_watcher_sees_no_hand(house, table):
    view = house.guest("Dana").view(table)
    assert (view["seat"], view["hand"], view["legal"]) == (None, [], [])


def test_the_feed_tells_every_version_in_order(trio, table):
    feed = trio[0].get(f"/v1/tables/{table}/events").json
    assert [item["version"] for item in feed["events"]] == list(range(1, feed["version"] + 1))
    assert feed["more"] is False
    assert feed["events"][0]["events"][0]["type"] == "table_opened"
    assert all(item["at"].endswith("Z") and len(item["at"]) == 24 for item in feed["events"])


def test_the_feed_goes_on_after_a_version(trio, table):
    path = f"/v1/tables/{table}/events"
    whole = trio[0].get(path).json["events"]
    first = trio[0].get(f"{path}?limit=3").json
    rest = trio[0].get(f"{path}?after=3").json
    assert (first["more"], rest["more"]) == (True, False)
    assert first["events"] + rest["events"] == whole
    assert trio[0].get(f"{path}?after={whole[-1]['version']}").json["events"] == []
    assert trio[0].get(f"{path}?after=999").json["events"] == []


def test_a_seat_is_told_its_own_cards(trio, table):
    hands = []
    for guest in trio:
        told = guest.get(f"/v1/tables/{table}/events").json["events"][-1]["events"]
        hands.append(next(event for event in told if event["type"] == "dealt")["hand"])
    assert [sorted(hand) for hand in hands] == [sorted(guest.view(table)["hand"]) for guest in trio]


def test_a_watcher_is_told_no_cards(house, table):
    told = house.guest("Dana").get(f"/v1/tables/{table}/events").text
    assert '"dealt"' in told
    assert '"hand"' not in told
    assert '"deck"' not in told


def test_a_feed_that_does_not_reach_back_says_how_far_it_does(house, trio, table):
    house.redis.xtrim(keys.feed(table), minid="5-0", approximate=False)
    gone = trio[0].get(f"/v1/tables/{table}/events?after=2")
    assert (gone.status_code, gone.json["code"], gone.json["oldest"]) == (410, "events_gone", 5)
    assert trio[0].get(f"/v1/tables/{table}/events?after=4").status_code == 200
    assert trio[0].get(f"/v1/tables/{table}/events").json["events"][0]["version"] == 5


def test_a_newcomer_is_not_told_what_his_seat_was_told_before(house, trio, table):
    """Ana's cards of the first deal stay hers, also when Dana takes her seat."""
    hand = trio[0].view(table)["hand"]
    play_deal(trio, table)
    assert trio[0].command(table, {"type": "leave"}).status_code == 200
    dana = house.guest("Dana")
    watched = dana.get(f"/v1/tables/{table}/events").json["events"]
    assert dana.command(table, {"type": "sit", "seat": 0}).status_code == 200
    for limit in (7, 500):
        told, after = [], 0
        while True:
            page = dana.get(f"/v1/tables/{table}/events?after={after}&limit={limit}").json
            told += page["events"]
            if not page["more"]:
                break
            after = told[-1]["version"]
        assert told[:-1] == watched
    assert not any("hand" in event for item in told for event in item["events"])
    assert len(hand) in (7, 10)


def test_who_is_freed_from_a_seat_while_he_asks_is_not_told_the_cards_of_who_takes_it(
    house, trio, table, monkeypatch
):
    """Between the two looks into the store Ana leaves, Dana takes her seat, and is dealt cards."""
    play_deal(trio, table)
    known, dana, feed = trio[0].view(table)["version"], house.guest("Dana"), views.feed

    def later(*arguments):
        trio[0].command(table, {"type": "leave"})
        dana.command(table, {"type": "sit", "seat": 0})
        for guest in (dana, *trio[1:]):
            guest.command(table, {"type": "ready"})
        return feed(*arguments)

    monkeypatch.setattr("services.api.tables.views.feed", later)
    told = trio[0].get(f"/v1/tables/{table}/events?after={known - 1}").json
    assert dana.view(table)["hand"]
    assert (told["version"], [item["version"] for item in told["events"]], told["more"]) == (known, [known], False)


@pytest.mark.parametrize("query", ["after=x", "after=-1", "after=1.0", "after=%2B1", "after=٣", "after=1&after=2",
                                   "after=99999999999999999999", "limit=0", "limit=501", "afetr=1", "after="])
def test_a_query_that_cannot_be_meant_is_malformed(street, query):
    ana = street.guest("Ana")
    answer = ana.get(f"/v1/tables/{ana.open()}/events?{query}")
    assert (answer.status_code, answer.json["code"]) == (422, "malformed")
    assert set(answer.json["errors"]) == {query.split("=")[0]}

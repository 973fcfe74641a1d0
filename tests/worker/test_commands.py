"""What becomes of a command: applied once, or refused with a receipt, and never anything between."""

import json

import pytest

from schemas.table import view_fragments
from services.store import keys, views
from services.store.accounts import balance
from services.store.wire import ask
from services.worker.tables import read
from tests.worker.house import ANA, BARA, CYRIL, PLAYERS, TABLE, House


def entries(house: House, table: str = TABLE) -> list[dict[str, object]]:
    return [
        {"version": int(id_.split(b"-")[0]), "key": fields[b"k"].decode(), "events": json.loads(fields[b"e"])}
        for id_, fields in house.redis.xrange(keys.events(table))
    ]


def test_three_players_sit_down_and_are_dealt_a_deal(house: House) -> None:
    house.deal()
    assert [entry["version"] for entry in entries(house)] == list(range(1, 9))
    started = entries(house)[-1]
    begun = [event["type"] for event in started["events"]][:4]
    assert begun == ["deal_committed", "nonces_joined", "deal_started", "dealt"]
    assert started["events"][0]["sealed_key"].startswith("sealed-")
    view = house.view()
    assert (view["phase"], view["deal"], len(view["to_act"])) == ("choose_trump", 1, 1)


def test_a_deal_is_played_to_its_end_and_paid(house: House) -> None:
    house.deal()
    house.play(80)
    assert house.view()["deal"] >= 2
    assert sum(house.view()["bank"]) == 0


def test_a_refused_command_leaves_a_receipt_with_its_code_and_facts_and_no_event(house: House) -> None:
    house.deal()
    before = house.view()
    actor, _ = house.legal()
    other = next(player for player in PLAYERS if player != actor)
    assert house.say(TABLE, other, "good")["c"] == "not_your_turn"
    assert house.say(TABLE, actor, "play", card="Ah")["c"] == "wrong_phase"
    assert house.say(TABLE, "u-03-00000000000000ff", "good")["c"] == "not_seated"
    assert house.view() == before
    assert len(entries(house)) == before["version"]


def test_if_match_is_judged_by_the_worker_and_stored(house: House) -> None:
    house.open()
    refused = house.say(TABLE, ANA, "sit", version=7)
    assert (refused["s"], refused["c"], refused["d"]) == ("refused", "version_mismatch", {"version": 1})
    told = house.say(TABLE, ANA, "sit", version=1)
    assert told == {"v": 2, "f": refused["f"], "s": "applied", "h": told["h"]}


@pytest.mark.parametrize("times", range(1, 6))
def test_a_command_that_arrives_several_times_is_applied_once(house: House, times: int) -> None:
    house.open()
    taken = [house.send(TABLE, ANA, {"type": "sit"}, key="same") for _ in range(times)]
    house.settle()
    again = house.send(TABLE, ANA, {"type": "sit"}, key="same")
    assert [each.status for each in taken] == ["new"] + ["dup"] * (times - 1)
    assert again.receipt == {"v": 2, "f": again.receipt["f"], "s": "applied", "h": again.receipt["h"]}
    assert len(entries(house)) == 2


def test_a_refused_command_repeated_with_its_key_gets_the_same_refusal(house: House) -> None:
    house.open()
    house.send(TABLE, ANA, {"type": "ready"}, key="same")
    house.settle()
    house.say(TABLE, ANA, "sit")  # Now it would be accepted.
    again = house.send(TABLE, ANA, {"type": "ready"}, key="same")
    assert again.receipt is not None
    assert again.receipt["c"] == "not_seated"


def test_a_key_that_slipped_past_intake_is_still_applied_once(house: House) -> None:
    """As after a fail-over that lost the reservation."""
    house.open()
    house.send(TABLE, ANA, {"type": "sit"}, key="same")
    house.settle()
    house.redis.delete(keys.reservations(TABLE))
    assert house.send(TABLE, ANA, {"type": "sit"}, key="same").status == "new"
    house.settle()
    assert len(entries(house)) == 2
    assert views.receipt(house.redis, TABLE, ANA, "same")["s"] == "applied"
    assert house.say(TABLE, BARA, "sit")["s"] == "applied"


def test_the_clock_alone_may_deal_and_expire(house: House) -> None:
    house.open()
    for kind in ("deal", "expire"):
        assert house.say(TABLE, ANA, kind, version_seen=1)["c"] == "forbidden"
    assert house.say(TABLE, "clock", "sit")["c"] == "forbidden"


def test_a_late_tick_of_the_clock_is_refused_and_harmless(house: House) -> None:
    house.deal()
    before = house.view()
    for kind in ("deal", "expire"):
        assert house.say(TABLE, "clock", kind, version_seen=7)["c"] == "stale"
    assert house.view() == before


FORGED = [
    pytest.param({"t": TABLE, "a": ANA, "k": "x", "f": "f", "b": "{"}, id="its body is no JSON"),
    pytest.param({"t": TABLE, "a": ANA, "k": "x", "f": "f", "b": "[]"}, id="its body is no object"),
    pytest.param({"t": TABLE, "a": ANA, "k": "x", "f": "f", "b": '{"type":"sit","seat":"0"}'}, id="a text seat"),
    pytest.param({"t": TABLE, "a": ANA, "k": "x", "f": "f", "b": '{"type":"fly"}'}, id="its type is unknown"),
    pytest.param({"t": "t-03-00000000000a", "a": ANA, "k": "x", "f": "f", "b": "{}"}, id="another partition's table"),
    pytest.param({"t": "bogus", "a": ANA, "k": "x", "f": "f", "b": "{}"}, id="no table at all"),
    pytest.param({"nothing": "known"}, id="none of the fields"),
    pytest.param({"t": ANA, "a": ANA, "k": "x", "f": "f", "b": '{"type":"sit"}'}, id="a seat at an account"),
]


@pytest.mark.parametrize("fields", FORGED)
def test_an_entry_that_intake_never_wrote_changes_nothing_and_stops_nobody(
    house: House, fields: dict[str, str]
) -> None:
    house.open()
    ask(house.redis, "XADD", keys.commands("01"), "*", *(word for pair in fields.items() for word in pair))
    house.settle()
    assert len(entries(house)) == 1
    assert house.redis.keys("*t-03*") == []
    assert house.say(TABLE, CYRIL, "sit")["s"] == "applied"


def test_an_account_is_opened_once_and_answered(house: House) -> None:
    assert house.say(ANA, "system", "open_account")["s"] == "applied"
    assert house.say(ANA, "system", "open_account")["s"] == "applied"
    assert balance(house.redis, ANA) == 10_000
    assert not house.redis.exists(keys.events(ANA))


def test_what_the_views_and_the_feed_say_follows_from_the_events(house: House) -> None:
    house.deal()
    house.play(60)
    held = read(house.redis, TABLE)
    current = views.current(house.redis, TABLE)
    fragments = view_fragments(held.table, held.version)
    assert current is not None
    assert (current.public, current.private) == (fragments.public, fragments.private)

"""Deal records: run, refused with the move and the code, checked, made by chance, and shown to one seat."""

import hashlib
import json
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.random_records import random_records
from schemas.recording import record_for, record_of
from schemas.records import run_record
from tests.contract import voleny

RULES = {"preset": "hospoda"}
RECORDS = list(random_records("voleny", 7, 60, "random", RULES))
TRUMP_GAME = next(record for record in RECORDS if len(record["moves"]) > 35)
"""A deal of ten tricks."""


def without(record, *names):
    return {name: value for name, value in record.items() if name not in names}


def cut(record, moves):
    """The position after so many moves."""
    return without({**record, "moves": record["moves"][:moves]}, "result")


def changed(record, number, **fields):
    """The record with one move changed; a field that is None is taken out."""
    moves = [dict(move) for move in record["moves"]]
    moves[number] = {name: value for name, value in {**moves[number], **fields}.items() if value is not None}
    return {**record, "moves": moves}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"dealt by {record['dealer']}")
def test_a_finished_record_is_ok_and_its_result_is_checked(record):
    answer = run_record(record)
    assert answer == {
        "ok": True,
        "moves": len(record["moves"]),
        "finished": True,
        "to_act": [],
        "legal": [],
        "result": record["result"],
    }


def test_a_record_without_moves_is_a_position():
    answer = run_record(without(TRUMP_GAME, "moves", "result"))
    forehand = (TRUMP_GAME["dealer"] + 1) % 3
    assert (answer["ok"], answer["finished"], answer["to_act"]) == (True, False, [forehand])
    assert answer["result"] is None
    assert len(answer["legal"]) == 12
    assert {"type": "choose_trump", "blind": 4} in answer["legal"]


def test_every_position_offers_the_move_that_follows_and_each_offer_is_accepted():
    moves = TRUMP_GAME["moves"]
    for number, move in enumerate(moves):
        position = cut(TRUMP_GAME, number)
        answer = run_record(position)
        assert answer["to_act"] == [move["seat"]]
        assert without(move, "seat") in answer["legal"]
        for offer in answer["legal"]:
            assert run_record({**position, "moves": [*position["moves"], {"seat": move["seat"], **offer}]})["ok"]


LEAD = next(number for number, move in enumerate(TRUMP_GAME["moves"]) if move["type"] == "play")
WRONG_SEAT = (TRUMP_GAME["moves"][LEAD]["seat"] + 1) % 3


@pytest.mark.parametrize(
    ("record", "number", "code"),
    [
        pytest.param(
            changed(TRUMP_GAME, 0, seat=(TRUMP_GAME["moves"][0]["seat"] + 1) % 3),
            0,
            "not_your_turn",
            id="a seat that is not to act",
        ),
        pytest.param(changed(TRUMP_GAME, LEAD, seat=WRONG_SEAT), LEAD, "not_your_turn", id="the wrong leader"),
        pytest.param(changed(TRUMP_GAME, 3, type="take_out"), 3, "bad_move", id="no such move"),
        pytest.param(changed(TRUMP_GAME, 3, seat=None), 3, "bad_move", id="a move without a seat"),
        pytest.param(changed(TRUMP_GAME, 3, seat=3), 3, "bad_move", id="a fourth seat"),
        pytest.param(changed(TRUMP_GAME, 3, seat=True), 3, "bad_move", id="a seat that is true"),
        pytest.param(changed(TRUMP_GAME, 3, note="hm"), 3, "bad_move", id="an unknown field in a move"),
        pytest.param(
            {**TRUMP_GAME, "moves": [*TRUMP_GAME["moves"][:2], "good"]}, 2, "bad_move", id="a move that is no object"
        ),
        pytest.param(
            {**TRUMP_GAME, "moves": [*TRUMP_GAME["moves"][:2], None]}, 2, "bad_move", id="a move that is null"
        ),
        pytest.param(
            {**TRUMP_GAME, "moves": [*TRUMP_GAME["moves"], {"seat": 0, "type": "good"}]},
            len(TRUMP_GAME["moves"]),
            "deal_over",
            id="a move after the end",
        ),
        pytest.param(
            {**TRUMP_GAME, "moves": [*TRUMP_GAME["moves"], {"seat": 0, "type": "god"}]},
            len(TRUMP_GAME["moves"]),
            "bad_move",
            id="its shape is looked at first",
        ),
        pytest.param({**TRUMP_GAME, "moves": TRUMP_GAME["moves"][1:]}, 0, "wrong_phase", id="a move too early"),
    ],
)
def test_the_first_refused_move_is_named_with_its_code(record, number, code):
    answer = run_record(record)
    assert (answer["ok"], answer["move"], answer["code"]) == (False, number, code)


def test_an_illegal_card_is_refused_with_the_legal_ones():
    for record in RECORDS:
        for number, move in enumerate(record["moves"]):
            if move["type"] != "play":
                continue
            legal = [offer["card"] for offer in run_record(cut(record, number))["legal"]]
            later = [
                other["card"]
                for other in record["moves"][number:]
                if other["type"] == "play" and other["seat"] == move["seat"]
            ]
            wrong = next((card for card in later if card not in legal), None)
            if wrong is None:
                continue
            answer = run_record(changed(record, number, card=wrong, marriage=None))
            assert (answer["move"], answer["code"]) == (number, "illegal_card")
            assert answer["detail"] == {"legal": legal}
            return
    raise AssertionError("no such move in these deals")


@pytest.mark.parametrize(
    ("record", "field"),
    [
        pytest.param(None, "", id="null"),
        pytest.param([], "", id="a list"),
        pytest.param("marias-deal/1", "", id="a text"),
        pytest.param({}, "format", id="nothing"),
        pytest.param({**TRUMP_GAME, "format": "marias-deal/2"}, "format", id="another format"),
        pytest.param({**TRUMP_GAME, "game": "prší"}, "game", id="another game"),
        pytest.param({**TRUMP_GAME, "game": ["voleny"]}, "game", id="a game that is no word"),
        pytest.param(without(TRUMP_GAME, "rules"), "rules", id="no rules"),
        pytest.param({**TRUMP_GAME, "rules": {"preset": "x"}}, "rules.preset", id="an unknown preset"),
        pytest.param({**TRUMP_GAME, "rules": {"cap": -1}}, "rules.cap", id="a wrong option"),
        pytest.param({**TRUMP_GAME, "rules": None}, "rules", id="rules that are null"),
        pytest.param(without(TRUMP_GAME, "dealer"), "dealer", id="no dealer"),
        pytest.param({**TRUMP_GAME, "dealer": 3}, "dealer", id="a fourth dealer"),
        pytest.param({**TRUMP_GAME, "dealer": True}, "dealer", id="a dealer that is true"),
        pytest.param({**TRUMP_GAME, "dealer": 1.0}, "dealer", id="a dealer that is 1.0"),
        pytest.param(without(TRUMP_GAME, "deck"), "deck", id="no deck"),
        pytest.param({**TRUMP_GAME, "deck": TRUMP_GAME["deck"][1:]}, "deck", id="31 cards"),
        pytest.param({**TRUMP_GAME, "deck": [*TRUMP_GAME["deck"][1:], "??"]}, "deck", id="an unknown card"),
        pytest.param(
            {**TRUMP_GAME, "deck": [*TRUMP_GAME["deck"][1:], TRUMP_GAME["deck"][1]]}, "deck", id="a card twice"
        ),
        pytest.param({**TRUMP_GAME, "deck": [*TRUMP_GAME["deck"][1:], 7]}, "deck", id="a card as a number"),
        pytest.param({**TRUMP_GAME, "deck": " ".join(TRUMP_GAME["deck"])}, "deck", id="a deck as text"),
        pytest.param({**TRUMP_GAME, "moves": {}}, "moves", id="moves that are no list"),
        pytest.param({**TRUMP_GAME, "moves": None}, "moves", id="moves that are null"),
        pytest.param({**TRUMP_GAME, "result": []}, "result", id="a result that is no object"),
        pytest.param({**TRUMP_GAME, "result": None}, "result", id="a result that is null"),
        pytest.param({**TRUMP_GAME, "played_at": "Brno"}, "played_at", id="an unknown field"),
    ],
)
def test_a_broken_record_is_answered_not_run(record, field):
    answer = run_record(record)
    assert (answer["ok"], answer["code"], answer["detail"]["field"]) == (False, "bad_record", field)
    assert "move" not in answer


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(["play", "Ah", "hra", "hospoda", "voleny"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(TRUMP_GAME)), JSON)
def test_whatever_stands_in_a_record_it_is_answered(name, value):
    """Never an exception: the answer is ok, or says why not."""
    answer = run_record({**TRUMP_GAME, name: value})
    assert answer["ok"] or answer["code"] in ("bad_record", "bad_move", "result_mismatch")


@given(st.integers(0, len(TRUMP_GAME["moves"]) - 1), st.text(max_size=6), JSON)
def test_whatever_stands_in_a_move_it_is_answered(number, name, value):
    answer = run_record(changed(TRUMP_GAME, number, **{name: value}))
    assert answer["ok"] or answer["move"] >= number


RESULT = next(record for record in RECORDS if len(record["result"]["parts"]) > 2)


def with_result(**fields):
    return {**RESULT, "result": {**RESULT["result"], **fields}}


PARTS = RESULT["result"]["parts"]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(with_result(payments=[1, -1, 0]), id="other payments"),
        pytest.param(with_result(played=1), id="1 for true"),
        pytest.param(with_result(payments=[float(chips) for chips in RESULT["result"]["payments"]]), id="3.0 for 3"),
        pytest.param(with_result(parts=PARTS[1:]), id="a part is missing"),
        pytest.param(with_result(parts=[*PARTS, PARTS[0]]), id="a part is there twice"),
        pytest.param(with_result(parts=[{**PARTS[0], "sure": not PARTS[0]["sure"]}, *PARTS[1:]]), id="a part is wrong"),
        pytest.param(with_result(parts="hra"), id="parts that are no list"),
        pytest.param(with_result(note="bez fleku"), id="something is added"),
        pytest.param({**RESULT, "result": without(RESULT["result"], "capped")}, id="something is missing"),
        pytest.param({**RESULT, "moves": RESULT["moves"][:-1]}, id="a result before the end"),
    ],
)
def test_a_wrong_result_is_a_mismatch_and_the_right_one_is_told(record):
    answer = run_record(record)
    assert (answer["ok"], answer["code"]) == (False, "result_mismatch")
    assert "move" not in answer
    if record["moves"] == RESULT["moves"]:
        assert answer["detail"]["result"] == RESULT["result"]


def test_the_parts_of_a_result_are_a_set():
    assert run_record(with_result(parts=PARTS[::-1]))["ok"]


def test_a_result_may_be_left_out():
    assert run_record(without(RESULT, "result"))["result"] == RESULT["result"]


@pytest.mark.parametrize(
    ("policy", "digest"),
    [
        ("random", "97da51175e94398e63a201d2485a13adb1d6f2fbe84865463ec33f073168522a"),
        ("bot", "aef38660511976386509f8dc03fb1a9b8dadb3f1d5261519ae4721e3453008fd"),
    ],
)
def test_made_deals_are_the_same_on_any_machine_and_python(policy, digest):
    """If one changes, published seeds mean other deals; that of the bot may change with its wits."""
    text = json.dumps(list(random_records("voleny", 1, 50, policy, RULES)))
    assert hashlib.sha256(text.encode()).hexdigest() == digest


def test_a_longer_run_begins_with_the_shorter_one():
    assert list(islice(random_records("voleny", 7, 10_000, "random", RULES), 60)) == RECORDS
    assert next(random_records("voleny", 8, 1, "random", RULES)) != RECORDS[0]


def test_chance_reaches_every_game_and_every_word():
    records = list(random_records("voleny", 3, 400, "random", RULES))
    parts = {row["part"] for record in records for row in record["result"]["parts"]}
    assert parts == {
        "hra",
        "tiche_sto",
        "sedma",
        "ticha_sedma",
        "sto",
        "betl",
        "durch",
        "sedma_proti",
        "sto_proti",
    }
    types = {move["type"] for record in records for move in record["moves"]}
    assert types == {"choose_trump", "discard", "declare", "good", "take_over", "announce", "flek", "play"}
    assert {row["level"] for record in records for row in record["result"]["parts"]} >= {0, 1, 2, 3, 4}


def test_bots_play_records_too():
    for record in random_records("voleny", 5, 5, "bot", {"preset": "mariasek"}):
        assert run_record(record)["ok"]


@given(voleny.RULES, st.integers(0, 2**32))
def test_the_record_of_recorded_events_runs_to_the_same_end(rules, seed):
    events = voleny.played_out(rules, Random(seed))
    record = record_of(events)
    assert "result" in record
    assert run_record(record)["ok"]
    assert run_record(record_of(events[:-1]))["ok"]


def hands(record):
    """The places in the deck of the forehand, the next seat and the dealer, by seat."""
    forehand = (record["dealer"] + 1) % 3
    packets = ([*range(7), *range(17, 22)], [*range(7, 12), *range(22, 27)], [*range(12, 17), *range(27, 32)])
    return {(forehand + place) % 3: set(packet) for place, packet in enumerate(packets)}


@pytest.mark.parametrize("record", RECORDS[:12], ids=lambda record: f"dealt by {record['dealer']}")
def test_a_seat_is_shown_its_own_cards_and_a_spectator_none(record):
    for seat in (None, 0, 1, 2):
        shown = record_for(record, seat)
        known = {place for place, card in enumerate(shown["deck"]) if card != "??"}
        assert known == hands(record).get(seat, set())
        assert all(shown["deck"][place] == record["deck"][place] for place in known)
        assert without(shown, "deck", "moves") == without(record, "deck", "moves")


@pytest.mark.parametrize("record", RECORDS[:12], ids=lambda record: f"dealt by {record['dealer']}")
def test_talon_trump_card_and_withheld_marriages_of_others_are_absent(record):
    for seat in (None, 0, 1, 2):
        for whole, shown in zip(record["moves"], record_for(record, seat)["moves"], strict=True):
            if whole["seat"] == seat:
                assert shown == whole
            elif whole["type"] == "discard":
                assert shown == without(whole, "cards")
            elif whole["type"] == "choose_trump":
                assert shown == without(whole, "card")
            elif whole.get("marriage") is False:
                assert shown == without(whole, "marriage")
            else:
                assert shown == whole


def test_the_forehand_is_shown_seven_cards_until_he_has_chosen():
    """§2.3."""
    forehand = (TRUMP_GAME["dealer"] + 1) % 3
    shown = record_for({**TRUMP_GAME, "moves": []}, forehand)
    assert [card != "??" for card in shown["deck"]] == [True] * 7 + [False] * 25

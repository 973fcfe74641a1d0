"""Moves as JSON: sets in any order and written in one, and nothing that is not exactly a move."""

import pytest

from engine.games.voleny.commands import ChooseTrump, Discard, Flek, PlayCard
from engine.notation import CARD, parse
from schemas.errors import Malformed
from schemas.moves import MOVES, dump_move, load_move

SEAT = 1


@pytest.mark.parametrize(
    ("body", "written"),
    [
        pytest.param({"type": "choose_trump", "card": "Kc"}, None, id="a trump card by its code"),
        pytest.param({"type": "choose_trump", "blind": 0}, None, id="or blind, by its place"),
        pytest.param(
            {"type": "discard", "cards": ["8d", "7d"]},
            {"type": "discard", "cards": ["7d", "8d"]},
            id="the talon is a set, written in the order of the cards",
        ),
        pytest.param({"type": "declare", "game": "colour"}, None, id="colour"),
        pytest.param({"type": "good"}, None, id="good"),
        pytest.param({"type": "take_over"}, None, id="a take-over"),
        pytest.param({"type": "claim"}, None, id="a claim"),
        pytest.param({"type": "announce", "contract": ["hra"]}, None, id="hra"),
        pytest.param(
            {"type": "announce", "contract": ["sedma", "hra"]},
            {"type": "announce", "contract": ["hra", "sedma"]},
            id="hra a sedma, whatever the order",
        ),
        pytest.param(
            {"type": "announce", "contract": ["sedma", "sto"]},
            {"type": "announce", "contract": ["sto", "sedma"]},
            id="sto a sedma, whatever the order",
        ),
        pytest.param(
            {"type": "flek", "raise": ["sedma", "hra"]},
            {"type": "flek", "raise": ["hra", "sedma"], "announce": []},
            id="a missing list of a flek is empty",
        ),
        pytest.param(
            {"type": "flek", "announce": ["sto_proti", "sedma_proti"]},
            {"type": "flek", "raise": [], "announce": ["sedma_proti", "sto_proti"]},
            id="proti in the order of the rule book",
        ),
        pytest.param(
            {"type": "flek"},
            {"type": "flek", "raise": [], "announce": []},
            id="an empty flek has the right shape; the rules refuse it",
        ),
        pytest.param({"type": "play", "card": "Ah"}, None, id="a card without a word"),
        pytest.param({"type": "play", "card": "Kh", "marriage": False}, None, id="a card with a word"),
    ],
)
def test_a_move_is_read_and_written(body, written):
    assert dump_move(load_move(SEAT, body)) == (written or body)


@pytest.mark.parametrize(
    ("body", "command"),
    [
        pytest.param({"type": "choose_trump", "card": "Kc"}, ChooseTrump(seat=SEAT, card=CARD["Kc"]), id="card"),
        pytest.param({"type": "choose_trump", "blind": 4}, ChooseTrump(seat=SEAT, blind=4), id="blind"),
        pytest.param(
            {"type": "discard", "cards": ["As", "7h"]}, Discard(seat=SEAT, cards=parse("7h As")), id="discard"
        ),
        pytest.param({"type": "flek", "raise": ["betl"]}, Flek(seat=SEAT, raises=("betl",), announces=()), id="flek"),
        pytest.param(
            {"type": "play", "card": "Qd", "marriage": True},
            PlayCard(seat=SEAT, card=CARD["Qd"], marriage=True),
            id="play",
        ),
    ],
)
def test_the_seat_comes_from_outside_and_the_rest_from_the_body(body, command):
    assert load_move(SEAT, body) == command


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "type", id="no type"),
        pytest.param({"type": "fold"}, "type", id="no such move"),
        pytest.param({"type": ["play"]}, "type", id="a type that is no word"),
        pytest.param({"type": "good", "seat": 1}, "seat", id="a seat in the body"),
        pytest.param({"type": "good", "why": None}, "why", id="an unknown field, though it is null"),
        pytest.param({"type": "choose_trump"}, "card", id="neither card nor place"),
        pytest.param({"type": "choose_trump", "card": "Kc", "blind": 0}, "card", id="card and place"),
        pytest.param({"type": "choose_trump", "card": None}, "card", id="null is no card"),
        pytest.param({"type": "choose_trump", "blind": 5}, "blind", id="a sixth place"),
        pytest.param({"type": "choose_trump", "blind": -1}, "blind", id="a place before the first"),
        pytest.param({"type": "choose_trump", "blind": True}, "blind", id="true is no place"),
        pytest.param({"type": "choose_trump", "blind": 1.0}, "blind", id="1.0 is no place"),
        pytest.param({"type": "choose_trump", "blind": "1"}, "blind", id="text is no place"),
        pytest.param({"type": "discard"}, "cards", id="no talon"),
        pytest.param({"type": "discard", "cards": "7d8d"}, "cards", id="cards that are no list"),
        pytest.param({"type": "discard", "cards": ["7d"]}, "cards", id="a talon of one"),
        pytest.param({"type": "discard", "cards": ["7d", "8d", "9d"]}, "cards", id="a talon of three"),
        pytest.param({"type": "discard", "cards": ["7d", "7d"]}, "cards", id="the same card twice"),
        pytest.param({"type": "discard", "cards": ["7d", 8]}, "cards", id="a card that is a number"),
        pytest.param({"type": "discard", "cards": ["7d", ["8d"]]}, "cards", id="a card that is a list"),
        pytest.param({"type": "declare", "game": "hra"}, "game", id="hra is a contract, not a game"),
        pytest.param({"type": "declare", "game": {}}, "game", id="a game that is no word"),
        pytest.param({"type": "announce", "contract": "hra"}, "contract", id="a contract that is no list"),
        pytest.param({"type": "announce", "contract": ["betl"]}, "contract", id="betl is declared"),
        pytest.param({"type": "announce", "contract": ["hra", "hra"]}, "contract", id="hra twice"),
        pytest.param({"type": "announce", "contract": [None]}, "contract", id="null in a contract"),
        pytest.param({"type": "flek", "raise": ["tiche_sto"]}, "raise", id="a silent sto cannot be raised"),
        pytest.param({"type": "flek", "raise": ["hra", "hra"]}, "raise", id="one part raised twice"),
        pytest.param({"type": "flek", "raise": None}, "raise", id="null is no list"),
        pytest.param({"type": "flek", "announce": ["hra"]}, "announce", id="hra is no proti"),
        pytest.param({"type": "play"}, "card", id="no card"),
        pytest.param({"type": "play", "card": "10h"}, "card", id="ten is T"),
        pytest.param({"type": "play", "card": "AH"}, "card", id="suits are small letters"),
        pytest.param({"type": "play", "card": "6h"}, "card", id="no six is in the pack"),
        pytest.param({"type": "play", "card": "??"}, "card", id="an unknown card"),
        pytest.param({"type": "play", "card": "Kh", "marriage": 1}, "marriage", id="1 is not true"),
        pytest.param({"type": "play", "card": "Kh", "marriage": None}, "marriage", id="null is no word"),
        pytest.param({"type": "claim", "cards": []}, "cards", id="a claim says nothing more"),
    ],
)
def test_whatever_is_not_exactly_a_move_is_malformed_and_the_field_is_named(body, field):
    with pytest.raises(Malformed) as error:
        load_move(SEAT, body)
    assert error.value.field == field
    assert error.value.message


def test_a_body_is_not_changed_by_reading_it():
    body = {"type": "discard", "cards": ["8d", "7d"]}
    load_move(SEAT, body)
    assert body == {"type": "discard", "cards": ["8d", "7d"]}


def test_every_type_of_the_contract_is_known():
    assert list(MOVES) == [
        "choose_trump",
        "discard",
        "declare",
        "good",
        "take_over",
        "announce",
        "flek",
        "play",
        "claim",
    ]

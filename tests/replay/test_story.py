"""The tale of a table: each public event as a sentence, with the words that Czech players use."""

from string import Formatter

import pytest

from services.replay.story import Story
from services.replay.words import CZECH, ENGLISH

NAMES = ("Ana", "Bára", "Cyril")
RESULT = {
    "payments": [4, -2, -2], "played": True, "capped": False, "points": {"declarer": 50, "defence": 40},
    "marriages": {"declarer": [40, 20], "defence": []},
    "parts": [
        {"part": "hra", "won": True, "level": 1, "per_defender": 2, "sure": False},
        {"part": "sedma_proti", "won": False, "level": 0, "per_defender": -2, "sure": False},
    ],
}


@pytest.mark.parametrize(("event", "lines"), [
    ({"type": "deal_started", "deal": 7}, ["", "Deal 7"]),
    ({"type": "dealt", "dealer": 2}, ["Cyril deals; Ana is the forehand (forhont)"]),
    ({"type": "trump_chosen", "seat": 0}, ["  Ana chooses trumps, face down"]),
    ({"type": "trump_chosen", "seat": 0, "blind": 0}, ["  Ana chooses trumps blind, from the cards not seen"]),
    ({"type": "discarded", "seat": 1}, ["  Bára lays two cards into the talon"]),
    ({"type": "game_declared", "seat": 0, "game": "colour"}, ["  Ana asks „Barva?“"]),
    ({"type": "said_good", "seat": 2}, ["  Cyril: dobrá (good)"]),
    ({"type": "taken_over", "seat": 2}, ["  Cyril: špatná (bad), and takes the talon"]),
    ({"type": "trump_turned", "card": "7s"}, ["  trumps are leaves: seven ♠ is turned up"]),
    ({"type": "contract_announced", "seat": 0, "contract": ["hra", "sedma"]}, ["  Ana plays hra and sedma"]),
    ({"type": "doubled", "seat": 1, "raise": ["hra"], "join": [], "announce": ["sto_proti"]},
     ["  Bára: flek on hra, sto proti"]),
    ({"type": "doubled", "seat": 2, "raise": [], "join": ["hra"], "announce": []}, ["  Cyril: joins on hra"]),
    ({"type": "card_played", "seat": 0, "card": "Ah"}, []),
    ({"type": "deal_scored", "result": RESULT}, [
        "  points: declarer 50 + 40 + 20, defence 40", "  hra (flek): won, 2 each", "  sedma proti: lost, 2 each",
        "  chips: Ana +4, Bára -2, Cyril -2",
    ]),
    ({"type": "table_finished", "standing": [
        {"place": 1, "seat": 2, "chips": 9}, {"place": 2, "seat": 0, "chips": -9},
    ]}, ["", "The session is over: 1. Cyril +9, 2. Ana -9"]),
    ({"type": "deadline_set", "at": None}, []),
])
def test_an_event_is_told(event: dict, lines: list[str]) -> None:
    assert Story(NAMES).lines([event]) == lines


def test_a_trick_is_told_when_it_is_taken_and_counted_within_its_deal() -> None:
    story = Story(NAMES)
    trick = [
        {"type": "card_played", "seat": 0, "card": "Kh", "marriage_points": 40},
        {"type": "card_played", "seat": 1, "card": "Th"},
        {"type": "card_played", "seat": 2, "card": "9d"},
        {"type": "trick_taken", "seat": 1},
    ]
    told = "Ana king ♥ with a hláška of 40, Bára ten ♥, Cyril nine ♦ → Bára"
    assert story.lines(trick) == [f"  trick  1: {told}"]
    assert story.lines(trick) == [f"  trick  2: {told}"]
    story.lines([{"type": "dealt", "dealer": 0}])
    assert story.lines(trick) == [f"  trick  1: {told}"]


def test_raises_go_up_the_ladder_part_by_part() -> None:
    story = Story(NAMES)
    raising = {"type": "doubled", "seat": 1, "raise": ["hra"], "join": [], "announce": []}
    assert [story.lines([raising])[0] for _ in range(3)] == [
        "  Bára: flek on hra", "  Bára: re on hra", "  Bára: tutti on hra",
    ]
    assert story.lines([raising | {"raise": ["sedma"]}]) == ["  Bára: flek on sedma"]


@pytest.mark.parametrize(("code", "czech", "english"), [
    ("7c", "sedma ♣", "seven ♣"), ("Td", "desítka ♦", "ten ♦"), ("Qh", "svršek ♥", "queen ♥"),
])
def test_a_card_has_its_names(code: str, czech: str, english: str) -> None:
    assert (CZECH.card(code), ENGLISH.card(code)) == (czech, english)


def test_both_languages_tell_the_same_things() -> None:
    assert CZECH.tell.keys() == ENGLISH.tell.keys()
    for name, sentence in ENGLISH.tell.items():
        places = {field for _, field, _, _ in Formatter().parse(sentence) if field}
        assert places == {field for _, field, _, _ in Formatter().parse(CZECH.tell[name]) if field}, name


def test_what_a_seat_knows_of_its_own_is_told() -> None:
    story = Story(NAMES, CZECH)
    assert story.lines([{"type": "trump_chosen", "seat": 0, "card": "Kh"}]) == ["  Ana volí trumf: král ♥"]
    assert story.lines([{"type": "discarded", "seat": 1, "cards": ["7d", "8d"]}]) == [
        "  Bára odhazuje do talonu: sedma ♦, osma ♦",
    ]


def test_each_card_is_told_as_it_is_played_to_who_follows_step_by_step() -> None:
    story = Story(NAMES, plays=True)
    played = {"type": "card_played", "seat": 0, "card": "Kh", "marriage_points": 40}
    assert story.lines([played]) == ["  Ana plays king ♥ with a hláška of 40"]
    assert story.lines([played | {"seat": 1, "card": "7h", "marriage_points": None}]) == ["  Bára plays seven ♥"]
    assert story.lines([{"type": "trick_taken", "seat": 2}]) == ["  trick 1 goes to Cyril"]


def test_in_czech_parts_are_said_in_their_case() -> None:
    story = Story(NAMES, CZECH)
    assert story.lines([{"type": "contract_announced", "seat": 0, "contract": ["hra", "sedma"]}]) == [
        "  Ana hraje hru a sedmu",
    ]
    assert story.lines([{"type": "doubled", "seat": 1, "raise": ["hra"], "join": ["sedma"], "announce": []}]) == [
        "  Bára: flek na hru, přidává se na sedmu",
    ]
    assert ENGLISH.parts.keys() == CZECH.parts.keys()


def test_what_lies_on_the_table_is_told_with_levels_points_and_time() -> None:
    view = {
        "trick": [{"seat": 1, "card": "Th"}], "levels": {"hra": 2, "sedma": 0},
        "points": {"declarer": 30, "defence": 10}, "to_act": [2],
    }
    assert Story(NAMES).table(view, [1_500, 0, 250]) == [
        "  on the table: Bára ten ♥", "  levels: hra re", "  points so far: declarer 30, defence 10",
        "  to act: Cyril", "  time used: Ana 1.5 s, Bára 0.0 s, Cyril 0.2 s",
    ]
    empty = {"trick": [], "levels": {}, "points": {"declarer": 0, "defence": 0}, "to_act": []}
    assert Story(NAMES, CZECH).table(empty, [0, 0, 0]) == []


def test_what_makes_a_deal_fair_is_told_step_by_step_and_not_in_a_tale() -> None:
    events = [
        {"type": "nonce_committed", "seat": 0, "commitment": "ab" * 32},
        {"type": "deal_committed", "deal": 1, "root": "0123456789abcdef" * 4},
        {"type": "nonce_revealed", "seat": 0, "nonce": "cd" * 32},
    ]
    assert Story(NAMES, plays=True).lines(events) == [
        "  Ana commits to a secret number", "  the order of the cards is fixed, its root is 0123456789ab…",
        "  Ana reveals the number",
    ]
    assert Story(NAMES).lines(events) == []


def test_a_name_written_from_the_right_turns_nothing_round() -> None:
    story = Story(["", "", ""])
    story.meet({"seats": [{"name": "مرحبا"}, {"name": "Bára"}, {"name": "אב 1"}]}, [])
    [*_, chips] = story.lines([{"type": "deal_scored", "result": RESULT}])
    assert chips == "  chips: \u2068مرحبا\u2069 +4, Bára -2, \u2068אב 1\u2069 -2"

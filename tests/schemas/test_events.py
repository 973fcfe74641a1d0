"""Events as JSON: every type and version that was ever written stays readable, letter by letter."""

import json
from pathlib import Path

import pytest

from engine.game import PartResult, Result
from engine.games.voleny.events import (
    CardPlayed,
    ContractAnnounced,
    DealScored,
    Dealt,
    Discarded,
    Doubled,
    GameDeclared,
    HandCompleted,
    PlayBegan,
    SaidGood,
    TakenOver,
    TrickTaken,
    TrumpChosen,
    TrumpTurned,
    TurnOpened,
)
from engine.games.voleny.rules import Rates, Rules
from engine.notation import CARD, parse
from schemas.games.voleny_events import EVENTS, dump_event, load_event
from schemas.upcasters import UPCASTERS, upcast, version_of

GOLDEN = Path(__file__).parent / "golden" / "voleny"

HOUSE_RULES = Rules(
    allow_blind=False,
    sto_marriage="highest",
    flek_levels_max=3,
    cap=0,
    rates=Rates(hra=2, sedma=4, ticha_sedma=1, sto=8, betl=15, durch=30),
)
RESULT = Result(
    payments=(12, -6, -6),
    played=True,
    capped=False,
    points=(60, 30),
    marriages=((40, 20), ()),
    parts=(PartResult("tiche_sto", True, 0, 6, False), PartResult("ticha_sedma", False, 0, -1, False)),
)

# One row for each file of the folder. A new version adds a row and a file; none is ever changed or removed.
WRITTEN = {
    "dealt.v1": Dealt(rules=HOUSE_RULES, dealer=2, deck=tuple(range(32))),
    "trump_chosen.v1": TrumpChosen(seat=0, card=CARD["Kc"]),
    "trump_chosen_blind.v1": TrumpChosen(seat=0, card=CARD["7s"], blind=3),
    "hand_completed.v1": HandCompleted(seat=0, cards=parse("Ah 7d 8d 9d Tc")),
    "discarded.v1": Discarded(seat=0, cards=parse("7d 8d")),
    "game_declared.v1": GameDeclared(seat=0, game="colour"),
    "said_good.v1": SaidGood(seat=1),
    "taken_over.v1": TakenOver(seat=2, cards=parse("7d 8d")),
    "trump_turned.v1": TrumpTurned(card=CARD["Kc"]),
    "contract_announced.v1": ContractAnnounced(seat=0, contract=("sto", "sedma")),
    "doubled.v1": Doubled(seat=2, raises=("sedma",), joins=("hra",), announces=("sto_proti",)),
    "turn_opened.v1": TurnOpened(seat=0, parts=("hra", "sto_proti")),
    "play_began.v1": PlayBegan(seat=0),
    "card_played.v1": CardPlayed(seat=1, card=CARD["As"]),
    "card_played_marriage.v1": CardPlayed(seat=0, card=CARD["Kc"], marriage=True, marriage_points=40),
    "card_played_withheld.v1": CardPlayed(seat=0, card=CARD["Kd"], marriage=False),
    "trick_taken.v1": TrickTaken(seat=1),
    "deal_scored.v1": DealScored(result=RESULT),
}


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", WRITTEN)
def test_what_was_once_written_is_still_read(name):
    assert load_event(golden(name)) == WRITTEN[name]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_present_version_is_still_written_so(name):
    stored = golden(name)
    if stored.get("v", 1) == version_of(stored["type"]):
        assert dump_event(WRITTEN[name]) == stored


def test_every_type_and_version_has_its_file():
    files = {path.stem for path in GOLDEN.glob("*.json")}
    assert files == set(WRITTEN)
    kept = {(stored["type"], stored.get("v", 1)) for stored in map(golden, files)}
    assert kept == {(kind, version) for kind in EVENTS for version in range(1, version_of(kind) + 1)}


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(Dealt(rules=HOUSE_RULES, dealer=0), id="a deal without its deck"),
        pytest.param(Dealt(rules=HOUSE_RULES, dealer=0, hand=parse("Ah Kh")), id="a deal and one hand"),
        pytest.param(TrumpChosen(seat=0, blind=2), id="a blind trump card"),
        pytest.param(Discarded(seat=1), id="a discard"),
        pytest.param(TakenOver(seat=1), id="a take-over"),
        pytest.param(HandCompleted(seat=1), id="a second five"),
    ],
)
def test_what_a_seat_may_not_know_is_absent(event):
    assert None not in dump_event(event).values()
    assert load_event(dump_event(event)) == event


def test_old_versions_are_brought_up_step_by_step(monkeypatch):
    monkeypatch.setattr(
        "schemas.upcasters.UPCASTERS",
        {
            ("trump_chosen", 1): lambda stored: stored | {"blind": False},
            ("trump_chosen", 2): lambda stored: stored | {"place": None},
        },
    )
    assert upcast({"type": "trump_chosen", "card": "Kc"}) == {
        "type": "trump_chosen",
        "v": 3,
        "card": "Kc",
        "blind": False,
        "place": None,
    }
    assert version_of("trump_chosen") == 3
    assert upcast({"type": "said_good", "seat": 0}) == {"type": "said_good", "seat": 0}


def test_upcasters_leave_no_gap():
    for kind, version in UPCASTERS:
        assert version == 1 or (kind, version - 1) in UPCASTERS

"""Who may speak, and about what, in each phase of a deal (§3.1, §3.3, §4.1, §4.2, §5.1, §6.2, §7.1)."""

import pytest

from engine.games.voleny.commands import Deal
from engine.games.voleny.rules import HOSPODA
from tests.engine import deals
from tests.engine.words import (
    ANA,
    BARA,
    CYRIL,
    announce,
    blind,
    claim,
    declare,
    discard,
    flek,
    good,
    play,
    take_over,
    trump,
)

PHASES = {
    "choose_trump": deals.dealt("7h 9h"),
    "discard": deals.dealt("7h 9h").when(trump(BARA, "7h")),
    "declare": deals.laid_away("7h 9h"),
    "answer": deals.asked("7h 9h"),
    "announce": deals.approved("7h 9h"),
    "doubling": deals.announced("hra", "7h 9h"),
    "answer a betl": deals.betl("7h 9h"),
    "double a durch": deals.durch("7h 9h"),
    "play": deals.in_play("hra", "7h 9h"),
}
COMMANDS = {
    "choose_trump": lambda seat: trump(seat, "7h"),
    "draw blind": lambda seat: blind(seat, 0),
    "discard": lambda seat: discard(seat, "7d 8d"),
    "declare": lambda seat: declare(seat, "betl"),
    "good": good,
    "take_over": take_over,
    "announce": lambda seat: announce(seat, "hra"),
    "flek": lambda seat: flek(seat, "hra"),
    "play": lambda seat: play(seat, "7h"),
    "claim": claim,
}
ANSWERS = {
    "choose_trump": "choose_trump, draw blind",
    "discard": "discard",
    "declare": "declare",
    "answer": "good, take_over",
    "announce": "announce",
    "doubling": "good, flek",
    "answer a betl": "good, take_over, flek",
    "double a durch": "good, flek",
    "play": "play, claim",
}
TO_ACT = {"answer": CYRIL, "doubling": CYRIL, "answer a betl": CYRIL, "double a durch": CYRIL}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("phase", PHASES)
def test_what_belongs_to_another_phase_is_refused(phase, command):
    seat = TO_ACT.get(phase, BARA)
    told = PHASES[phase].then_asks(seat).when(COMMANDS[command](seat))
    if command in ANSWERS[phase].split(", "):
        assert told.refusal is None or told.refusal.code != "wrong_phase"
    else:
        told.then_refused("wrong_phase")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("phase", PHASES)
def test_nobody_speaks_out_of_turn(phase, command):
    for seat in {ANA, BARA, CYRIL} - {TO_ACT.get(phase, BARA)}:
        PHASES[phase].when(COMMANDS[command](seat)).then_refused("not_your_turn")


def test_a_deal_is_dealt_once():
    """§2.2."""
    again = Deal(rules=HOSPODA, dealer=ANA, deck=tuple(range(32)))
    deals.dealt().when(again).then_refused("wrong_phase")


@pytest.mark.parametrize("phase", PHASES)
def test_a_refusal_changes_nothing(phase):
    told = PHASES[phase].when(good(ANA))
    assert told.refusal is not None
    assert told.state is PHASES[phase].state
    assert told.events == ()

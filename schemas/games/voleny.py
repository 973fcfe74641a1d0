"""Volený on the wire."""

from typing import Final

from engine.cards import SUITS
from engine.game import Result
from engine.games.voleny.commands import Command
from engine.games.voleny.events import Event
from engine.games.voleny.rules import Rules
from engine.games.voleny.state import State
from engine.games.voleny.view import Cards, Private, Public
from engine.notation import CODES
from engine.tricks import Trick
from schemas.games.voleny_events import dump_event, dump_result, load_event
from schemas.games.voleny_rules import dump_rules, load_rules
from schemas.games.voleny_state import dump_state, load_state
from schemas.games.wire import GameWire
from schemas.moves import dump_move, load_move


def dump_public(view: Public) -> dict[str, object]:
    """What everybody may know, as the view of a table holds it."""
    return {
        "phase": view.phase,
        "dealer": view.dealer,
        "to_act": list(view.to_act),
        "declarer": view.declarer,
        "game": view.game,
        "trump": None if view.trump is None else SUITS[view.trump],
        "contract": list(view.contract),
        "proti": dict(view.protis),
        "levels": dict(view.levels),
        "open": list(view.open),
        "said": list(view.said),
        "trick": _cards(view.trick),
        "last_trick": _last_trick(view),
        "tricks_taken": list(view.tricks_taken),
        "points": {"declarer": view.points[0], "defence": view.points[1]},
        "marriages": {"declarer": list(view.marriages[0]), "defence": list(view.marriages[1])},
        "result": None if view.result is None else dump_result(view.result),
    }


def dump_private(view: Private) -> dict[str, object]:
    """What only the seat may know; a spectator has neither hand nor moves."""
    if view.seat is None:
        return {"seat": None, "hand": [], "legal": []}
    return {
        "seat": view.seat,
        "hand": [CODES[card] for card in view.hand],
        "trump_card": None if view.trump_card is None else CODES[view.trump_card],
        "legal": [dump_move(move) for move in view.legal],
    }


def _cards(cards: Cards) -> list[dict[str, object]]:
    return [{"seat": seat, "card": CODES[card]} for seat, card in cards]


def _last_trick(view: Public) -> dict[str, object] | None:
    if view.last_trick is None:
        return None
    cards, winner = view.last_trick
    return {"cards": _cards(cards), "winner": winner}


VOLENY_WIRE: Final[GameWire[Rules, State, Command, Event, Public, Private]] = GameWire(
    key="voleny",
    load_rules=load_rules,
    dump_rules=dump_rules,
    load_move=load_move,
    dump_move=dump_move,
    dump_event=dump_event,
    load_event=load_event,
    dump_public=dump_public,
    dump_private=dump_private,
    dump_result=dump_result,
    dump_state=dump_state,
    load_state=load_state,
    stored=(State, Trick, Result),
)

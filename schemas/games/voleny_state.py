"""States of volený as JSON, for snapshots: written by one build and read by the same."""

from typing import Final

import msgspec

from engine.games.voleny.state import (
    Announcing,
    Answering,
    ChoosingTrump,
    Declaring,
    Discarding,
    Doubling,
    Over,
    Playing,
    State,
    Undealt,
)
from engine.tricks import Trick, trick_of
from schemas.games.voleny_events import dump_result, load_result

_PHASES: Final = {
    "undealt": Undealt,
    "choosing_trump": ChoosingTrump,
    "discarding": Discarding,
    "declaring": Declaring,
    "answering": Answering,
    "announcing": Announcing,
    "doubling": Doubling,
    "playing": Playing,
}
_NAMES: Final = {phase: name for name, phase in _PHASES.items()}


def dump_state(deal: State) -> dict[str, object]:
    """The state as `load_state` reads it."""
    if isinstance(deal, Over):
        return {"phase": "over", "ended": dump_state(deal.ended), "result": dump_result(deal.result)}
    return {"phase": _NAMES[type(deal)], "state": msgspec.to_builtins(deal, enc_hook=_write_trick)}


def load_state(stored: dict[str, object]) -> State:
    """A state that `dump_state` of the same build wrote."""
    if stored["phase"] == "over":
        ended = stored["ended"]
        assert isinstance(ended, dict)
        before = load_state(ended)
        assert isinstance(before, Doubling | Playing)
        return Over(-1, before, load_result(stored["result"]))
    phase = _PHASES[str(stored["phase"])]
    state: State = msgspec.convert(stored["state"], phase, dec_hook=_read_trick)
    return state


def _write_trick(value: object) -> object:
    assert isinstance(value, Trick)
    return [value.order, *value.cards]


def _read_trick(kind: type, value: object) -> object:
    assert kind is Trick
    assert isinstance(value, list)
    return trick_of(value[0], tuple(value[1:]))

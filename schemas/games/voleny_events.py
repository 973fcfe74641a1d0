"""Events of volený as JSON: one table of all that may be written, and readers for all that ever was."""

from collections.abc import Callable
from typing import Final

from engine.game import PartResult, Result
from engine.games.voleny.events import (
    CardPlayed,
    ContractAnnounced,
    DealScored,
    Dealt,
    Discarded,
    Doubled,
    Event,
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
from engine.games.voleny.rules import CONTRACT, KINDS, PARTS, PROTIS, Rules
from schemas.games.voleny_rules import kept_rules, load_rules
from schemas.upcasters import upcast, version_of
from schemas.values import (
    CARD_CODE,
    FLAG,
    SEAT,
    Field,
    Value,
    cards,
    choice,
    field,
    read_fields,
    whole,
    words,
    write_fields,
)


def dump_result(result: Result) -> dict[str, object]:
    """The result as a deal record holds it."""
    return {
        "payments": list(result.payments),
        "played": result.played,
        "capped": result.capped,
        "points": {"declarer": result.points[0], "defence": result.points[1]},
        "marriages": {"declarer": list(result.marriages[0]), "defence": list(result.marriages[1])},
        "parts": [
            {"part": part, "won": won, "level": level, "per_defender": per_defender, "sure": sure}
            for part, won, level, per_defender, sure in result.parts
        ],
    }


def load_result(value: object) -> Result:
    """A result that `dump_result` wrote."""
    match value:
        case {
            "payments": list(payments),
            "played": bool(played),
            "capped": bool(capped),
            "points": {"declarer": int(own), "defence": int(others)},
            "marriages": {"declarer": list(own_marriages), "defence": list(other_marriages)},
            "parts": list(parts),
        }:
            return Result(
                tuple(payments),
                played,
                capped,
                (own, others),
                (tuple(own_marriages), tuple(other_marriages)),
                tuple(PartResult(**part) for part in parts),
            )
        case _:
            raise ValueError("Not a result.")


def _write_rules(value: object) -> object:
    assert isinstance(value, Rules)
    return kept_rules(value)


def _write_result(value: object) -> object:
    assert isinstance(value, Result)
    return dump_result(value)


_RULES = Value(name="rules", read=load_rules, write=_write_rules)
_RESULT = Value(name="result", read=load_result, write=_write_result)
_CARDS, _PARTS, _PROTIS = cards(), words(*PARTS), words(*PROTIS)


def _optional(name: str, value: Value) -> Field:
    return field(name, value, required=False)


_SEAT = field("seat", SEAT)
EVENTS: Final[dict[str, tuple[Callable[..., Event], tuple[Field, ...]]]] = {
    "dealt": (
        Dealt,
        (field("rules", _RULES), field("dealer", SEAT), _optional("deck", _CARDS), _optional("hand", _CARDS)),
    ),
    "trump_chosen": (TrumpChosen, (_SEAT, _optional("card", CARD_CODE), _optional("blind", whole(0, 4)))),
    "hand_completed": (HandCompleted, (_SEAT, _optional("cards", _CARDS))),
    "discarded": (Discarded, (_SEAT, _optional("cards", _CARDS))),
    "game_declared": (GameDeclared, (_SEAT, field("game", choice(*KINDS)))),
    "said_good": (SaidGood, (_SEAT,)),
    "taken_over": (TakenOver, (_SEAT, _optional("cards", _CARDS))),
    "trump_turned": (TrumpTurned, (field("card", CARD_CODE),)),
    "contract_announced": (ContractAnnounced, (_SEAT, field("contract", words(*CONTRACT)))),
    "doubled": (
        Doubled,
        (
            _SEAT,
            field("raise", _PARTS, attribute="raises"),
            field("join", _PARTS, attribute="joins"),
            field("announce", _PROTIS, attribute="announces"),
        ),
    ),
    "turn_opened": (TurnOpened, (_SEAT, field("parts", _PARTS))),
    "play_began": (PlayBegan, (_SEAT,)),
    "card_played": (
        CardPlayed,
        (
            _SEAT,
            field("card", CARD_CODE),
            _optional("marriage", FLAG),
            _optional("marriage_points", whole(0, 40)),
        ),
    ),
    "trick_taken": (TrickTaken, (_SEAT,)),
    "deal_scored": (DealScored, (field("result", _RESULT),)),
}
"""Every type of event and its fields; a field that is not required may be a secret or not apply."""

_TYPES: Final[dict[object, str]] = {event: name for name, (event, _) in EVENTS.items()}
_VERSIONS: Final = {name: version_of(name) for name in EVENTS}


def dump_event(event: Event) -> dict[str, object]:
    """The event as it is stored and, as far as it may be known, sent."""
    name = _TYPES[type(event)]
    dumped = {"type": name, **write_fields(EVENTS[name][1], event)}
    if _VERSIONS[name] > 1:
        dumped["v"] = _VERSIONS[name]
    return dumped


def load_event(stored: dict[str, object]) -> Event:
    """An event of any version that was ever written."""
    body = dict(upcast(stored))
    body.pop("v", None)
    event, fields = EVENTS[str(body.pop("type"))]
    return event(**read_fields(fields, body))

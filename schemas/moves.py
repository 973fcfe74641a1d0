"""Moves as JSON: one table, from which the fast loader and the schemas of HTTP bodies are made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.games.voleny.commands import (
    CLAIMS,
    GOODS,
    TAKE_OVERS,
    Announce,
    ChooseTrump,
    Claim,
    Command,
    Declare,
    Discard,
    Flek,
    Good,
    Move,
    PlayCard,
    TakeOver,
    announces,
    declares,
    discards,
    flek,
    play,
    trumps,
)
from engine.games.voleny.rules import CONTRACT, KINDS, PARTS, PROTIS, Part, Proti
from schemas.errors import Malformed
from schemas.values import CARD_CODE, FLAG, Field, card_set, choice, field, read_fields, whole, words, write_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A type of move: its command, its fields, and how the command is made from a seat and their values."""

    command: type
    fields: tuple[Field, ...]
    make: Callable[..., Move]
    exactly_one: bool = False
    """Whether one of the fields must be given and the others must not."""


def _discard(seat: int, cards: tuple[int, ...]) -> Discard:
    return discards(seat)[cards]


def _flek(seat: int, raises: tuple[Part, ...] = (), announces: tuple[Proti, ...] = ()) -> Flek:
    return flek(seat, raises, announces)


MOVES: Final[dict[str, Shape]] = {
    "choose_trump": Shape(
        command=ChooseTrump,
        fields=(field("card", CARD_CODE, required=False), field("blind", whole(0, 4), required=False)),
        make=trumps,
        exactly_one=True,
    ),
    "discard": Shape(command=Discard, fields=(field("cards", card_set(2)),), make=_discard),
    "declare": Shape(command=Declare, fields=(field("game", choice(*KINDS)),), make=declares),
    "good": Shape(command=Good, fields=(), make=GOODS.__getitem__),
    "take_over": Shape(command=TakeOver, fields=(), make=TAKE_OVERS.__getitem__),
    "announce": Shape(command=Announce, fields=(field("contract", words(*CONTRACT)),), make=announces),
    "flek": Shape(
        command=Flek,
        fields=(
            field("raise", words(*PARTS), attribute="raises", required=False),
            field("announce", words(*PROTIS), attribute="announces", required=False),
        ),
        make=_flek,
    ),
    "play": Shape(
        command=PlayCard,
        fields=(field("card", CARD_CODE), field("marriage", FLAG, required=False)),
        make=play,
    ),
    "claim": Shape(command=Claim, fields=(), make=CLAIMS.__getitem__),
}

_TYPES: Final = {shape.command: name for name, shape in MOVES.items()}


def load_move(seat: int, body: dict[str, object]) -> Move:
    """The command that `seat` sends by `body`. Raises Malformed; rules are not asked here."""
    kind = body.get("type")
    shape = MOVES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise Malformed("type", f"Must be one of: {', '.join(MOVES)}.")
    values = read_fields(shape.fields, body, beside=("type",))
    if shape.exactly_one and len(values) != 1:
        names = " or ".join(each.name for each in shape.fields)
        raise Malformed(shape.fields[0].name, f"Give either {names}.")
    return shape.make(seat, **values)


def dump_move(move: Command) -> dict[str, object]:
    """The move as a body, without its seat: what `load_move` reads. Dealing is no move."""
    name = _TYPES[type(move)]
    return {"type": name, **write_fields(MOVES[name].fields, move)}

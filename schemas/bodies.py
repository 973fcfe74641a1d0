"""Commands as marshmallow schemas, made from the same table as the fast loader; they describe and double-check it."""

from functools import cache
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from engine.games.voleny.rules import PRESETS
from engine.notation import CODES
from schemas.games.voleny_rules import RATES, RULES
from schemas.moves import MOVES, Shape
from schemas.table_commands import CODE_CHARACTERS_MAX, HASH
from schemas.values import Value

SEATS = (0, 1, 2)


class StrictBoolean(fields.Boolean):
    """true or false, and nothing that only looks like it."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if value is True or value is False:
            return value is True
        raise self.make_error("invalid", input=value)


def seat(**more: Any) -> fields.Integer:
    """A seat."""
    return fields.Integer(strict=True, validate=validate.OneOf(SEATS), **more)


def whole(low: int, high: int, **more: Any) -> fields.Integer:
    """A whole number within bounds; 5.0, "5" and true are none."""
    return fields.Integer(strict=True, validate=validate.Range(low, high), **more)


def all_different(values: list[object]) -> None:
    """Refuse a list that repeats an item."""
    if len(set(values)) < len(values):
        raise ValidationError("Repeats an item.")


def join_code() -> fields.String:
    """The code of a private table."""
    return fields.String(
        validate=validate.Length(1, CODE_CHARACTERS_MAX), metadata={"description": "The join code of a private table."}
    )


@cache
def command_bodies() -> dict[str, type[Schema]]:
    """The schema of each command by its `type`: moves of the game, then what players ask of the table."""
    moves = {name: _move(name, shape) for name, shape in MOVES.items()}
    return moves | {"sit": _Sit, "ready": _Ready, "reveal": _Reveal, "leave": _Leave}


@cache
def rules_body() -> type[Schema]:
    """The schema of the rules of a table: a preset and any overrides."""
    rates: dict[str, Any] = {name: _field(value, required=False) for name, value in RATES.items()}
    rules: dict[str, Any] = {name: _field(value, required=False) for name, value in RULES.items()}
    rules["preset"] = fields.String(validate=validate.OneOf(list(PRESETS)))
    rules["rates"] = fields.Nested(type("Rates", (Schema,), rates))
    return type("Rules", (Schema,), rules)


def _type(name: str) -> fields.String:
    return fields.String(required=True, validate=validate.Equal(name), metadata={"enum": [name]})


def _hash(description: str, **more: Any) -> fields.String:
    form = [validate.Length(equal=64), validate.Regexp(f"^{HASH.pattern}$")]
    return fields.String(validate=form, metadata={"description": description}, **more)


class _Sit(Schema):
    """Take a seat."""

    type = _type("sit")
    seat = seat(metadata={"description": "Left out: the lowest free one."})
    code = join_code()


class _Ready(Schema):
    """Be ready for the next deal. Who wants to shuffle along commits to a nonce, and is asked to `reveal` it."""

    type = _type("ready")
    nonce_commitment = _hash("SHA-256 of `marias fairness 1 nonce` and the 32 bytes of the nonce.")


class _Reveal(Schema):
    """Reveal the nonce that was committed to, when `fairness.awaiting` of the view names your seat."""

    type = _type("reveal")
    nonce = _hash("The 32 bytes of the nonce.", required=True)
    next_commitment = _hash("A commitment for the deal after this one, for tables with `auto_ready`.")


class _Leave(Schema):
    """Give the seat up; in a deal a bot plays its cards on."""

    type = _type("leave")


def _move(name: str, shape: Shape) -> type[Schema]:
    made: dict[str, Any] = {"type": _type(name)}
    made |= {each.name: _field(each.value, required=each.required) for each in shape.fields}
    if shape.exactly_one:
        made["exactly_one"] = validates_schema(_exactly_one)
    return type(shape.command.__name__, (Schema,), made)


def _exactly_one(schema: Schema, body: dict[str, Any], **_: object) -> None:
    if len(body) != 2:
        raise ValidationError(f"Give exactly one of {', '.join(name for name in schema.fields if name != 'type')}.")


def _field(value: Value, *, required: bool) -> fields.Field[Any]:
    options = value.options
    match value.name:
        case "card":
            return fields.String(required=required, validate=validate.OneOf(CODES))
        case "cards":
            size = validate.Length(equal=int(options[0]))
            return _items(fields.String(validate=validate.OneOf(CODES)), size, required=required)
        case "words":
            return _items(fields.String(validate=validate.OneOf(options)), required=required)
        case "choice":
            return fields.String(required=required, validate=validate.OneOf(options))
        case "whole":
            return whole(int(options[0]), int(options[1]), required=required)
        case "flag":
            return StrictBoolean(required=required)
        case _:
            raise AssertionError(f"a kind of value that no body knows: {value.name}")


def _items(each: fields.Field[Any], *more: Any, required: bool) -> fields.List[Any]:
    return fields.List(each, required=required, validate=[all_different, *more], metadata={"uniqueItems": True})

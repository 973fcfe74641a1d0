"""The small values that messages are made of: how each is read from JSON, strictly, and written to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.notation import CARD, CODES
from schemas.errors import Malformed


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A kind of value. `read` raises ValueError with a message; `name` and `options` describe it to other schemas."""

    name: str
    read: Callable[[object], object]
    write: Callable[[object], object]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field `name` of a message that holds `attribute` of a value; one that is not required may be absent."""

    name: str
    attribute: str
    value: Value
    required: bool = True


def field(name: str, value: Value, *, attribute: str = "", required: bool = True) -> Field:
    """A field; its attribute has the same name unless told."""
    return Field(name=name, attribute=attribute or name, value=value, required=required)


def read_fields(fields: Iterable[Field], body: dict[str, object], *, beside: tuple[str, ...] = ()) -> dict[str, object]:
    """The values of `body` by attribute. Raises Malformed for missing and unknown fields and wrong values.

    `beside` are fields that are in `body` and were read already.
    """
    values: dict[str, object] = {}
    for each in fields:
        name = each.name
        if name in body:
            try:
                values[each.attribute] = each.value.read(body[name])
            except ValueError as error:
                raise Malformed(name, str(error)) from None
        elif each.required:
            raise Malformed(name, "Missing data for required field.")
    if len(values) + len(beside) != len(body):
        known = {*beside, *(each.name for each in fields)}
        raise Malformed(min(name for name in body if name not in known), "Unknown field.")
    return values


def write_fields(fields: Iterable[Field], value: object) -> dict[str, object]:
    """The fields of `value`; what is None is absent."""
    written = {}
    for each in fields:
        if (held := getattr(value, each.attribute)) is not None:
            written[each.name] = each.value.write(held)
    return written


def read_card(value: object) -> int:
    """A card from its code."""
    card = CARD.get(value) if isinstance(value, str) else None
    if card is None:
        raise ValueError("Not a card.")
    return card


def whole(low: int, high: int) -> Value:
    """A whole number within bounds; true, 5.0 and "5" are none."""

    def read(value: object) -> int:
        if type(value) is not int:
            raise ValueError("Not a valid integer.")
        if not low <= value <= high:
            raise ValueError(f"Must be from {low} to {high}.")
        return value

    return Value(name="whole", read=read, write=_same, options=(str(low), str(high)))


def choice(*options: str) -> Value:
    """One of a few words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in options:
            return value
        raise ValueError(f"Must be one of: {', '.join(options)}.")

    return Value(name="choice", read=read, write=_same, options=options)


def words(*options: str) -> Value:
    """A set of a few words, written in the order of `options`."""

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError("Not a valid list.")
        if any(not isinstance(word, str) or word not in options for word in value):
            raise ValueError(f"May hold: {', '.join(options)}.")
        if len(set(value)) < len(value):
            raise ValueError("Repeats an item.")
        return tuple(sorted(value, key=options.index))

    return Value(name="words", read=read, write=_listed, options=options)


def cards(count: int | None = None) -> Value:
    """Cards in their order, exactly `count` of them if told."""

    def read(value: object) -> tuple[int, ...]:
        if not isinstance(value, list):
            raise ValueError("Not a valid list.")
        if count is not None and len(value) != count:
            raise ValueError(f"Must hold {count} cards.")
        found = tuple(read_card(code) for code in value)
        if len(set(found)) < len(found):
            raise ValueError("Repeats a card.")
        return found

    return Value(name="cards", read=read, write=_codes, options=() if count is None else (str(count),))


def card_set(count: int) -> Value:
    """A set of `count` cards, written in rising order."""
    ordered = cards(count)

    def read(value: object) -> tuple[int, ...]:
        found = ordered.read(value)
        assert isinstance(found, tuple)
        return tuple(sorted(found))

    return Value(name="cards", read=read, write=_codes, options=(str(count),))


def _read_flag(value: object) -> bool:
    if value is True or value is False:
        return value is True
    raise ValueError("Not a valid boolean.")


def _same(value: object) -> object:
    return value


def _listed(value: object) -> list[object]:
    assert isinstance(value, tuple)
    return list(value)


def _code(value: object) -> str:
    assert isinstance(value, int)
    return CODES[value]


def _codes(value: object) -> list[str]:
    assert isinstance(value, tuple)
    return [CODES[card] for card in value]


FLAG = Value(name="flag", read=_read_flag, write=_same)
CARD_CODE = Value(name="card", read=read_card, write=_code)
"""A card by its code."""
SEAT = whole(0, 2)


def dump_facts(facts: dict[str, object]) -> dict[str, object]:
    """The facts of a refusal as JSON; what is a list of cards is told by its name."""
    return {name: _dump_fact(name, fact) for name, fact in facts.items()}


def _dump_fact(name: str, fact: object) -> object:
    if not isinstance(fact, tuple):
        return fact
    return _codes(fact) if name in CARD_FACTS else list(fact)


CARD_FACTS = ("cards", "legal")
"""The facts of refusals that are cards."""

"""The shape of stored values: which fields of which types they are made of, whatever the code around them does."""

import dataclasses
import enum
import hashlib
import types
import typing
from collections.abc import Iterator

import msgspec


def digest_of(*parts: object) -> str:
    """Twelve hex digits that change whenever the shape of one of `parts` does; text stands for itself.

    >>> digest_of(tuple[int, ...]) == digest_of(tuple[int, ...]) != digest_of(tuple[int, str])
    True
    """
    return hashlib.blake2b("\n".join(map(describe, parts)).encode(), digest_size=6).hexdigest()


def describe(kind: object) -> str:
    """The type in words, each record in it spelt out once: names of fields and their types, in order.

    >>> describe(int | None), describe(typing.Literal["hra", "betl"])
    ('Union[int,None]', "Literal['hra','betl']")
    """
    known: dict[str, str] = {}
    head = _word(kind, known)
    return " ".join([head, *(f"{name}({fields})" for name, fields in sorted(known.items()))])


def _word(kind: object, known: dict[str, str]) -> str:
    if isinstance(kind, str):
        return repr(kind)
    if kind is type(None) or kind is None:
        return "None"
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return f"Literal[{','.join(map(repr, arguments))}]"
    if origin is not None:
        name = "Union" if origin in (typing.Union, types.UnionType) else origin.__name__
        return f"{name}[{','.join(_word(each, known) for each in arguments)}]"
    if kind is Ellipsis:
        return "..."
    if not isinstance(kind, type):
        return str(kind)
    if kind.__name__ not in known and (fields := list(_fields(kind))):
        known[kind.__name__] = ""  # It may hold itself.
        known[kind.__name__] = ",".join(f"{name}:{_word(each, known)}" for name, each in fields)
    return kind.__name__


def _fields(kind: type) -> Iterator[tuple[str, object]]:
    """The stored fields of a record with their types; none for a plain type."""
    if issubclass(kind, enum.Enum):
        yield from ((name, repr(member.value)) for name, member in kind.__members__.items())
    elif issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        yield from ((name, hints[name]) for name in kind.__struct_fields__)
    elif dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        yield from ((each.name, hints[each.name]) for each in dataclasses.fields(kind))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind)
        yield from ((name, hints[name]) for name in kind._fields)

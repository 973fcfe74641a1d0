"""JSON text from outside, read strictly: what RFC 8259 leaves open is refused here."""

import json
from collections.abc import Iterable

from schemas.errors import Malformed

DEPTH_MAX = 16


def read_json(text: bytes, *, any_depth: bool = False) -> object:
    """The value of UTF-8 JSON text. Raises Malformed for anything another reader might understand otherwise.

    Refused are NaN and Infinity, names that are repeated in an object, half surrogate pairs and deep nesting;
    `any_depth` leaves the depth to a caller who looks at every level.
    """
    try:
        value = _DECODER.decode(text.decode())
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise Malformed("", _TOO_DEEP) from None
    except UnicodeError:
        raise Malformed("", "Not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Malformed("", f"Not JSON: {error.msg}, line {error.lineno}, column {error.colno}.") from None
    except ValueError as error:
        raise Malformed("", f"Not JSON: {error}.") from None
    if not any_depth and text.count(b"{") + text.count(b"[") > DEPTH_MAX and _is_deep([value]):
        raise Malformed("", _TOO_DEEP)
    return value


_TOO_DEEP = f"Nested deeper than {DEPTH_MAX}."


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(members)
    if len(made) != len(members):
        raise ValueError("a name is repeated in an object")
    return made


def _constant(name: str) -> object:
    raise ValueError(f"{name} is not a number of JSON")


def _is_deep(level: list[object]) -> bool:
    for _ in range(DEPTH_MAX):
        level = [child for value in level for child in _children(value) if isinstance(child, dict | list)]
    return bool(level)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)

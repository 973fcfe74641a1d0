"""Commands that players send to a table, read strictly and written in one canonical form."""

import re
from collections.abc import Callable

from schemas.errors import Malformed
from schemas.moves import MOVES, dump_move, load_move

Body = dict[str, object]

CODE_CHARACTERS_MAX = 32
HASH = re.compile(r"[0-9a-f]{64}")
"""A hash or a nonce: 32 bytes as hexadecimal digits, in small letters."""


def canonical_command(value: object) -> Body:
    """The command that `value` means: two bodies mean the same if these are equal. Raises Malformed.

    >>> canonical_command({"type": "flek", "raise": ["sedma", "hra"]})
    {'type': 'flek', 'raise': ['hra', 'sedma'], 'announce': []}
    """
    if not isinstance(value, dict):
        raise Malformed("", "Must be an object.")
    kind = value.get("type")
    if not isinstance(kind, str):
        raise Malformed("type", "Must be text." if "type" in value else "Missing.")
    if kind in MOVES:
        return dump_move(load_move(0, value))
    if kind not in _TABLE_COMMANDS:
        raise Malformed("type", f"Must be one of {', '.join((*MOVES, *_TABLE_COMMANDS))}.")
    return _TABLE_COMMANDS[kind](value)


def _sit(value: Body) -> Body:
    _only(value, "type", "seat", "code")
    if "seat" in value and (type(value["seat"]) is not int or value["seat"] not in (0, 1, 2)):
        raise Malformed("seat", "Must be 0, 1 or 2.")
    code = value.get("code", "x")
    if not isinstance(code, str) or not 0 < len(code) <= CODE_CHARACTERS_MAX:
        raise Malformed("code", f"Must be text of 1 to {CODE_CHARACTERS_MAX} characters.")
    return dict(value)


def _ready(value: Body) -> Body:
    _only(value, "type", "nonce_commitment")
    _hashes(value, "nonce_commitment")
    return dict(value)


def _reveal(value: Body) -> Body:
    _only(value, "type", "nonce", "next_commitment")
    if "nonce" not in value:
        raise Malformed("nonce", "Missing data for required field.")
    _hashes(value, "nonce", "next_commitment")
    return dict(value)


def _hashes(value: Body, *names: str) -> None:
    for name in names:
        found = value.get(name, "0" * 64)
        if not isinstance(found, str) or not HASH.fullmatch(found):
            raise Malformed(name, "Must be 64 hexadecimal digits, in small letters.")


def _bare(value: Body) -> Body:
    _only(value, "type")
    return dict(value)


def _only(value: Body, *names: str) -> None:
    for name in value:
        if name not in names:
            raise Malformed(name, "Unknown field.")


_TABLE_COMMANDS: dict[str, Callable[[Body], Body]] = {
    "sit": _sit, "ready": _ready, "reveal": _reveal, "leave": _bare,
}

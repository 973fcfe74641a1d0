"""What a client says over its socket (contract §3a), read strictly; nothing here knows a connection."""

import re
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from schemas.errors import Malformed
from schemas.json_text import read_json
from schemas.table_commands import canonical_command

Body = dict[str, Any]

REMEMBERED_MAX = 4096
REMEMBERED_BYTES_MAX = 128

_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
# A command as nearly every client spells it. A command itself has no objects in it, so its text ends at the brace.
_USUAL = re.compile(rb'\{"id": ?"([A-Za-z0-9_-]{1,64})", ?"command": ?(\{[^{}]*\})\}')


class Command(NamedTuple):
    """A command under the client's own `key`, its body in canonical form."""

    key: str
    body: Body
    if_version: int | None


class Resume(NamedTuple):
    """Send everything after `version`."""

    version: int


class Token(NamedTuple):
    """Who the client is."""

    text: str


class Sign(NamedTuple):
    """A sign of life that needs no answer."""


Said: TypeAlias = Command | Resume | Token | Sign


class NotUnderstood(Exception):
    """A message of the wrong form. `key` is the id of the command that was meant, where that can be told."""

    def __init__(self, field: str, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.field = field or "message"
        self.message = message
        self.key = key


def read(text: bytes) -> Said:
    """The message that `text` is. Raises NotUnderstood."""
    usual = _USUAL.fullmatch(text)
    if usual is not None and len(usual[2]) <= REMEMBERED_BYTES_MAX:
        body = _usual_body(usual[2])
        if body is not None:
            return Command(usual[1].decode(), body, None)
    try:
        message = read_json(text)
    except Malformed as error:
        raise NotUnderstood(error.field, error.message, usual[1].decode() if usual else None) from None
    if not isinstance(message, dict):
        raise NotUnderstood("", "Must be an object.")
    key = message.get("id")
    try:
        return _read(message)
    except Malformed as error:
        named = isinstance(key, str) and _KEY.fullmatch(key) is not None
        raise NotUnderstood(error.field, error.message, key if named else None) from None


@lru_cache(maxsize=REMEMBERED_MAX)
def _usual_body(text: bytes) -> Body | None:
    """The canonical form of a command's text: the same few are sent all the time. None: it must be looked at closely.

    The body is shared by all who send this text, and changed by none.
    """
    try:
        return canonical_command(read_json(text))
    except Malformed:
        return None


def _read(message: Body) -> Said:
    if "command" in message:
        return _command(message)
    if "resume" in message:
        return Resume(_version(message, "resume"))
    if "token" in message:
        token = message["token"]
        return Token(token if isinstance(token, str) else "")
    if "pong" in message:
        return Sign()
    raise Malformed("", "Send a `command` or `resume`.")


def _command(message: Body) -> Command:
    for name in message:
        if name not in ("id", "command", "if_version"):
            raise Malformed(name, "Unknown field.")
    key = message.get("id")
    if not isinstance(key, str) or _KEY.fullmatch(key) is None:
        raise Malformed("id", "Must be 1 to 64 of A-Z a-z 0-9 _ -.")
    if_version = None if message.get("if_version") is None else _version(message, "if_version")
    try:
        return Command(key, canonical_command(message["command"]), if_version)
    except Malformed as error:
        raise Malformed(f"command.{error.field}" if error.field else "command", error.message) from None


def _version(message: Body, name: str) -> int:
    version = message[name]
    if type(version) is not int or version < 0:
        raise Malformed(name, "Must be a version: a whole number from 0.")
    return version

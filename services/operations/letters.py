"""Dead letters: commands that were given up, told without cards, and how each of them was ended."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from redis import Redis

from services.store import keys
from services.store.wire import Fields, ask, ask_all, fields_of

LISTED_MAX = 1_000
"""So many of each partition are listed, the newest first."""

_NAME = re.compile(r"([0-9a-f]{2})-([0-9]{1,15}-[0-9]{1,10})")
_CARD = re.compile(r"(?<![A-Za-z0-9])[789TJQKA][hdcs](?![A-Za-z0-9])")
_decode = msgspec.json.decode


class Letter(NamedTuple):
    """A command that was given up. `name` is `<partition>-<id of the letter>`, `command` where it stood in its
    partition, `body` its JSON, `error` the traceback. `body` and `error` are for machines: they may name cards."""

    name: str
    command: str
    table: str
    sender: str
    sender_name: str
    key: str
    body: bytes
    error: str
    if_version: int | None

    @property
    def at(self) -> int:
        """When it was given up, ms since the epoch."""
        return int(self.name.split("-")[1])

    @property
    def kind(self) -> str:
        """What the command wanted to do; "" where its body is no command."""
        return str(shown_body(self.body).get("type", ""))

    def row(self) -> dict[str, Any]:
        """One line of a list."""
        lines = self.error.splitlines() or [""]
        return {
            "id": self.name, "at": self.at, "table": self.table, "sender": self.sender, "key": self.key,
            "type": self.kind, "error": without_cards(lines[-1]),
        }

    def page(self) -> dict[str, Any]:
        """Everything but cards."""
        return self.row() | {
            "command": self.command, "sender_name": self.sender_name, "if_version": self.if_version,
            "body": shown_body(self.body), "traceback": without_cards(self.error),
        }


class NoLetter(Exception):
    """There is no such dead letter: its name is misspelt, or it was ended and another one has taken its place."""


def partition_and_id(name: str) -> tuple[str, str]:
    """The two parts of a letter's name. Raises NoLetter when it is none."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise NoLetter(f"{name!r} is no dead letter's id, which look like 1f-1764482400000-0")
    return found[1], found[2]


def letters(redis: Redis, partitions: Sequence[str], count: int = LISTED_MAX) -> list[Letter]:
    """The dead letters of all `partitions`, the newest first, at most `count` of each."""
    replies = ask_all(redis, [("XREVRANGE", keys.dead(each), "+", "-", "COUNT", count) for each in partitions])
    found = [
        _letter(partition, id_.decode(), fields_of(flat))
        for partition, entries in zip(partitions, replies, strict=True) for id_, flat in entries
    ]
    return sorted(found, key=lambda letter: [int(part) for part in letter.name.split("-")[1:]], reverse=True)


def letter(redis: Redis, name: str) -> Letter:
    """The dead letter of this name. Raises NoLetter."""
    partition, id_ = partition_and_id(name)
    entries = ask(redis, "XRANGE", keys.dead(partition), id_, id_)
    if not entries:
        raise NoLetter(f"There is no dead letter {name}")
    return _letter(partition, id_, fields_of(entries[0][1]))


def ended(redis: Redis, name: str) -> dict[str, Any] | None:
    """How the letter was ended, or began to be: `did`, `at` (ms), `who`, and `why` or `outcome`; None: not at all."""
    partition, id_ = partition_and_id(name)
    found = ask(redis, "HGET", keys.ended(partition), id_)
    return None if found is None else dict(_decode(found))


def shown_body(body: bytes) -> dict[str, Any]:
    """What a command is about: its type and the names of its fields. Their values may be cards."""
    try:
        given = _decode(body)
    except msgspec.DecodeError:
        return {}
    if not isinstance(given, dict):
        return {}
    return {str(name): str(value) if name == "type" else "…" for name, value in given.items()}


def without_cards(text: str) -> str:
    """`text` with `??` for each card."""
    return _CARD.sub("??", text)


def _letter(partition: str, id_: str, fields: Fields) -> Letter:
    text = {name: fields.get(name, b"").decode(errors="replace") for name in (b"id", b"t", b"a", b"n", b"k", b"error")}
    version = fields.get(b"v")
    return Letter(
        f"{partition}-{id_}", text[b"id"], text[b"t"], text[b"a"], text[b"n"], text[b"k"], fields.get(b"b", b""),
        text[b"error"], None if version is None else int(version),
    )

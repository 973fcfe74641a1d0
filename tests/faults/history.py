"""What the clients of a run did and saw: one line for each command, and one for each version that was pushed."""

import json
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

Outcome = Literal["ok", "refused", "unknown"]


class Operation(NamedTuple):
    """A command under one key, however often it was sent.

    `invoked` and `answered` are seconds of a clock that never goes back; `answered` is None for an unknown outcome.
    `version` is that of an ok, `code` that of a refusal. `deliveries` counts how often it was sent, `answers` are the
    different final answers that were heard: more than one is a fault.
    """

    table: str
    actor: str
    key: str
    body: dict[str, Any]
    invoked: float
    answered: float | None
    outcome: Outcome
    version: int | None = None
    code: str | None = None
    deliveries: int = 1
    answers: tuple[str, ...] = ()


class Pushed(NamedTuple):
    """A version that was pushed to `actor`: the JSON `text` of the message as it came, on which connection, which asked
    for all after version `resumed`."""

    table: str
    actor: str
    version: int
    text: bytes
    connection: int = 0
    resumed: int | None = None


class History:
    """Filled by many threads at once; `operations` and `pushed` are in the order in which they ended."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.pushed: list[Pushed] = []
        self._connections = 0
        self._lock = Lock()

    def add(self, operation: Operation) -> None:
        """A command has its outcome, or will never have one."""
        self.operations.append(operation)  # One step of the interpreter: no lock is needed.

    def push(self, pushed: Pushed) -> None:
        """A version has come."""
        self.pushed.append(pushed)

    def new_connection(self) -> int:
        """A number that no connection had before."""
        with self._lock:
            self._connections += 1
            return self._connections

    def write(self, path: Path) -> None:
        """Keep it for who looks into a violation, one JSON document a line."""
        lines = (*map(_line, self.operations), *map(_line, self.pushed))
        path.write_text("".join(lines), encoding="utf-8")


def outcomes(operations: Iterable[Operation]) -> dict[str, int]:
    """How many commands ended in which way."""
    counts = {"ok": 0, "refused": 0, "unknown": 0}
    for operation in operations:
        counts[operation.outcome] += 1
    return counts


def _line(row: Operation | Pushed) -> str:
    fields = row._asdict()
    if isinstance(row, Pushed):
        fields["text"] = row.text.decode(errors="replace")
    return json.dumps(fields) + "\n"

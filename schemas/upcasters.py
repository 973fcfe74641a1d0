"""Events of earlier versions, brought step by step to the present one; rows are added, never changed."""

from collections.abc import Callable, Mapping
from typing import Final

Stored = dict[str, object]

UPCASTERS: Final[Mapping[tuple[str, int], Callable[[Stored], Stored]]] = {}
"""From (type, version) to what makes the next version of it."""


def version_of(kind: str) -> int:
    """The version that is written now: 1, and one more for each upcaster of the type."""
    return 1 + sum(1 for name, _ in UPCASTERS if name == kind)


def upcast(stored: Stored) -> Stored:
    """The event as its present version would have been written. `v` is absent from version 1."""
    kind, version = stored["type"], stored.get("v", 1)
    assert isinstance(kind, str)
    assert isinstance(version, int)
    while step := UPCASTERS.get((kind, version)):
        version += 1
        stored = step(stored) | {"v": version}
    return stored

"""What this process may not read is asked of one that may, with the token of the caller."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import request

from services.api.auth import SCHEME, caller
from services.api.backend import backend
from services.api.problems import Problem
from services.store.asking import NotAnswered, Question

AT_ONCE_MAX = 8
"""So many questions of one caller may be on their way: each holds a connection to the store until it is answered."""

_asking: Counter[str] = Counter()
_lock = threading.Lock()


def asked(kind: str, table: str = "", deal: int = 0, **more: Any) -> bytes | None:
    """The document that answers the caller's question; None: there is no such record. Raises Problem.

    `more` are further fields of a Question.
    """
    token = request.environ.get("HTTP_AUTHORIZATION", "")[len(SCHEME) :].strip()
    try:
        with turn(caller().id):
            return backend().confide(Question(kind, token, table, deal, **more))
    except NotAnswered as refusal:
        if refusal.code == "not_found":
            return None
        raise Problem(refusal.code) from None


@contextmanager
def turn(who: str) -> Iterator[None]:
    """While a question of `who` is on its way. Raises Problem `rate_limited` when too many are."""
    with _lock:
        if _asking[who] >= AT_ONCE_MAX:
            raise Problem("rate_limited", "Too many questions of yours wait to be answered.")
        _asking[who] += 1
    try:
        yield
    finally:
        with _lock:
            _asking[who] -= 1
            if not _asking[who]:
                del _asking[who]

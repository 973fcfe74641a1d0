"""What this process may not read is asked of one that may, with the token of the caller."""

from typing import Any

from flask import request

from services.api.auth import SCHEME
from services.api.backend import backend
from services.api.problems import Problem
from services.store.asking import NotAnswered, Question


def asked(kind: str, table: str = "", deal: int = 0, **more: Any) -> bytes | None:
    """The document that answers the caller's question; None: there is no such record. Raises Problem.

    `more` are further fields of a Question.
    """
    token = request.environ.get("HTTP_AUTHORIZATION", "")[len(SCHEME) :].strip()
    try:
        return backend().confide(Question(kind, token, table, deal, **more))
    except NotAnswered as refusal:
        if refusal.code == "not_found":
            return None
        raise Problem(refusal.code) from None

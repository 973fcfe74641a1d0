"""Who answers for what only auditors and operators may know, so that no process which serves clients can read it.

It trusts nobody but the signature of the token that comes with a question: not even the API that passes it on.
"""

import logging
import time
from collections.abc import Callable, Sequence

import msgspec
from redis import Redis

from services.operations.letters import letters
from services.store import keys, projected
from services.store.asking import QUESTIONS, NotAnswered, Question, heard, tell
from services.store.channels import Ears
from services.store.wire import StoreUnavailable
from services.tokens import KeyRing, TokenRefused

DEAD_LETTERS_MAX = 100
WAIT_SECONDS = 0.5
PAUSE_SECONDS = 0.1
MAY_ASK = {"record": ("auditor",), "dead_letters": ("auditor", "operator")}
"""Which roles each question is answered to."""

_log = logging.getLogger(__name__)


def answer(redis: Redis, ring: KeyRing, partitions: Sequence[str], question: Question) -> bytes:
    """The document (JSON) that `question` asks for. Raises NotAnswered, StoreUnavailable."""
    try:
        principal = ring.verify(question.token)
    except TokenRefused:
        raise NotAnswered("unauthenticated") from None
    if principal.role not in MAY_ASK.get(question.kind, ()):
        raise NotAnswered("forbidden")
    if question.kind == "dead_letters":
        found = letters(redis, partitions, DEAD_LETTERS_MAX)
        return msgspec.json.encode({"dead_letters": [letter.row() for letter in found[:DEAD_LETTERS_MAX]]})
    record = projected.whole_record(redis, question.table, question.deal) if keys.is_table_id(question.table) else None
    if record is None:
        raise NotAnswered("not_found")
    return record


class Clerk:
    """Answers questions one after the other, over a connection that may read sealed records."""

    def __init__(self, redis: Redis, ring: KeyRing, partitions: Sequence[str]) -> None:
        self._redis = redis
        self._ring = ring
        self._partitions = partitions
        self._ears = Ears(redis)

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Answer until told to stop; a store that is away is waited for."""
        while not should_stop():
            try:
                self.turn(WAIT_SECONDS)
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                time.sleep(PAUSE_SECONDS)
        self._ears.close()

    def turn(self, seconds_max: float) -> None:
        """Answer what has been asked; waits up to `seconds_max` for a question. Raises StoreUnavailable."""
        if not self._ears.listening:
            self._ears.listen([QUESTIONS])
        for message in self._ears.hear(seconds_max):
            question = heard(message.data)
            if question is not None:
                self._tell(question)

    def _tell(self, question: Question) -> None:
        try:
            tell(self._redis, question, answer(self._redis, self._ring, self._partitions, question))
        except NotAnswered as refusal:
            tell(self._redis, question, None, refusal.code)
        except StoreUnavailable:
            raise
        except Exception:  # One question must not silence the answers to the others.
            _log.exception("a question about %s was not answered", question.kind)
            tell(self._redis, question, None, "unavailable")

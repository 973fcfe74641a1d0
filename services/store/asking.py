"""Questions to whoever may read what only auditors and operators may know. They pass over channels: nothing is kept.

A question names a nonce, and its answer comes on a channel of that name: `+` and a document, or `-` and a code.
"""

import secrets
import time

import msgspec
from redis import Redis

from services.store.channels import Ears, publish
from services.store.wire import StoreUnavailable, ask

ANSWER_SECONDS_MAX = 3.0
QUESTIONS = "m:{records}:ask"
"""Channel of the questions."""


def answers(nonce: str) -> str:
    """Channel of the answer to the question with this nonce."""
    return f"m:{{records}}:to:{nonce}"


class Question(msgspec.Struct, frozen=True):
    """What the holder of `token` wants to know: `record`, `replay` or `proof` of a deal at a table, what a `version`
    of one did, the `bank` of at most `limit` deals after `deal`, or `dead_letters`; or that a `head` of the log of
    finished deals be signed now.

    Of record and replay: with the eyes of which `seat` ("": whatever shows most); in which language it is told
    ("": in none, as the pages have sentences of their own); `code` of a private table.
    """

    kind: str
    token: str
    table: str = ""
    deal: int = 0
    seat: str = ""
    language: str = "en"
    code: str = ""
    version: int = 0
    limit: int = 0
    nonce: str = ""


class NotAnswered(Exception):
    """The question was refused, for the reason `code`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


_decode = msgspec.json.Decoder(Question).decode


def ask_records(redis: Redis, question: Question, seconds_max: float = ANSWER_SECONDS_MAX) -> bytes:
    """The document (JSON) that answers `question`. Raises NotAnswered, and StoreUnavailable when nobody answers."""
    nonce = secrets.token_hex(16)
    ears = Ears(redis)
    try:
        ears.listen([answers(nonce)])
        asked = msgspec.json.encode(msgspec.structs.replace(question, nonce=nonce))
        ask(redis, *publish(redis, QUESTIONS, asked))
        end = time.monotonic() + seconds_max
        while (left := end - time.monotonic()) > 0:
            for message in ears.hear(left):
                return _answered(message.data)
    finally:
        ears.close()
    raise StoreUnavailable("nobody answers who may read the records")


def heard(message: bytes) -> Question | None:
    """The question in a message; None when it is none."""
    try:
        return _decode(message)
    except msgspec.MsgspecError:
        return None


def tell(redis: Redis, question: Question, document: bytes | None, code: str = "") -> None:
    """Answer a question with a document, or with the code of a refusal."""
    said = b"-" + code.encode() if document is None else b"+" + document
    ask(redis, *publish(redis, answers(question.nonce), said))


def _answered(message: bytes) -> bytes:
    if message[:1] == b"+":
        return message[1:]
    raise NotAnswered(message[1:].decode())

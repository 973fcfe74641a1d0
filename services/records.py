"""Who answers for what those who serve clients may not read: sealed records, dead letters, events, the archive.

It trusts nobody but the signature of the token that comes with a question: not even the API that passes it on.
"""

import hmac
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, Queue
from typing import NamedTuple

import msgspec
from redis import Redis

from schemas.proofs import proof_of
from services.operations.letters import letters
from services.replay import past, served
from services.replay.moments import AUDITOR, Eye, Happened
from services.replay.words import LANGUAGES
from services.store import history, keys, projected, views
from services.store.asking import ANSWER_SECONDS_MAX, QUESTIONS, NotAnswered, Question, heard, tell
from services.store.channels import Ears
from services.store.wire import StoreUnavailable
from services.tokens import KeyRing, Principal, TokenRefused

DEAD_LETTERS_MAX = 100
BANK_MAX = 500
"""Deals on a page of a bank."""
WAIT_SECONDS = 0.5
PAUSE_SECONDS = 0.1
SLOW_MAX = 64
"""Questions of the slow kind that may wait."""
SLOW_OF_ONE_MAX = 4
"""So many of them may be those of one who asks."""

_log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """A question by somebody whose token is good."""

    redis: Redis
    partitions: Sequence[str]
    principal: Principal
    question: Question
    sign: Callable[[], object]


def answer(
    redis: Redis, ring: KeyRing, partitions: Sequence[str], question: Question,
    sign: Callable[[], object] = lambda: None,
) -> bytes:
    """The document (JSON) that `question` asks for. Raises NotAnswered, StoreUnavailable.

    `sign` signs a head of the log of finished deals if it has grown, and keeps it in the store.
    """
    try:
        principal = ring.verify(question.token)
    except TokenRefused:
        raise NotAnswered("unauthenticated") from None
    kind = KINDS.get(question.kind)
    if kind is None or principal.role not in kind.roles:
        raise NotAnswered("forbidden")
    return kind.answer(Asked(redis, partitions, principal, question, sign))


def _dead_letters(asked: Asked) -> bytes:
    found = letters(asked.redis, asked.partitions, DEAD_LETTERS_MAX)
    return msgspec.json.encode({"dead_letters": [letter.row() for letter in found[:DEAD_LETTERS_MAX]]})


def _record(asked: Asked) -> bytes:
    table, number, seat = asked.question.table, asked.question.deal, asked.question.seat
    if seat not in served.SEAT_WORDS:
        raise NotAnswered("malformed")
    if not seat and asked.principal.role != "auditor":
        return _own_record(asked)
    eye = _deal(asked).eye if seat else AUDITOR
    record = projected.whole_record(asked.redis, table, number) if keys.is_table_id(table) else None
    if record is None:
        raise NotAnswered("not_found")
    return record if eye == AUDITOR else served.record_seen(record, seat)


def _own_record(asked: Asked) -> bytes:
    """What whoever asks may know of a deal; of one that is still in the store the API reads that itself."""
    _admit(asked)
    record = projected.record(asked.redis, asked.question.table, asked.question.deal, asked.principal.id)
    if record is None:
        raise NotAnswered("not_found")
    return record


def _bank(asked: Asked) -> bytes:
    """A page of the bank of a table: some of its deals have left the store."""
    _admit(asked)
    table, after, limit = asked.question.table, asked.question.deal, asked.question.limit
    if after < 0 or not 0 < limit <= BANK_MAX:
        raise NotAnswered("malformed")
    return msgspec.json.encode(projected.page(asked.redis, table, after, limit))


def _head(asked: Asked) -> bytes:
    asked.sign()
    return b"{}"  # It is in the store, for all to read.


def _replay(asked: Asked) -> bytes:
    question = asked.question
    if question.seat not in served.SEAT_WORDS or question.language not in ("", *LANGUAGES):
        raise NotAnswered("malformed")
    told, eye, seat = _deal(asked)
    return served.document(question.table, told, eye, seat, question.language)


def _version(asked: Asked) -> bytes:
    _admit(asked)
    table, version = asked.question.table, asked.question.version
    if not 0 < version <= history.last_version(asked.redis, table):
        raise NotAnswered("not_found")
    [entry] = history.entries_between(asked.redis, table, version, version)
    return served.version(table, entry, AUDITOR if asked.principal.role == "auditor" else None)


class _Deal(NamedTuple):
    """What happened in a deal, and with whose eyes it may be seen: those of a seat, if of one."""

    told: list[Happened]
    eye: Eye
    seat: int | None


def _deal(asked: Asked) -> _Deal:
    """The deal that is asked for, if whoever asks may see it with such eyes."""
    question, principal = asked.question, asked.principal
    _admit(asked)
    try:
        told = past.deal(asked.redis, question.table, question.deal)
        return _Deal(told, *served.eyes(question.seat, principal.role, principal.id, served.holders(told)))
    except served.NotYours:
        raise NotAnswered("forbidden") from None
    except LookupError:
        raise NotAnswered("not_found") from None
    except past.TooLong:
        raise NotAnswered("deal_too_long") from None


def _proof(asked: Asked) -> bytes:
    """What this principal may have of it: a player that of the seat he held, auditors all."""
    told, eye, seat = _deal(asked)
    proof = proof_of((event for each in told for event in each.events), "auditor" if eye == AUDITOR else seat)
    if proof is None:
        raise NotAnswered("not_found")
    return msgspec.json.encode(proof)


def _admit(asked: Asked) -> None:
    """Refuse whoever may not look at the table: a private one is for those who sit there or know its code."""
    question, principal = asked.question, asked.principal
    current = views.current(asked.redis, question.table) if keys.is_table_id(question.table) else None
    if current is None:
        raise NotAnswered("not_found")
    if not current.code or principal.role == "auditor" or views.seat_in(current, principal.id) is not None:
        return
    if not hmac.compare_digest(question.code.encode(), current.code.encode()):
        raise NotAnswered("code_wrong")


class Kind(NamedTuple):
    """A kind of question: the roles it is answered to, and how; a slow one takes more than a look-up, as does any
    with the eyes of a seat, which are whose the events tell."""

    roles: tuple[str, ...]
    answer: Callable[[Asked], bytes]
    is_slow: bool = False


KINDS: Mapping[str, Kind] = {
    "record": Kind(("auditor", "player"), _record),
    "bank": Kind(("auditor", "player"), _bank, is_slow=True),
    "replay": Kind(("auditor", "player"), _replay, is_slow=True),
    "version": Kind(("auditor", "player"), _version),
    "head": Kind(("auditor", "operator", "player"), _head, is_slow=True),
    "proof": Kind(("auditor", "player"), _proof, is_slow=True),
    "dead_letters": Kind(("auditor", "operator"), _dead_letters),
}


class _Waiting:
    """Slow questions on their way from one thread to the other, in order; none that nobody waits for any more.

    They are counted by who asks, and not by his token: he may have many, as a visitor has one for each page.
    """

    def __init__(self) -> None:
        self._questions: Queue[tuple[float, str, Question]] = Queue()
        self._of: Counter[str] = Counter()
        self._lock = threading.Lock()

    def put(self, asker: str, question: Question) -> str:
        """Let it wait; gives the code of a refusal, else "": who asks for much must not keep all others waiting."""
        with self._lock:
            if self._of[asker] >= SLOW_OF_ONE_MAX:
                return "rate_limited"
            if self._questions.qsize() >= SLOW_MAX:
                return "unavailable"
            self._of[asker] += 1
        self._questions.put((time.monotonic(), asker, question))
        return ""

    def take(self, seconds_max: float) -> Question | None:
        """The next one, if one comes in time."""
        try:
            asked_at, asker, question = self._questions.get(timeout=seconds_max)
        except Empty:
            return None
        with self._lock:
            self._of -= Counter([asker])
        return question if time.monotonic() - asked_at < ANSWER_SECONDS_MAX else None


class Clerk:
    """Answers questions over connections that may read events and sealed records: slow ones in a thread of their own,
    so that they do not delay the others. `stores` are a connection for each of the two."""

    def __init__(
        self, stores: tuple[Redis, Redis], ring: KeyRing, partitions: Sequence[str],
        sign: Callable[[], object] = lambda: None,
    ) -> None:
        self._redis, self._slow_redis = stores
        self._ring = ring
        self._partitions = partitions
        self._sign = sign
        self._ears = Ears(self._redis)
        self._slow = _Waiting()

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Answer until told to stop; a store that is away is waited for."""
        while not should_stop():
            try:
                self.turn(WAIT_SECONDS)
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                time.sleep(PAUSE_SECONDS)
        self._ears.close()

    def run_slow(self, should_stop: Callable[[], bool]) -> None:
        """Answer the slow ones until told to stop."""
        while not should_stop():
            try:
                self.turn_slow(WAIT_SECONDS)
            except StoreUnavailable as error:
                _log.warning("the store is away: %s", error)
                time.sleep(PAUSE_SECONDS)

    def turn(self, seconds_max: float) -> None:
        """Answer what has been asked; waits up to `seconds_max` for a question. Raises StoreUnavailable."""
        if not self._ears.listening:
            self._ears.listen([QUESTIONS])
        for message in self._ears.hear(seconds_max):
            question = heard(message.data)
            if question is None:
                continue
            kind = KINDS.get(question.kind)
            if kind is not None and (kind.is_slow or question.seat):
                self._put_off(question)
            else:
                self._tell(self._redis, question)

    def turn_slow(self, seconds_max: float) -> None:
        """Answer one slow question, unless nobody waits for it any more. Raises StoreUnavailable."""
        question = self._slow.take(seconds_max)
        if question is not None:
            self._tell(self._slow_redis, question)

    def _put_off(self, question: Question) -> None:
        """For the other thread; who is not known need not wait to hear it."""
        try:
            refused = self._slow.put(self._ring.verify(question.token).id, question)
        except TokenRefused:
            refused = "unauthenticated"
        if refused:
            tell(self._redis, question, None, refused)

    def _tell(self, redis: Redis, question: Question) -> None:
        try:
            tell(redis, question, answer(redis, self._ring, self._partitions, question, self._sign))
        except NotAnswered as refusal:
            tell(redis, question, None, refusal.code)
        except StoreUnavailable:
            raise
        except Exception:  # One question must not silence the answers to the others.
            _log.exception("a question about %s was not answered", question.kind)
            tell(redis, question, None, "unavailable")

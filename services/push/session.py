"""A table's WebSocket (contract §3a): commands in, receipts and versions out, on one connection."""

import logging
import re
from typing import Any

import gevent
from gevent.queue import Empty, Full, Queue
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from schemas.errors import Malformed
from schemas.json_text import read_json
from schemas.problems import kind
from schemas.table_commands import canonical_command
from services.intake import Submitted
from services.push.access import Asked, Refused, existing, knows_code, principal_of
from services.push.commands import Receipt, Waiting
from services.push.connection import Connection
from services.push.live import NOT_VIEWED, Subscriber
from services.push.messages import Transport, closing, document
from services.push.service import Service
from services.store.wire import StoreUnavailable
from services.tokens import Principal

MESSAGE_BYTES_MAX = 16_384
TOKEN_SECONDS_MAX = 10.0
FIRST_SECONDS_MAX = 1.0  # So long versions are put aside for a client who may say from where to resume.
EARLY_MESSAGES_MAX = 16
COMMANDS_MAX = 16  # of one socket that wait for their receipts
RETRY = ("unavailable", "rate_limited")  # Not outcomes: the same message may be sent again.

Message = dict[str, Any]

_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_log = logging.getLogger(__name__)
_quiet = logging.getLogger("services.push.websockets")
_quiet.setLevel(logging.ERROR)


class Session:
    """One socket. `principal` is None until the first message has brought a token."""

    def __init__(
        self, service: Service, asked: Asked, transport: Transport, fd: int, principal: Principal | None
    ) -> None:
        self.transport = transport
        self._service = service
        self._asked = asked
        self._principal = principal
        self._protocol = ServerProtocol(state=OPEN, max_size=MESSAGE_BYTES_MAX, logger=_quiet)
        self._parts: bytearray | None = None
        self._early: Queue[Message | None] | None = Queue(EARLY_MESSAGES_MAX)
        self._waiting: dict[str, Waiting] = {}
        self._subscriber: Subscriber | None = None
        self.connection = Connection(fd, self._on_data, self._on_gone)
        service.pulse.add(self)

    # What the client's first messages are about: these wait, in a greenlet of their own.

    def open(self) -> None:
        """Wait for the token and for where to begin, then leave the rest to the event loop."""
        try:
            self._identify()
            self._begin(self._enter())
        except Refused as refusal:
            self._error(refusal.code, str(refusal.document["detail"]))
            self.connection.finish(closing(CloseCode.POLICY_VIOLATION, refusal.code))
        except StoreUnavailable:
            self._error("unavailable", None)
            self.connection.finish(closing(CloseCode.TRY_AGAIN_LATER, "the store does not answer"))

    def _identify(self) -> None:
        if self._principal is None:
            message = self._next(TOKEN_SECONDS_MAX) or {}
            token = message.get("token")
            self._principal = principal_of(self._service.ring, token if isinstance(token, str) else None)

    def _enter(self) -> Subscriber:
        """Become a subscriber that holds, at the version of now."""
        assert self._principal is not None
        current = existing(self._service.reads, self._asked.table)
        allowed = knows_code(current, self._principal, self._asked.code)
        subscriber = Subscriber(
            self.connection, self.transport, self._asked.table, self._principal.id, knows_code=allowed
        )
        subscriber.version = current.version
        if not self.connection.closed:
            self._service.live.join(subscriber)
            self._subscriber = subscriber
        return subscriber

    def _begin(self, subscriber: Subscriber) -> None:
        first = self._next(FIRST_SECONDS_MAX)
        if first is not None:
            self._handle(first)
        if subscriber.turn == 0:  # It was not about where to resume: then it is from now.
            gevent.spawn(self._service.catch_up, subscriber, subscriber.hold())
        early, self._early = self._early, None
        while early is not None and not early.empty():
            self._handle(early.get_nowait() or {})

    def _next(self, seconds: float) -> Message | None:
        assert self._early is not None
        try:
            message: Message | None = self._early.get(timeout=seconds)
        except Empty:
            return None
        return message

    # What the event loop calls: nothing below waits.

    def _on_data(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        for frame in self._protocol.events_received():
            assert isinstance(frame, Frame)
            self._frame(frame)
        for answer in self._protocol.data_to_send():
            if answer:
                self.connection.send(answer)
            else:  # Both sides have said goodbye.
                self.connection.finish()

    def _on_gone(self) -> None:
        if self._early is not None and not self._early.full():
            self._early.put_nowait(None)  # Nobody needs to wait for his first message any more.
        self._service.pulse.remove(self)
        if self._subscriber is not None:
            self._service.live.leave(self._subscriber)
        for waiting in self._waiting.values():
            self._service.commands.forget(waiting)
        self._waiting.clear()

    def _frame(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT if frame.fin:
                self._text(bytes(frame.data))
            case Opcode.TEXT | Opcode.BINARY:
                self._parts = bytearray(frame.data)
                is_text = frame.opcode is Opcode.TEXT
                if frame.fin and not is_text:
                    self._malformed("", "Send text, not bytes.")
            case Opcode.CONT if self._parts is not None:
                self._parts += frame.data
                if frame.fin:
                    whole, self._parts = bytes(self._parts), None
                    self._text(whole)

    def _text(self, text: bytes) -> None:
        try:
            message = read_json(text)
        except Malformed as error:
            self._malformed(error.field, error.message)
            return
        if not isinstance(message, dict):
            self._malformed("", "Must be an object.")
        elif self._early is None:
            self._handle(message)
        else:
            try:
                self._early.put_nowait(message)
            except Full:
                self.connection.finish(closing(CloseCode.POLICY_VIOLATION, "too many messages before the first answer"))

    def _handle(self, message: Message) -> None:
        try:
            if "command" in message:
                self._command(message)
            elif "resume" in message:
                self._resume(message)
            elif "token" not in message and "pong" not in message:
                raise Malformed("", "Send a `command` or `resume`.")
        except Malformed as error:
            self._malformed(error.field, error.message, message)

    def _resume(self, message: Message) -> None:
        version = message["resume"]
        if type(version) is not int or version < 0:
            raise Malformed("resume", "Must be a version: a whole number from 0.")
        subscriber = self._subscriber
        assert subscriber is not None
        turn = subscriber.hold()
        subscriber.version, subscriber.viewed = version, NOT_VIEWED
        gevent.spawn(self._service.catch_up, subscriber, turn)

    def _command(self, message: Message) -> None:
        assert self._principal is not None
        submitted = self._submitted(message, self._principal)
        key = submitted.key
        if self._principal.role != "player":
            self._refused(key, "forbidden", {"message": f"The role {self._principal.role} commands nothing."})
            return
        if key in self._waiting:
            return  # It was asked again before it was answered: one answer does for both.
        if len(self._waiting) >= COMMANDS_MAX:
            self._error("rate_limited", "Too many of your commands wait to be decided.", key)
            return
        waiting = Waiting(
            submitted, lambda receipt: self._receipt(key, receipt), lambda code: self._not_taken(key, code)
        )
        self._waiting[key] = waiting
        self._service.commands.put(waiting)

    def _submitted(self, message: Message, sender: Principal) -> Submitted:
        for name in message:
            if name not in ("id", "command", "if_version"):
                raise Malformed(name, "Unknown field.")
        key, version = message.get("id"), message.get("if_version")
        if not isinstance(key, str) or _KEY.fullmatch(key) is None:
            raise Malformed("id", "Must be 1 to 64 of A-Z a-z 0-9 _ -.")
        if version is not None and (type(version) is not int or version < 0):
            raise Malformed("if_version", "Must be a version: a whole number from 0.")
        command = message["command"]
        if not isinstance(command, dict):
            raise Malformed("command", "Must be an object.")
        try:
            body = canonical_command(command)
        except Malformed as error:
            raise Malformed(f"command.{error.field}" if error.field else "command", error.message) from None
        return Submitted(self._asked.table, sender.id, sender.name, key, body, version)

    def _receipt(self, key: str, receipt: Receipt) -> None:
        status = receipt["s"]
        answer: Message = {"id": key, "status": status}
        if status != "queued":
            self._waiting.pop(key, None)
        if status == "applied":
            answer["version"] = receipt["v"]
        elif status == "refused":
            answer["code"] = receipt["c"]
            if receipt.get("d"):
                answer["detail"] = receipt["d"]
        self.connection.send(document({"receipt": answer}))

    def _refused(self, key: str, code: str, detail: dict[str, str] | None = None) -> None:
        receipt = {"id": key, "status": "refused", "code": code}
        self.connection.send(document({"receipt": receipt | ({"detail": detail} if detail else {})}))

    def _not_taken(self, key: str, code: str) -> None:
        self._waiting.pop(key, None)
        if code in RETRY:
            self._error(code, None, key)
        else:
            self._refused(key, code)

    def _malformed(self, field: str, said: str, message: Message | None = None) -> None:
        """A command that can be named is refused by its name; anything else is an error of the connection."""
        key = (message or {}).get("id")
        if isinstance(key, str) and _KEY.fullmatch(key) is not None:
            self._refused(key, "malformed", {"field": field or "message", "message": said})
        else:
            self.connection.send(
                document({"error": {"code": "malformed", "field": field or "message", "detail": said}})
            )

    def _error(self, code: str, detail: str | None, key: str | None = None) -> None:
        """Something else than the outcome of a command; `key` names the command that may be sent again."""
        error = {"id": key} if key else {}
        error |= {"code": code, "detail": detail or kind(code).title}
        self.connection.send(document({"error": error}))

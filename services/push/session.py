"""A table's WebSocket (contract §3a): commands in, receipts and versions out, on one connection."""

from typing import Any

import gevent
from gevent.queue import Empty, Full, Queue
from websockets.frames import CloseCode, Frame, Opcode

from schemas.problems import kind
from services.intake import Submitted
from services.push.access import Asked, Refused, bear, existing, knows_code, principal_of, signs
from services.push.commands import Receipt, Waiting
from services.push.connection import Connection
from services.push.frames import Broken, Frames
from services.push.live import Subscriber
from services.push.messages import Transport, closing, document, frame
from services.push.said import Command, NotUnderstood, Resume, Said, Sign, Token, read
from services.push.service import Service
from services.receipts import statement, told
from services.store.wire import StoreUnavailable
from services.tokens import Principal

MESSAGE_BYTES_MAX = 16_384
TOKEN_SECONDS_MAX = 10.0
FIRST_SECONDS_MAX = 1.0  # So long versions are put aside for a client who may say from where to resume.
EARLY_MESSAGES_MAX = 16
COMMANDS_MAX = 16  # of one socket that wait for their receipts
RETRY = ("unavailable", "rate_limited")  # Not outcomes: the same message may be sent again.


class Session:
    """One socket. `principal` is None until the first message has brought a token."""

    def __init__(
        self, service: Service, asked: Asked, transport: Transport, fd: int, principal: Principal | None
    ) -> None:
        self.transport = transport
        self._service = service
        self._asked = asked
        self._principal = principal
        self._signs = signs(asked)
        self._frames = Frames(MESSAGE_BYTES_MAX)
        self._early: Queue[Said | None] | None = Queue(EARLY_MESSAGES_MAX)
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
            said = self._next(TOKEN_SECONDS_MAX)
            self._principal = principal_of(self._service.ring, said.text if isinstance(said, Token) else None)

    def _enter(self) -> Subscriber:
        """Become a subscriber that holds, at the version of now."""
        assert self._principal is not None
        current = existing(self._service.reads, self._asked.table)
        allowed = knows_code(current, self._principal, self._asked.code)
        bear(self._service.pressure, current, self._principal, self._asked.table)
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
            gevent.spawn(self._service.catch_up, subscriber, subscriber.begin())
        early, self._early = self._early, None
        while early is not None and not early.empty():
            self._handle(early.get_nowait() or Sign())

    def _next(self, seconds: float) -> Said | None:
        assert self._early is not None
        try:
            said: Said | None = self._early.get(timeout=seconds)
        except Empty:
            return None
        return said

    # What the event loop calls: nothing below waits.

    def _on_data(self, data: bytes) -> None:
        try:
            for kind, payload in self._frames.read(data):
                if kind is Opcode.TEXT:
                    self._text(payload)
                elif kind is Opcode.BINARY:
                    self._not_understood(NotUnderstood("", "Send text, not bytes."))
                elif kind is Opcode.PING:
                    self.connection.send(Frame(Opcode.PONG, payload).serialize(mask=False))
                elif kind is Opcode.CLOSE:
                    self.connection.finish(Frame(Opcode.CLOSE, payload[:2]).serialize(mask=False))
        except Broken as error:
            self.connection.finish(closing(error.code, error.reason))

    def _on_gone(self) -> None:
        if self._early is not None and not self._early.full():
            self._early.put_nowait(None)  # Nobody needs to wait for his first message any more.
        self._service.pulse.remove(self)
        if self._subscriber is not None:
            self._service.live.leave(self._subscriber)
        for waiting in self._waiting.values():
            waiting.forget()
        self._waiting.clear()

    def _text(self, text: bytes) -> None:
        try:
            said = read(text)
        except NotUnderstood as error:
            self._not_understood(error)
            return
        if self._early is None:
            self._handle(said)
        else:
            try:
                self._early.put_nowait(said)
            except Full:
                self.connection.finish(closing(CloseCode.POLICY_VIOLATION, "too many messages before the first answer"))

    def _handle(self, said: Said) -> None:
        match said:
            case Command():
                self._command(said)
            case Resume(version):
                self._resume(version)
            case Token() | Sign():
                pass  # It is known who this is, and that it lives.

    def _resume(self, version: int) -> None:
        subscriber = self._subscriber
        assert subscriber is not None
        turn = subscriber.resume(version)
        if turn is not None:
            gevent.spawn(self._service.catch_up, subscriber, turn)

    def _command(self, command: Command) -> None:
        sender = self._principal
        assert sender is not None
        key = command.key
        submitted = Submitted(self._asked.table, sender.id, sender.name, key, command.body, command.if_version)
        if sender.role != "player":
            self._refused(key, "forbidden", {"message": f"The role {sender.role} commands nothing."})
        elif key in self._waiting:
            if self._waiting[key].submitted != submitted:
                self._refused(key, "idempotency_key_reused")
            # Else it was asked again before it was answered: one answer does for both.
        elif len(self._waiting) >= COMMANDS_MAX:
            self._error("rate_limited", "Too many of your commands wait to be decided.", key)
        else:
            self._waiting[key] = self._service.commands.put(submitted, self)

    # What becomes of commands.

    def answered(self, key: str, receipt: Receipt) -> None:
        """The receipt of a command."""
        if receipt["s"] != "queued":
            self._waiting.pop(key, None)
        if self._signs:
            said = {"id": key, **told(receipt), "signed": self._signed(key, receipt)}
            self.connection.send(document({"receipt": said}))
        elif receipt["s"] == "applied" and "h" in receipt:
            text = b'{"receipt":{"id":"%b","status":"applied","version":%d,"hash":"%b"}}'
            self.connection.send(frame(text % (key.encode(), receipt["v"], receipt["h"].encode())))
        else:
            self.connection.send(document({"receipt": {"id": key, **told(receipt)}}))

    def _signed(self, key: str, receipt: Receipt) -> str:
        assert self._principal is not None
        return statement(self._service.signer, self._asked.table, self._principal.id, key, receipt)

    def not_taken(self, key: str, code: str) -> None:
        """A command was not taken in."""
        self._waiting.pop(key, None)
        if code in RETRY:
            self._error(code, None, key)
        else:
            self._refused(key, code)

    def _refused(self, key: str, code: str, detail: dict[str, Any] | None = None) -> None:
        receipt = {"id": key, "status": "refused", "code": code}
        self.connection.send(document({"receipt": receipt | ({"detail": detail} if detail else {})}))

    def _not_understood(self, error: NotUnderstood) -> None:
        """A command that can be named is refused by its name; anything else is an error of the connection."""
        if error.key is not None:
            self._refused(error.key, "malformed", {"field": error.field, "message": error.message})
        else:
            wrong = {"code": "malformed", "field": error.field, "detail": error.message}
            self.connection.send(document({"error": wrong}))

    def _error(self, code: str, detail: str | None, key: str | None = None) -> None:
        """Something else than the outcome of a command; `key` names the command that may be sent again."""
        error = {"id": key} if key else {}
        error |= {"code": code, "detail": detail or kind(code).title}
        self.connection.send(document({"error": error}))

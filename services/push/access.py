"""Who may follow which table, and from where: judged before a connection becomes a stream or a socket."""

import hmac
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from schemas.problems import problem
from services.pressure import Pressure, Wish
from services.push.messages import Shows, Transport
from services.push.reads import Reads
from services.store import views
from services.store.keys import is_table_id
from services.store.views import Current
from services.tokens import KeyRing, Principal, TokenRefused

VERSION_DIGITS_MAX = 15
NAME_CHARACTERS_MAX = 64
SCHEME = "bearer "

Environ = Mapping[str, Any]


class Refused(Exception):
    """A request that is answered by the problem document of `code`."""

    def __init__(self, code: str, detail: str | None = None, *, errors: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.document = problem(code, detail, errors=errors)


class Asked(NamedTuple):
    """A request for a table: the parts of it that matter here."""

    table: str
    query: dict[str, str]
    environ: Environ

    @classmethod
    def of(cls, table: str, environ: Environ, names: Collection[str]) -> "Asked":
        """Read the query, in which only `names` mean something. Raises Refused `malformed`."""
        query: dict[str, str] = {}
        for name, value in parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True):
            if name in query or name not in names:
                raise Refused("malformed", errors={name[:NAME_CHARACTERS_MAX]: [
                    "Given twice." if name in query else "Unknown field."
                ]})
            query[name] = value
        return cls(table, query, environ)

    @property
    def code(self) -> str:
        """The join code of a private table, or ""."""
        return self.query.get("code", "")

    @property
    def bearer(self) -> str | None:
        """The token of the header Authorization."""
        header: str = self.environ.get("HTTP_AUTHORIZATION", "")
        return header[len(SCHEME) :].strip() if header[: len(SCHEME)].lower() == SCHEME else None

    def transport(self, choices: Mapping[str, Transport], usual: Shows) -> Transport:
        """What `?views=` asks for. Raises Refused `malformed`."""
        found = choices.get(self.query.get("views", usual.value))
        if found is None:
            raise Refused("malformed", errors={"views": [f"Must be one of {', '.join(choices)}."]})
        return found

    def version(self, name: str, text: str) -> int:
        """`text`, which the caller calls `name`, as a version. Raises Refused `malformed`."""
        if not text.isascii() or not text.isdigit() or len(text) > VERSION_DIGITS_MAX:
            raise Refused("malformed", errors={name: ["Must be a version: a whole number from 0."]})
        return int(text)


def principal_of(ring: KeyRing, token: str | None) -> Principal:
    """Who holds `token`. Raises Refused `unauthenticated`, and `forbidden` for operators, who never see a card."""
    if token is None:
        raise Refused("unauthenticated")
    try:
        principal = ring.verify(token)
    except TokenRefused as error:
        raise Refused("unauthenticated", str(error)) from None
    if principal.role == "operator":
        raise Refused("forbidden", "The role operator reads operations, never cards.")
    return principal


def signs(asked: Asked) -> bool:
    """Are receipts to be signed, as `?receipts=signed` asks? Raises Refused `malformed`."""
    wanted = asked.query.get("receipts", "plain")
    if wanted not in ("plain", "signed"):
        raise Refused("malformed", errors={"receipts": ["Must be one of plain, signed."]})
    return wanted == "signed"


def existing(reads: Reads, table: str) -> Current:
    """The table as it stands. Raises Refused `not_found`."""
    current = reads.current(table) if is_table_id(table) else None
    if current is None:
        raise Refused("not_found", "There is no such table.")
    return current


def knows_code(current: Current, principal: Principal, code: str) -> bool:
    """May `principal` watch even without a seat? Raises Refused `code_wrong` if it has none and may not."""
    allowed = not current.code or principal.role == "auditor" or _same(code, current.code)
    if not allowed and views.seat_in(current, principal.id) is None:
        raise Refused("code_wrong", "Only who sits at a private table, or knows its code, may watch it.")
    return allowed


def bear(pressure: Pressure, current: Current, principal: Principal, table: str) -> None:
    """Watching is the first thing that a busy partition gives up. Raises Refused `rate_limited`."""
    if views.seat_in(current, principal.id) is None and pressure.sheds(table, Wish.WATCH):
        raise Refused("rate_limited", "The table is too busy for spectators now.")


def _same(given: str, code: str) -> bool:
    return hmac.compare_digest(given.encode(), code.encode())
